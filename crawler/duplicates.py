"""Pages that say what another page says.

A page that looks like a copy is held back until its original has had its turn: if the original
turns out to be gone or changed, the copy is what remains, and it becomes a page after all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from crawler.fetcher import Validators
from crawler.report import HAS_PAGE, UrlOutcome, UrlState
from crawler.visit import Visit


@dataclass(frozen=True, slots=True)
class Held:
    """A page that waits for the end of its original."""

    visit: Visit
    outcome: UrlOutcome
    reason: str
    original: str
    content_hash: str = ""
    """The original must still have this content; empty when it need not."""

    def as_duplicate(self) -> UrlOutcome:
        return as_duplicate(self.outcome, self.original, self.reason)


class Duplicates:
    """Decides who is the original."""

    def __init__(self, known: Mapping[str, Validators]) -> None:
        self._owner = {entry.content_hash: url for url, entry in known.items() if entry.content_hash}
        self._ended: dict[str, str] = {}
        """URL -> content hash, of those that ended as pages; empty hash for all others."""
        self._held: dict[str, list[Held]] = {}

    def restore(self, url: str, content_hash: str) -> None:
        """How a URL ended before the crawl was cut off; the hash is empty when it is no page."""
        self._ended[url] = content_hash
        if content_hash:
            self._owner[content_hash] = url

    def original_of(self, outcome: UrlOutcome) -> str:
        """URL of the page that has this one's content; the page itself when it is the first."""
        page = outcome.page
        if page is None:
            return outcome.url
        owner = self._owner.setdefault(page.content_hash, outcome.url)
        if owner != outcome.url and self._ended.get(owner) not in (None, page.content_hash):
            owner = self._owner[page.content_hash] = outcome.url  # the owner changed or went
        return owner

    def hold(self, held: Held) -> bool:
        """Keeps a page until its original ends. False when that has happened: see `is_copy`."""
        if held.original in self._ended:
            return False
        self._held.setdefault(held.original, []).append(held)
        return True

    def is_copy(self, original: str, content_hash: str = "") -> bool:
        """Whether `original` has ended as a page (with that content)."""
        return _matches(self._ended.get(original, ""), content_hash)

    def is_lost(self, original: str) -> bool:
        """Whether `original` has ended, and not as a page."""
        return self._ended.get(original) == ""

    def ended(self, outcome: UrlOutcome, content_hash: str) -> list[tuple[Visit, UrlOutcome]]:
        """Notes an end (the hash is empty when it is no page); gives the ends of all who waited for it."""
        final = content_hash if outcome.state in HAS_PAGE else ""
        self._ended[outcome.url] = final
        return [
            (held.visit, held.as_duplicate() if _matches(final, held.content_hash) else held.outcome)
            for held in self._held.pop(outcome.url, [])
        ]

    def never_ended(self) -> list[tuple[Visit, UrlOutcome]]:
        """Pages whose originals never had their turn."""
        held = [(entry.visit, entry.outcome) for entries in self._held.values() for entry in entries]
        self._held.clear()
        return held


def as_duplicate(outcome: UrlOutcome, original: str, reason: str) -> UrlOutcome:
    """The same end, as a copy."""
    return replace(outcome, state=UrlState.DUPLICATE, reason=reason, page=None, target=original)


def _matches(final_hash: str, wanted: str) -> bool:
    return bool(final_hash) and (not wanted or final_hash == wanted)
