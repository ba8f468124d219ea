"""Pages that a crawl did not find where they were: moved, or gone."""

import logging
from collections.abc import Mapping

from crawler.report import HAS_PAGE, UrlState
from crawler.spilling import Spilling
from server.domain.addresses import absolute, stored
from server.domain.chunk import PageWords, joined_text
from server.indexing.indexer import Indexer
from server.jobs.page_edits import DecidedPages
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageMoves
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.crawls.runs import DECISION, CrawlRun, CrawlStore
from server.storage.database import Database

MISSING = frozenset({UrlState.GONE, UrlState.NOINDEX, UrlState.REDIRECTED, UrlState.DUPLICATE, UrlState.EMPTY,
                     UrlState.EXCLUDED, UrlState.DISALLOWED, UrlState.UNSUPPORTED})  # fmt: skip
"""States of an address that is no page of the site any more; an error or a limit says nothing."""
MOST_REDIRECTS = 10


def remove_missing_pages(
    run: CrawlRun,
    crawls: CrawlStore,
    indexer: Indexer,
    leads_to: Mapping[str, str],
    moves: PageMoves,
    decided: DecidedPages,
) -> None:
    """Removes pages that moved, and counts those that are missing; twice is once.

    A page moved when its address leads (`leads_to`) to one that this crawl read as a page, or when it is
    gone and its content has appeared at a new address. What operators decided about it goes with it.
    """
    read: Spilling[bool] = Spilling()
    appeared: Spilling[str] = Spilling()
    for url, _, _ in crawls.addresses.ends(run.id, HAS_PAGE):
        read[url] = True
        page = indexer.known.get(url)
        if page is not None and (page.first_seen_at is None or page.first_seen_at >= run.started_at):
            appeared[page.content_hash] = url
    own_hashes = decided.decisions.site_hashes()
    for url, state, _ in crawls.addresses.ends(run.id, MISSING):
        page = indexer.known.get(url)
        if page is None or page.source:
            continue
        target = _final_target(url, leads_to)
        if state == UrlState.GONE:
            target = appeared.get(own_hashes.get(url, page.content_hash), "")
        if target and target != url and target in read and target in indexer.known:
            moves.record(url, target)
            indexer.remove(url)
            if decided.decisions.move(url, target):
                crawls.wait(run.site_id, DECISION, target)
        else:
            indexer.missing(url, run.id)


def _final_target(url: str, leads_to: Mapping[str, str]) -> str:
    target = ""
    for _ in range(MOST_REDIRECTS):
        if url not in leads_to:
            return target
        url = target = leads_to[url]
    return ""


log = logging.getLogger(__name__)

MOST_QUOTES = 200
"""The most quotes of one page that are checked: the newest different ones."""


def check_quotes(database: Database, site_id: str, base: str) -> int:
    """Looks for the quotes of every page whose text has changed since they were last looked for; returns the
    number of such pages. `base` is where visitors reach Docent."""
    cited, noted = CitedPages(database, site_id), PageQuotes(database, site_id)
    content = ContentStore(database, site_id)
    before = noted.hashes()
    urls = {stored(url, base) for url in cited.urls()}
    noted.remove(before.keys() - urls)
    live = content.live.live_hashes()
    changed = [url for url in sorted(urls) if before.get(url) != live.get(url, "")]
    for url in changed:
        found = cited.quotes(absolute(url, base), MOST_QUOTES)
        words = PageWords(joined_text(content.live.page(url)))
        broken = sum(not words.hold(quote.text) for quote in found)
        noted.put(url, live.get(url, ""), len(found), broken)
    if changed:
        log.info("the quotes of %s pages of %s were looked for", len(changed), site_id)
    return len(changed)
