"""`python -m server crawl URL`: reads a site and indexes it, in this process."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial

from server.commands import INTERRUPTED, first_ctrl_c
from server.domain.site import Site
from server.guards.network import with_hosts_of
from server.jobs.crawl_watch import Interrupt
from server.jobs.site_profile import site_from_address, with_address
from server.runtime.configuration import LiveSettings
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.crawls.runs import DONE, PAUSED, RUNNING, STOPPED, CrawlRun
from server.storage.sites.secrets import has_crawl_headers, with_start_urls

HELP = "crawl a site and index it (adds a new site), or continue its crawl"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The address, and under which id."""
    parser.add_argument(
        "url", help="address where the crawl starts, such as https://example.com/help/, or id of a known site"
    )
    parser.add_argument("--site", default="", help="id of the site; default: made from the address")
    parser.add_argument(
        "--allow-private",
        action="store_true",
        help="add the site's hosts to PRIVATE_HOSTS, for a site on this machine or in a private network",
    )
    parser.add_argument(
        "--anew",
        action="store_true",
        help="start a new crawl instead of continuing a paused or interrupted one",
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when the site's new index is live; 1 with the reason when it is not; 130 when it was paused."""
    with closing(open_runtime(settings)) as runtime:
        site_id, moved = _site(runtime, options)
        crawl_id = _crawl_id(runtime, site_id, anew=options.anew or moved)
        return _crawl(runtime, site_id, crawl_id)


def _site(runtime: Runtime, options: argparse.Namespace) -> tuple[str, bool]:
    """The id of the site to crawl, and whether it begins at another address than before."""
    sites, moved = runtime.stores.sites, False
    known = sites.find(options.url)
    if known is None:
        wanted = site_from_address(options.url, runtime.settings, site_id=options.site)
        known = sites.find(wanted.id) or sites.create(wanted)
        address = wanted.start_urls[0]
        if moved := address not in known.start_urls:
            had_headers = has_crawl_headers(known)
            known = sites.change(known.id, lambda site: _starting_at(site, address))
            print(f"{known.id} starts at {' and '.join(known.start_urls)} from now on.", file=sys.stderr)
            if had_headers and not has_crawl_headers(known):
                print(_HEADERS_GONE.format(known.id), file=sys.stderr)
    if options.allow_private:
        _permit(runtime.configuration.live, known.start_urls)
    return known.id, moved


def _starting_at(site: Site, address: str) -> Site:
    """An address that never led to a page is replaced; what visitors are answered from stays."""
    if not site.generation:
        return with_address(site, address)
    return with_start_urls(site, (*site.start_urls, address))


def _permit(live: LiveSettings, addresses: Sequence[str]) -> None:
    """Add the hosts and ports of these addresses to the owner's list of private hosts."""
    settings = live.refresh()
    if (hosts := with_hosts_of(settings, addresses)) != ",".join(settings.serving.private_host_texts):
        live.change({"private_hosts": hosts}, "the shell")


def _crawl_id(runtime: Runtime, site_id: str, *, anew: bool) -> int:
    """The crawl to run: one that was paused or cut off, unless a new one is wanted."""
    if anew:
        runtime.crawling.control.give_up(site_id)
    last = runtime.stores.crawls.latest(site_id)
    if last is not None and last.state == PAUSED:
        runtime.stores.crawls.release(last, wanted="")
    if last is not None and last.is_open:
        if last.beat_at is not None:
            print(f"Going on with crawl {last.id}: {_so_far(last)}.", file=sys.stderr)
        return last.id
    return runtime.stores.crawls.wait(site_id)


def _so_far(run: CrawlRun) -> str:
    waiting = run.counts.get("waiting", 0)
    return f"{sum(run.counts.values()) - waiting} addresses are done, {waiting} wait"


def _crawl(runtime: Runtime, site_id: str, crawl_id: int) -> int:
    started = datetime.now(UTC)
    interrupt = Interrupt(pauses=True)
    try:
        with first_ctrl_c(partial(_pause, interrupt)):
            has_run = runtime.crawling.refresh(site_id, crawl_id, on_progress=_show, interrupt=interrupt)
    except KeyboardInterrupt:
        print(f"\nCut off. {_GO_ON.format(site_id)}", file=sys.stderr)
        raise
    ended = runtime.stores.crawls.get(crawl_id)
    if not has_run:
        who = "another process" if ended.state == RUNNING else "the job worker"
        print(f"docent: {who} crawls {site_id} already: python -m server crawls list", file=sys.stderr)
        return 1
    print(file=sys.stderr)
    if ended.state not in (DONE, STOPPED):
        return _not_done(ended)
    pages, chunks = runtime.stores.content(site_id).counts()
    # After that, the site is only asked its own questions.
    spent = ((ended.finished_at or datetime.now(UTC)) - started).total_seconds()
    print(f"{site_id}: {pages} pages, {chunks} sections live after {spent:.1f} s. {ended.message}")
    print(f'Ask it: python -m server ask --site {site_id} "..."')
    return 0


def _not_done(run: CrawlRun) -> int:
    if run.state == PAUSED:
        print(f"Paused: {_so_far(run)}. {_GO_ON.format(run.site_id)}", file=sys.stderr)
        return INTERRUPTED
    print(f"docent: {run.message or f'the crawl is {run.state}'}", file=sys.stderr)
    return 1


_HEADERS_GONE = (
    "Its headers were entered for another address and are removed. Enter them again: "
    "python -m server scope {} --header 'NAME: VALUE'"
)
_GO_ON = "Nothing is lost. To go on: python -m server crawl {}"


def _pause(interrupt: Interrupt) -> None:
    interrupt.event.set()
    print("\nPausing; Ctrl-C again ends it at once.", file=sys.stderr, flush=True)


def _show(found: int, fetched: int, indexed: int) -> None:
    print(f"\r{found} pages found, {fetched} fetched, {indexed} indexed", end="", file=sys.stderr, flush=True)
