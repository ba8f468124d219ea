"""`python -m server sources`: what a site is made of in addition to its website."""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from server.errors import DocentError, StartError
from server.jobs.site_profile import site_of_sources
from server.jobs.source_intake import SourceIntake
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from server.storage.content.sources import Source

HELP = "list, add or remove the files, folders, addresses and answers of a site"


def arguments(parser: argparse.ArgumentParser) -> None:
    """list, add, remove."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="the sources of the site, with their state")
    listing.add_argument("site", help="id of the site")
    add = actions.add_parser("add", help="add files, a folder, addresses or answers (also to a new site)")
    add.add_argument("site", help="id of the site")
    add.add_argument(
        "paths", nargs="*", type=Path, metavar="FOLDER_OR_FILE", help="folders are read again each time"
    )
    add.add_argument(
        "--base", default="", metavar="URL", help="where visitors find the folder; else Docent serves it"
    )
    add.add_argument("--include", action="append", default=[], metavar="PATTERN", help='such as "/manual/*"')
    add.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help='such as "/drafts/*"')
    add.add_argument("--urls", type=Path, metavar="FILE", help="addresses, one a line; only these are read")
    add.add_argument(
        "--pairs", type=Path, metavar="FILE", help="questions and answers: text, CSV, JSON lines"
    )
    remove = actions.add_parser("remove", help="remove sources; their pages leave the index")
    remove.add_argument("site", help="id of the site")
    remove.add_argument("ids", nargs="+", metavar="ID", help="as `sources list` shows it")
    for changing in (add, remove):
        changing.add_argument("--now", action="store_true", help="refresh the site in this process")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """0 when it is done; a change queues a refresh of the site."""
    with closing(open_runtime(settings)) as runtime:
        if options.action == "list":
            return _list(runtime, runtime.stores.sites.get(options.site).id)
        if options.action == "add":
            _add(runtime, options)
        else:
            for id in options.ids:
                runtime.stores.sources.remove(options.site, id)
                print(f"removed {id}")
        return _refresh(runtime, options.site, now=options.now)


def _list(runtime: Runtime, site_id: str) -> int:
    counts = runtime.stores.sources.counts(site_id)
    sources = runtime.stores.sources.all(site_id)
    if not sources:
        print(f"{site_id} has no sources. Add one: python -m server sources add {site_id} FOLDER_OR_FILE")
    for source in sources:
        print(f"{source.id}\t{source.kind}\t{source.name}\t{_state(source, counts.get(source.id, {}))}")
    return 0


def _state(source: Source, counts: dict[str, int]) -> str:
    if source.read_at is None:
        return "not read yet"
    parts = ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in sorted(counts.items()))
    return f"{parts or 'nothing in it'}{'; ' + source.message if source.message else ''}"


def _add(runtime: Runtime, options: argparse.Namespace) -> None:
    if not (options.paths or options.urls or options.pairs):
        raise StartError("say what to add: FOLDER_OR_FILE, --urls FILE or --pairs FILE")
    missing = [path for path in options.paths if not path.exists()]
    if missing:
        raise StartError(f"there is no file or folder {missing[0]}")
    is_new = runtime.stores.sites.find(options.site) is None
    if is_new:
        runtime.stores.sites.create(site_of_sources(options.site, runtime.settings))
    try:
        added = _added(runtime.crawling.source_intake, options)
    except DocentError:
        if is_new:
            runtime.stores.sites.delete(options.site)
        raise
    for source in added:
        print(f"{source.id}\t{source.kind}\t{source.name}")


def _added(intake: SourceIntake, options: argparse.Namespace) -> list[Source]:
    added = []
    for folder in (path for path in options.paths if path.is_dir()):
        given = {"include": options.include, "exclude": options.exclude, "base": options.base}
        added.append(intake.add_folder(options.site, folder, **given))
    files = [(path.name, _bytes(path)) for path in options.paths if not path.is_dir()]
    added += intake.add_files(options.site, files)
    if options.urls:
        added.append(intake.add_addresses(options.site, options.urls.name, _text(options.urls)))
    if options.pairs:
        added.append(intake.add_pairs(options.site, options.pairs.name, _text(options.pairs)))
    return added


def _refresh(runtime: Runtime, site_id: str, *, now: bool) -> int:
    if not now:
        runtime.crawling.start(site_id)
        print(f"{site_id} will be read by the job worker; --now reads it in this process.")
        return 0
    runtime.crawling.refresh(site_id, runtime.stores.crawls.wait(site_id))
    run = runtime.stores.crawls.latest(site_id)
    if run is None or run.state != "done":
        print(f"docent: {run.message if run else 'the site was removed'}", file=sys.stderr)
        return 1
    print(run.message)
    return 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StartError(f"{path} cannot be read ({error.strerror or error})") from error


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace")
