"""One page, read again as a crawl would read it: the same rules, the same visit, the same cleaning."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from crawler.addresses import AddressGuard
from crawler.crawl import crawl
from crawler.fetcher import Validators
from crawler.options import CrawlOptions, start_address
from crawler.report import UrlOutcome, UrlState
from crawler.scope import Scope

MOST_OUTCOMES = 20
"""The page, and those that it redirects to one after the other or calls its original."""


def read_page(
    options: CrawlOptions,
    url: str,
    known: Validators,
    *,
    template: str = "",
    stop: threading.Event | None = None,
    guard: AddressGuard | None = None,
) -> list[UrlOutcome]:
    """How `url` ended, and where it leads, the page that this ends at too. `options` are those of the site;
    `template` is what the last crawl learned of it. No link is followed. Raises BadStart."""
    target = start_address(url)
    scope = Scope(options)
    if not scope.same_site(target):
        return [UrlOutcome(target, UrlState.EXCLUDED, "it is on another host than the site")]
    if objection := scope.objection(target):
        return [UrlOutcome(target, *objection)]
    chosen = replace(
        options,
        start_urls=(target,),
        max_depth=0,
        max_pages=MOST_OUTCOMES,
        processes=0,
        use_sitemaps=False,
        max_feeds=0,
    )
    found = crawl(chosen, {target: known}, stop, guard=guard, template=template)
    with closing(found) as outcomes:
        return list(_on_the_way({outcome.url: outcome for outcome in outcomes}, target))


def _on_the_way(outcomes: dict[str, UrlOutcome], url: str) -> Iterator[UrlOutcome]:
    """From the page on, each address once; what lies beyond its links is left out."""
    while url in outcomes:
        outcome = outcomes.pop(url)
        yield outcome
        url = outcome.target
