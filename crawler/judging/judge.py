"""Decisions that need a comparison of pages: which are pages of their own, and which text is content.

1. The first pages wait until there are enough to learn the site's template, the text on most of its pages
   (templates.py); every page is cleaned of that.
2. A page with the content it had at the last crawl is unchanged.
3. A page that calls itself a copy, or says what another says, exactly or nearly, is a duplicate; it
   waits until its original has ended.

Used by one thread.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from crawler.extractors import suffix_of
from crawler.fetching.fetcher import Validators
from crawler.judging.duplicates import Duplicates, Held, NearDuplicates
from crawler.judging.templates import Template, TemplateLearner
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.report import HAS_PAGE, UrlOutcome, UrlState
from crawler.visit import Visit

_FILES = frozenset({"pdf", "docx", "md", "markdown", "txt", "text"})
_MOST_UNJUDGED = 240
"""Copies teach nothing about a site: a crawl that meets nothing else must not wait for ever."""


def _first_to_last(visit: Visit) -> tuple[int, bool, int, str]:
    """Sorts visits so that of equal pages the one nearest to the start is the original, if possible without a
    query, and then the shortest address. Which of them a server answers first is chance."""
    url = visit.item.url
    return visit.item.depth, "?" in url, len(url), url


def _pages_of(visits: Iterable[Visit]) -> Iterator[tuple[str, Page]]:
    return ((visit.item.url, visit.outcome.page) for visit in visits if visit.outcome.page)


def _taught(visits: Iterable[Visit]) -> TemplateLearner:
    """Return a learner that saw the pages in this order: of equal ones, the first may keep common text."""
    learner = TemplateLearner()
    for url, page in _pages_of(visits):
        if suffix_of(url) not in _FILES:  # they share nothing with pages
            learner.add(page)
    return learner


def _firsts(visits: Iterable[Visit], keepers: Container[str]) -> dict[str, str]:
    """Return by hash the URL of each page; of equal ones the first of `keepers`, else the first."""
    firsts: dict[str, str] = {}
    for url, page in _pages_of(visits):
        known = firsts.setdefault(page.content_hash, url)
        if url in keepers and known not in keepers:
            firsts[page.content_hash] = url
    return firsts


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a visit."""

    visit: Visit
    outcome: UrlOutcome
    fingerprint: int = 0


