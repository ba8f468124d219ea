"""`python -m server scope SITE`: which part of a site is read, and what becomes of one address."""

import argparse
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from server.jobs.crawl_options import SiteScope, explain_url, save_scope, scope_of, stored_headers
from server.runtime.runtime import open_runtime
from server.settings import Settings

HELP = "show or choose which part of a site is read, and explain what a crawl does with an address"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options replace what was chosen before; those not given stay."""
    add = parser.add_argument
    add("site", help="id of the site")
    add("--path", metavar="PREFIX", help='only addresses whose path starts like this, such as "/docs/"')
    add("--include", action="append", metavar="PATTERN", help='only these, such as "/docs/*"; repeatable')
    add("--exclude", action="append", metavar="PATTERN", help="not these; repeatable")
    add(
        "--subdomains",
        action=argparse.BooleanOptionalAction,
        help="subdomains of the site's hosts belong to it too",
    )
    add(
        "--own",
        dest="own_site",
        action=argparse.BooleanOptionalAction,
        help="the site is your own: its AI preferences are not applied",
    )
    add("--render", choices=["never", "auto", "always"], help="open pages in a browser")
    add(
        "--header",
        action="append",
        metavar="'NAME: VALUE'",
        help="header for the site's own hosts; repeatable",
    )
    add("--clear", action="store_true", help="remove all rules: the whole site is read")
    add("--explain", metavar="URL", help="say what a crawl would do with this address, and why")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Prints the scope. Raises UnknownSite, and BadStart for a pattern that cannot work."""
    with closing(open_runtime(settings)) as runtime:
        site, current = runtime.stores.sites.get(options.site), runtime.settings
        before = scope_of(site)
        wanted = _changed(
            SiteScope(own_site=before.own_site, headers=()) if options.clear else before, options
        )
        if wanted != before:
            site = save_scope(runtime.stores.sites, current, site.id, wanted)
        if options.explain:
            for finding in explain_url(site, current, options.explain):
                print(f"{finding.step:>10}  {finding.text}")
            return 0
        _print(wanted, stored_headers(site, current))
        if wanted != before:
            print(f"Holds from the next crawl on: python -m server crawl {site.start_urls[0]}")
    return 0


def _changed(scope: SiteScope, options: argparse.Namespace) -> SiteScope:
    chosen = {
        "path": options.path,
        "include": tuple(options.include) if options.include else None,
        "exclude": tuple(options.exclude) if options.exclude else None,
        "subdomains": options.subdomains,
        "own_site": options.own_site,
        "render": options.render,
        "headers": tuple(options.header) if options.header else None,
    }
    return replace(scope, **{name: value for name, value in chosen.items() if value is not None})


def _print(scope: SiteScope, headers: Sequence[str]) -> None:
    print(f"path:       {scope.path or 'all'}")
    print(f"include:    {', '.join(scope.include) or 'all'}")
    print(f"exclude:    {', '.join(scope.exclude) or 'none'}")
    print(f"subdomains: {'yes' if scope.subdomains else 'no'}")
    print(f"own site:   {'yes' if scope.own_site else 'no'}")
    print(f"render:     {scope.render or 'as CRAWL_RENDER says'}")
    print(f"headers:    {', '.join(line.partition(':')[0] for line in headers) or 'none'}")
