"""`python -m server sites`: what this server answers for."""

from __future__ import annotations

import argparse
import json
from typing import Any

from server.services import Services
from server.settings import Settings

HELP = "list the sites with their pages, chunks and last crawl"


def arguments(parser: argparse.ArgumentParser) -> None:
    """`--json` for machines."""
    parser.add_argument("--json", action="store_true", help="one JSON array")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints one line a site."""
    services = Services(settings)
    rows = [_row(services, site.id) for site in services.sites.all()]
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif not rows:
        print("No site yet. Add one: python -m server crawl https://example.com")
    else:
        for row in rows:
            print(
                f"{row['id']}\t{row['start_urls'][0]}\t{row['pages']} pages, {row['chunks']} chunks"
                f"\tlast crawl: {row['last_crawl'] or 'none'}\tstrategy: {row['strategy']}"
            )
    services.close()
    return 0


def _row(services: Services, site_id: str) -> dict[str, Any]:
    site = services.sites.get(site_id)
    pages, chunks = services.content(site_id).counts()
    latest = services.crawls.latest(site_id)
    return {
        "id": site.id,
        "name": site.name,
        "title": site.title,
        "start_urls": list(site.start_urls),
        "language": site.language,
        "strategy": site.strategy,
        "generation": services.content(site_id).live_generation(),
        "pages": pages,
        "chunks": chunks,
        "last_crawl": latest.state if latest else "",
    }
