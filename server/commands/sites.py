"""`python -m server sites`: what this server answers for, and when it is read again."""

import argparse
import json
import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from server.backup.files import write_file
from server.backup.one_site import open_site, write_site
from server.commands.operators import SHELL
from server.domain.site import OFF, PERIODS, next_time
from server.errors import StartError
from server.jobs.source_intake import source_folders
from server.runtime.renewal import bring_site_in
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.version import version

HELP = "list the sites with their size and last crawl; set when a site is crawled; move a site; remove a site"


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
    export = actions.add_parser("export", help="write one site into a file, for another installation")
    export.add_argument("site", help="id of the site")
    export.add_argument("file", type=Path, help="the zip archive to write")
    export.add_argument("--conversations", action="store_true", help="with what visitors asked and wrote")
    bring = actions.add_parser("import", help="add the site of such a file")
    bring.add_argument("file", type=Path, help="a zip archive that `sites export` made")
    bring.add_argument("--check", action="store_true", help="only read it, and change nothing")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints one line a site, or changes one. Raises UnknownSite, StartError, StorageError."""
    with closing(open_runtime(settings)) as runtime:
        if options.action == "schedule":
            return _schedule(runtime, options.site, options.every)
        if options.action == "remove":
            return _remove(runtime, options.site, sure=options.yes)
        if options.action == "export":
            return _export(runtime, options.site, options.file, with_conversations=options.conversations)
        if options.action == "import":
            return _import(runtime, options.file, only_check=options.check)
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


def _export(runtime: Runtime, site_id: str, file: Path, *, with_conversations: bool) -> int:
    manifest = write_file(
        file,
        lambda out: write_site(
            runtime.database, out, version(), site_id, with_conversations=with_conversations
        ),
    )
    runtime.people.audit.add(SHELL, "exported the site", site_id, {"holds": manifest.summary})
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB with {manifest.counts}")
    return 0


def _import(runtime: Runtime, file: Path, *, only_check: bool) -> int:
    """Checks all of it before it touches anything."""
    if not file.is_file():
        raise StartError(f"there is no file {file}")
    folder = runtime.configuration.folder.path
    with open_site(file, source_folders(runtime.settings)) as exported:
        made = exported.manifest
        print(f"{file}: {made.site}, made {made.made_at} by Docent {made.version}: {made.counts}")
        if only_check:
            exported.check(shutil.disk_usage(folder).free)
            print("It is whole, and fits this version.")
            return 0
        site_id = bring_site_in(runtime.database, folder, exported, runtime.crawling.start)
    runtime.people.audit.add(SHELL, "imported the site", site_id, {"made_at": made.made_at})
    print(f"{site_id} is here. It is read again as soon as the server runs, for its vectors.")
    print(
        "Make a new secret for its webhook of messages, and enter headers of its crawl again, if it had any."
    )
    return 0


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