class PageJudge:
    """Turns visits into endings; a visit may end later, together with another."""

    def __init__(
        self, options: CrawlOptions, known: Mapping[str, Validators], template: Template | None
    ) -> None:
        self._known = known
        self._stored = template
        self._learner: TemplateLearner | None = TemplateLearner()
        self.template = template or Template.EMPTY
        """The template that pages are cleaned with, once it is decided."""
        self._unjudged: list[Visit] = []
        self._unchanged = 0
        """Pages that the server did not send again, since they are as before."""
        self._first_with: dict[str, str] = {}
        """Hash of a page as it was read -> the first URL with it. Once the template is decided, only of pages
        on which it keeps something."""
        self._duplicates = Duplicates(known)
        self._near = NearDuplicates(options)
        for url, entry in known.items():
            self._near.add(url, entry.fingerprint)
        self._last_fingerprint = ("", 0)
        self.same_pages: list[tuple[str, str]] = []
        """Two addresses of one page, found since the list was last emptied."""

    @property
    def unjudged(self) -> int:
        """Number of pages that wait until the template is learned."""
        return len(self._unjudged)

    @property
    def is_undecided(self) -> bool:
        """Whether the template is still to be learned."""
        return self._learner is not None

    def decided(self, template: Template) -> None:
        """Use the template that was learned before the crawl was interrupted."""
        self._learner, self.template = None, template

    def restore(self, url: str, content_hash: str, fingerprint: int) -> None:
        """Note how a URL ended before the crawl was interrupted; an empty hash means not as a page."""
        self._duplicates.restore(url, content_hash)
        if content_hash:
            self._near.add(url, fingerprint)

    def take(self, visit: Visit) -> list[Ending]:
        """Return everything that ends with this visit, itself included unless it has to wait."""
        if visit.outcome.page is None:
            self._unchanged += visit.outcome.state is UrlState.UNCHANGED
            return self._conclude(visit, visit.outcome)
        if self._learner is None:
            return self._compared(visit)
        first = self._first_with.setdefault(visit.outcome.page.content_hash, visit.item.url)
        if first != visit.item.url:
            self.same_pages.append((visit.item.url, first))
        if suffix_of(visit.item.url) not in _FILES:  # they share nothing with pages
            self._learner.add(visit.outcome.page)
        self._unjudged.append(visit)
        return self.learn() if self._learner.ready or len(self._unjudged) >= _MOST_UNJUDGED else []

    def learn(self) -> list[Ending]:
        """Decide on the template from the pages so far, and judge those that waited for it."""
        waiting, self._unjudged = sorted(self._unjudged, key=_first_to_last), []
        if self._learner is not None:
            learner, stored = _taught(waiting), self._stored
            self.template = learner.renewed(stored, self._unchanged) if stored else learner.template()
            self._learner = None
            self._first_with = _firsts(waiting, self.template.keepers)
        endings = [ending for visit in waiting for ending in self._compared(visit)]
        kept = self.template.keepers
        self._first_with = {found: url for found, url in self._first_with.items() if url in kept}
        return endings

    def last(self) -> list[Ending]:
        """Return the ends of all pages that still wait, when no more visits will come."""
        endings = self.learn() if self._unjudged else []
        return endings + [self._ending(*held) for held in self._duplicates.never_ended()]

    def _compared(self, visit: Visit) -> list[Ending]:
        outcome = visit.outcome
        assert outcome.page is not None
        first = self._first_with.get(outcome.page.content_hash, outcome.url)
        if first in self.template.keepers:
            self._first_with[outcome.page.content_hash] = first
        page = self.template.clean(outcome.page, first)
        if not page.blocks:
            reason = "nothing on it but what is on most pages of the site"
            return self._conclude(visit, replace(outcome, state=UrlState.EMPTY, reason=reason, page=None))
        known = self._known.get(outcome.url)
        if known and known.content_hash == page.content_hash:
            unchanged = replace(outcome, state=UrlState.UNCHANGED, reason="same content", page=page)
            return self._conclude(visit, unchanged)
        outcome = replace(outcome, page=page)
        if visit.canonical:
            held = Held(visit, outcome, f"says it is a copy of {visit.canonical}", visit.canonical)
            if self._duplicates.hold(held):
                return []
            if self._duplicates.is_copy(visit.canonical):
                return self._conclude(visit, held.as_duplicate())
        return self._conclude(visit, outcome)

    def _conclude(self, visit: Visit, outcome: UrlOutcome) -> list[Ending]:
        held = self._copy(visit, outcome)
        if held is not None:
            if self._duplicates.hold(held):
                return []
            if self._duplicates.is_copy(held.original, held.content_hash):
                if held.content_hash:
                    self.same_pages.append((outcome.url, held.original))
                outcome = held.as_duplicate()
        ending = self._ending(visit, outcome)
        content_hash = ending.outcome.page.content_hash if ending.outcome.page else self._hash_known(outcome)
        endings = [ending]
        for waiting, end in self._duplicates.ended(ending.outcome, content_hash):
            if end.state is UrlState.DUPLICATE:
                self.same_pages.append((end.url, outcome.url))
            endings += self._conclude(waiting, end)
        return endings

    def _copy(self, visit: Visit, outcome: UrlOutcome) -> Held | None:
        """Return the page as a copy of an equal or nearly equal one; None without one."""
        page = outcome.page
        if outcome.state is not UrlState.FETCHED or page is None:
            return None
        original = self._duplicates.original_of(outcome.url, page.content_hash)
        if original != outcome.url and not self._duplicates.is_lost(original):
            return Held(visit, outcome, f"same content as {original}", original, page.content_hash)
        near = self._near.original_of(outcome.url, self._fingerprint_of(page))
        if near is None or self._duplicates.is_lost(near[0]):
            return None
        return Held(visit, outcome, f"nearly the same as {near[0]} ({near[1]} %)", near[0])

    def _ending(self, visit: Visit, outcome: UrlOutcome) -> Ending:
        fingerprint = 0
        if outcome.page is not None:
            fingerprint = self._fingerprint_of(outcome.page)
        elif outcome.state in HAS_PAGE and (known := self._known.get(outcome.url)):
            fingerprint = known.fingerprint
        self._near.add(outcome.url, fingerprint)
        return Ending(visit, outcome, fingerprint)

    def _fingerprint_of(self, page: Page) -> int:
        """Return the page's fingerprint, cached because most pages need it twice in a row."""
        if self._last_fingerprint[0] != page.content_hash:
            self._last_fingerprint = page.content_hash, self._near.fingerprint(page)
        return self._last_fingerprint[1]

    def _hash_known(self, outcome: UrlOutcome) -> str:
        entry = self._known.get(outcome.url)
        return entry.content_hash if entry else ""
