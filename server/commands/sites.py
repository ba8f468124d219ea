"""`python -m server sites`: what this server answers for, and when it is read again."""

import argparse
import json
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from server.domain.site import OFF, PERIODS, next_time
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings

HELP = "list the sites with their size and last crawl; set when a site is crawled; remove a site"


def arguments(parser: argparse.ArgumentParser) -> None:
    """`--json` for machines."""
    parser.add_argument("--json", action="store_true", help="one JSON array")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    schedule = actions.add_parser("schedule", help="crawl a site regularly")
    schedule.add_argument("site", help="id of the site")
    schedule.add_argument("every", choices=[*PERIODS, OFF], help="how often")
    remove = actions.add_parser("remove", help="remove a site with everything that belongs to it")
    remove.add_argument("site", help="id of the site")
    remove.add_argument("--yes", action="store_true", help="without this it only says what would go")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints one line a site, or changes one. Raises UnknownSite."""
    with closing(open_runtime(settings)) as runtime:
        if options.action == "schedule":
            return _schedule(runtime, options.site, options.every)
        if options.action == "remove":
            return _remove(runtime, options.site, sure=options.yes)
        rows = [_row(runtime, site.id) for site in runtime.stores.sites.all()]
        if options.json:
            print(json.dumps(rows, ensure_ascii=False, indent=2))
        elif not rows:
            print("No site yet. Add one: python -m server crawl https://example.com")
        else:
            for row in rows:
                print(
                    f"{row['id']}\t{', '.join(row['start_urls']) or 'sources alone'}"
                    f"\t{row['pages']} pages, {row['chunks']} chunks"
                    f"\tlast crawl: {row['last_crawl'] or 'none'}"
                    f"\tstrategy: {row['strategy']}, flow: {row['flow']}"
                    f"\tcrawled: {row['schedule'] or 'on demand'}"
                )
    return 0


def _remove(runtime: Runtime, site_id: str, *, sure: bool) -> int:
    """In this process: it needs no worker, and a running one finds nothing left to do."""
    site = runtime.stores.sites.get(site_id)
    pages, chunks = runtime.stores.content(site_id).counts()
    if sure:
        runtime.crawling.remove_site_now(site_id)
        print(f"{site.name} is removed with {pages} pages and {chunks} chunks.")
    else:
        print(
            f"{site.name} has {pages} pages and {chunks} chunks. They, its conversations and its settings "
            "would be removed for good. If you mean it, say so with --yes."
        )
    return 0 if sure else 1


def _schedule(runtime: Runtime, site_id: str, every: str) -> int:
    runtime.stores.sites.get(site_id)
    if every == OFF:
        runtime.stores.schedules.clear(site_id)
        print(f"{site_id} is crawled on demand only.")
    else:
        next_at = next_time(every, datetime.now(UTC))
        runtime.stores.schedules.set(site_id, every, next_at)
        at = next_at.isoformat(timespec="minutes")
        print(f"{site_id} is crawled {every}, next at {at}, while the server or a job worker runs.")
    return 0


def _row(runtime: Runtime, site_id: str) -> dict[str, Any]:
    site = runtime.stores.sites.get(site_id)
    pages, chunks = runtime.stores.content(site_id).counts()
    latest = runtime.stores.crawls.latest(site_id)
    schedule = runtime.stores.schedules.get(site_id)
    return {
        "id": site.id,
        "name": site.name,
        "title": site.title,
        "start_urls": list(site.start_urls),
        "language": site.language,
        "strategy": site.strategy,
        "flow": site.flow,
        "generation": runtime.stores.content(site_id).live_generation(),
        "pages": pages,
        "chunks": chunks,
        "last_crawl": latest.state if latest else "",
        "schedule": schedule.every if schedule else "",
        "next_crawl": schedule.next_at.isoformat(timespec="seconds") if schedule else "",
    }
