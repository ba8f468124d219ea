"""How each URL ended, and how far the whole crawl is."""

import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.page import Page


class UrlState(StrEnum):
    """How a discovered URL ended. Only `fetched`, and `unchanged` by hash, come with a page."""

    FETCHED = "fetched"
    UNCHANGED = "unchanged"
    """The server said so (304), or its content is what it was."""
    DUPLICATE = "duplicate"
    REDIRECTED = "redirected"
    EXCLUDED = "excluded"
    """By a pattern or the path prefix."""
    DISALLOWED = "disallowed"
    """By robots.txt, or by the site's AI preferences."""
    NOINDEX = "noindex"
    UNSUPPORTED = "unsupported"
    """Nothing that is read here: another type of file."""
    EMPTY = "empty"
    """A page without text; its links were followed."""
    TOO_LARGE = "too_large"
    ERROR = "error"
    GONE = "gone"
    """404 or 410."""
    OVER_LIMIT = "over_limit"
    """Found, but beyond the page, depth or address limit."""


HAS_PAGE = frozenset({UrlState.FETCHED, UrlState.UNCHANGED})
NO_ANSWER = frozenset({UrlState.ERROR, UrlState.OVER_LIMIT, UrlState.TOO_LARGE})
"""These say nothing of whether there is a page."""


@dataclass(frozen=True, slots=True)
class UrlOutcome:
    """The end of one URL."""

    url: str
    state: UrlState
    reason: str = ""
    """Why, in words for the operator; for a fetched page empty."""
    status: int = 0
    """HTTP status; 0 when no answer was had."""
    page: Page | None = None
    depth: int = 0
    found_on: str = ""
    """Address of the page that links to it; empty for start addresses, sitemaps and earlier crawls."""
    target: str = ""
    """Where a redirect leads, or the page that a duplicate repeats; canonical."""


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """How far a crawl is."""

    discovered: int
    """URLs found so far, those still waiting included."""
    done: int
    """URLs with an outcome."""
    pages: int
    """Fetched and unchanged ones."""
    seconds: float
    """Since the crawl began or went on."""
    counts: dict[UrlState, int] = field(default_factory=dict)
    pages_before: int = 0
    """How many of `pages` were read before the crawl was cut off and went on."""

    @property
    def pages_per_second(self) -> float:
        return (self.pages - self.pages_before) / self.seconds if self.seconds > 0 else 0.0

    def line(self) -> str:
        """Return one line for people."""
        other = ", ".join(
            f"{count} {state.value.replace('_', ' ')}"
            for state, count in self.counts.items()
            if state not in HAS_PAGE
        )
        return (
            f"{self.pages} pages, {self.done} of {self.discovered} addresses done, "
            f"{self.pages_per_second:.1f} pages/s" + (f" ({other})" if other else "")
        )


class CrawlReport:
    """Counts outcomes. Not thread-safe."""

    def __init__(self) -> None:
        self.counts: Counter[UrlState] = Counter()
        self._started = time.monotonic()
        self._first_problem: UrlOutcome | None = None
        self._redirect: UrlOutcome | None = None
        self._restored_pages = 0

    def add(self, outcome: UrlOutcome) -> None:
        self.counts[outcome.state] += 1
        bad = outcome.state not in HAS_PAGE and outcome.state is not UrlState.REDIRECTED
        if bad and self._first_problem is None and outcome.depth == 0:
            self._first_problem = outcome
        if outcome.state is UrlState.REDIRECTED and outcome.depth == 0:
            self._redirect = outcome

    def restore(self, state: UrlState) -> None:
        """Count an outcome from before the crawl was interrupted."""
        self.counts[state] += 1
        self._restored_pages += state in HAS_PAGE

    def progress(self, discovered: int, unjudged: int = 0) -> CrawlProgress:
        """Return the progress; `unjudged` pages were read and wait for the template."""
        done = sum(self.counts.values())
        pages = sum(self.counts[state] for state in HAS_PAGE) + unjudged
        return CrawlProgress(
            max(discovered, done),
            done,
            pages,
            time.monotonic() - self._started,
            dict(self.counts),
            self._restored_pages,
        )

    def problem(self) -> str:
        """Return one line on why the crawl found no page and what to do; empty when it found some."""
        if any(self.counts[state] for state in HAS_PAGE):
            return ""
        if self._first_problem is None and self._redirect is not None:
            return f"{self._redirect.url} redirects {self._redirect.reason}. Start from there instead."
        if self._first_problem is None:
            return "No page was found: check that the start address leads to pages of the same site."
        outcome = self._first_problem
        return f"{outcome.url}: {outcome.reason or outcome.state.value}. {_ADVICE.get(outcome.state, _CHECK)}"


_CHECK = "Check the address in a browser."
_ADVICE = {
    UrlState.EXCLUDED: "Change the include and exclude patterns so that the start address is crawled.",
    UrlState.DISALLOWED: "Allow the crawler in the site's robots.txt, or start elsewhere. If only AI "
    "preferences forbid it and the site is yours, say so in its scope.",
    UrlState.NOINDEX: "Remove noindex from the page, or start elsewhere.",
    UrlState.UNSUPPORTED: "Start from an HTML page.",
    UrlState.EMPTY: "Its HTML holds no text (pages that JavaScript builds look like this): start elsewhere.",
    UrlState.TOO_LARGE: "Raise the size limit, or start elsewhere.",
}
