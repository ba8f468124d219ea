"""Pages that a crawl did not find where they were: moved, or gone."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crawler.report import HAS_PAGE, UrlState
from crawler.spilling import Spilling
from server.domain.addresses import absolute, stored
from server.domain.chunk import PageWords, joined_text
from server.indexing.indexer import Indexer
from server.jobs.page_edits import DecidedPages
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageMoves
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.crawls.runs import DECISION, WHOLE, CrawlRun, CrawlStore
from server.storage.database import Database
from server.storage.sites.sites import SiteNotes

MISSING = frozenset({UrlState.GONE, UrlState.NOINDEX, UrlState.REDIRECTED, UrlState.DUPLICATE, UrlState.EMPTY,
                     UrlState.EXCLUDED, UrlState.DISALLOWED, UrlState.UNSUPPORTED})  # fmt: skip
"""States of an address that is no page of the site any more; an error or a limit says nothing."""
UNINTENDED = frozenset({UrlState.GONE, UrlState.REDIRECTED, UrlState.DUPLICATE, UrlState.EMPTY})
"""Those of them that a site also shows while it is down: nobody has decided anything about its pages."""
MOST_REDIRECTS = 10
MOST_MOVED_TO_ONE = 3
"""Pages that may move to one address. More that lead there lead to a login, a notice or the start page."""
FEWEST_MISSING, FEWEST_READ = 10, 0.2
"""A site looks down to a crawl that misses so many pages, and reads fewer than this share of their number."""
PATIENCE = timedelta(days=7)
"""How long the pages of a site that looks down are kept."""
LOOKS_DOWN_SINCE = "looks_down_since"
"""Name of the note of a site with the time of the first crawl to which it looked down."""


def _looks_down(notes: SiteNotes, site_id: str, *, missing: int, read: int) -> bool:
    """Return whether the missing pages are to be kept for now, by how many a crawl missed and read.

    A notice at every address, a default page of the host or a login in front of everything is no reason to
    forget the pages of a site. Since when it looks down is remembered in its notes.
    """
    since = notes.get(site_id, LOOKS_DOWN_SINCE)
    if missing < FEWEST_MISSING or read >= missing * FEWEST_READ:
        if since:
            notes.set(site_id, LOOKS_DOWN_SINCE, "")
        return False
    now = datetime.now(UTC)
    if not since:
        notes.set(site_id, LOOKS_DOWN_SINCE, now.isoformat())
    return not since or now - datetime.fromisoformat(since) < PATIENCE


@dataclass(eq=False)
class MissingPages:
    """Pages that one crawl did not find where they were."""

    _db: Database
    _run: CrawlRun
    _indexer: Indexer
    _decided: DecidedPages
    _belongs: Callable[[str], bool]
    """Whether an address is on a host of the site."""

    def __post_init__(self) -> None:
        self._crawls = CrawlStore(self._db)
        self._is_whole = self._run.kind == WHOLE
        self._read: Spilling[bool] = Spilling()
        self._appeared: Spilling[str] = Spilling()
        """Content hash -> the page that is new with it."""

    def remove(self, leads_to: Mapping[str, str]) -> int:
        """Remove pages that moved, and count those that are missing; twice is once.

        A page moved when its address leads (`leads_to`) to one that this crawl read as a page, or when it is
        gone and its content has appeared at a new address. What operators decided about it goes with it.
        Return the number of missing pages that are kept because the site looks down.
        """
        self._note_read()
        states = self._missing()
        unintended = {url for url, state in states.items() if state in UNINTENDED}
        is_down = self._is_whole and _looks_down(
            SiteNotes(self._db), self._run.site_id, missing=len(unintended), read=len(self._read)
        )
        kept = unintended if is_down else set()
        targets = self._targets(states, leads_to)
        led_to = Counter(targets.values())
        for url in sorted(targets.keys() - kept):
            if targets[url] and led_to[targets[url]] <= MOST_MOVED_TO_ONE:
                self._move(url, targets[url])
            else:
                self._indexer.missing(url, self._run.id)
        return len(kept)

    def _note_read(self) -> None:
        for url, _, _ in self._crawls.addresses.ends(self._run.id, HAS_PAGE):
            self._read[url] = True
            page = self._indexer.known.get(url)
            if page is not None and (
                page.first_seen_at is None or page.first_seen_at >= self._run.started_at
            ):
                self._appeared[page.content_hash] = url

    def _missing(self) -> dict[str, str]:
        """Return the state of each known page that is missing. Those of a host that no longer belongs to the
        site are gone: the crawl did not look at them."""
        known = self._indexer.known
        ends = self._crawls.addresses.ends(self._run.id, MISSING)
        states = {url: state for url, state, _ in ends if url in known and not known[url].source}
        if self._is_whole:
            elsewhere = (page.url for page in known.values() if not page.source)
            states |= {url: UrlState.GONE for url in elsewhere if not self._belongs(url)}
        return states

    def _targets(self, states: Mapping[str, str], leads_to: Mapping[str, str]) -> dict[str, str]:
        """Return where each of the pages is now; empty for one that is nowhere."""
        own_hashes = self._decided.decisions.site_hashes()
        targets = {}
        for url, state in states.items():
            target = _final_target(url, leads_to)
            if state == UrlState.GONE:
                target = self._appeared.get(own_hashes.get(url, self._indexer.known[url].content_hash), "")
            is_page = target != url and target in self._read and target in self._indexer.known
            targets[url] = target if is_page else ""
        return targets

    def _move(self, url: str, target: str) -> None:
        PageMoves(self._db, self._run.site_id).record(url, target)
        self._indexer.remove(url)
        if self._decided.decisions.move(url, target):
            self._crawls.wait(self._run.site_id, DECISION, target)


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
