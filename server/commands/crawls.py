"""`python -m server crawls`: crawls are listed, paused, resumed and stopped, and looked into."""

import argparse
import sys
from contextlib import closing

from admin.crawls.crawl import csv_lines
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.crawls.runs import PAUSE, RUNNING, STOP, WAITING, CrawlRun
from server.storage.errors import UnknownRecord

HELP = "list, pause, resume and stop crawls, or list every address with its result"
CONTROLS = {
    "pause": "pause a crawl and keep everything",
    "resume": "continue a crawl that was paused or failed",
    "stop": "end a crawl; what it has read goes live",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and of which site."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the crawls of a site, or the newest crawl of every site")
    listing.add_argument("site", nargs="?", default="", help="id of the site")
    for name, meaning in CONTROLS.items():
        actions.add_parser(name, help=meaning).add_argument("site", help="id of the site")
    urls = actions.add_parser("urls", help="every address with its result")
    urls.add_argument("site", help="id of the site")
    urls.add_argument("--crawl", type=int, default=0, help="number of the crawl; the newest when left out")
    urls.add_argument("--state", default="", help="only addresses in this state, such as error")
    urls.add_argument("--search", default="", help="only addresses that contain this, or whose reason does")
    urls.add_argument("--csv", action="store_true", help="as CSV with every column")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when it is done or under way; raises WrongState, UnknownSite, UnknownRecord."""
    with closing(open_runtime(settings)) as runtime:
        if options.action == "list":
            return _list(runtime, options.site)
        runtime.stores.sites.get(options.site)
        if options.action == "urls":
            return _urls(runtime, options)
        return _control(runtime, options)


def _list(runtime: Runtime, site_id: str) -> int:
    if site_id:
        runs = runtime.stores.crawls.history(runtime.stores.sites.get(site_id).id)
    else:
        newest = (runtime.stores.crawls.latest(site.id) for site in runtime.stores.sites.all())
        runs = [run for run in newest if run is not None]
    for run in runs:
        print(_line(run))
    if not runs:
        print("No crawl yet. Begin one: python -m server crawl https://example.com")
    return 0


def _line(run: CrawlRun) -> str:
    state = f"{run.state}, {run.wanted} is wanted" if run.state == RUNNING and run.wanted else run.state
    parts = [
        run.site_id,
        f"crawl {run.id}",
        state,
        run.started_at.isoformat(timespec="seconds"),
        f"{run.found} found, {run.fetched} read, {run.indexed} indexed",
        run.message,
    ]
    return "\t".join(part for part in parts if part)


def _control(runtime: Runtime, options: argparse.Namespace) -> int:
    actions = {
        "pause": runtime.crawling.control.pause,
        "resume": runtime.crawling.control.resume,
        "stop": runtime.crawling.control.stop,
    }
    print(_answer(actions[options.action](options.site)))
    return 0


def _answer(run: CrawlRun) -> str:
    if run.state == RUNNING and run.wanted in (PAUSE, STOP):
        done = {PAUSE: "paused", STOP: "stopped"}[run.wanted]
        return f"The crawl of {run.site_id} is being {done}."
    if run.state == WAITING:
        what = "ends" if run.wanted == STOP else "goes on"
        return (
            f"The crawl of {run.site_id} {what} as soon as the job worker has time for it; without a running "
            f"server: python -m server crawl {run.site_id}"
        )
    return f"The crawl of {run.site_id} is {run.state}."


def _urls(runtime: Runtime, options: argparse.Namespace) -> int:
    latest = runtime.stores.crawls.latest(options.site)
    crawl_id = options.crawl or (latest.id if latest else 0)
    if not crawl_id:
        raise UnknownRecord(f"{options.site} was never crawled")
    if runtime.stores.crawls.get(crawl_id).site_id != options.site:
        raise UnknownRecord(f"crawl {crawl_id} is not one of {options.site}")
    rows = runtime.stores.crawls.addresses.every_url(crawl_id, options.state or None, options.search)
    if options.csv:
        for piece in csv_lines(rows):
            sys.stdout.write(piece)
    else:
        for row in rows:
            print("\t".join((row.state, str(row.status or "-"), row.url, row.reason)).rstrip())
    return 0
