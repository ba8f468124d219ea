"""`python -m server crawl URL`: reads a site and indexes it, in this process."""

from __future__ import annotations

import argparse
import sys
import time

from server.services import Services
from server.settings import Settings
from server.site_setup import site_from_address

HELP = "crawl a site and index it (adds the site when it is new)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The address, and under which id."""
    parser.add_argument("url", help="address where the crawl starts, such as https://example.com/help/")
    parser.add_argument("--site", default="", help="id of the site; made from the address when left out")
    parser.add_argument(
        "--allow-private",
        action="store_true",
        help="let this site's crawl use private and loopback addresses",
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when the site's new index is live; 1 with the reason when it is not."""
    wanted = site_from_address(
        options.url, settings, site_id=options.site, allow_private=options.allow_private
    )
    services = Services(settings)
    known = services.sites.find(wanted.id)
    if known is None:
        services.sites.create(wanted)
    elif options.allow_private and not known.allow_private:
        services.sites.update(known.with_private_allowed())
    crawl_id = services.crawls.start(wanted.id)
    started = time.monotonic()
    services.refresh(wanted.id, crawl_id, on_progress=_show)
    run_ = services.crawls.latest(wanted.id)
    pages, chunks = services.content(wanted.id).counts()
    services.close()
    print(file=sys.stderr)
    if run_ is None or run_.state != "done":
        print(f"docent: {run_.message if run_ else 'the crawl left no record'}", file=sys.stderr)
        return 1
    spent = time.monotonic() - started
    print(f"{wanted.id}: {pages} pages, {chunks} chunks live after {spent:.1f} s. {run_.message}")
    print(f'Ask it: python -m server ask --site {wanted.id} "..."')
    return 0


def _show(found: int, fetched: int, indexed: int) -> None:
    print(f"\r{found} pages found, {fetched} fetched, {indexed} indexed", end="", file=sys.stderr, flush=True)
