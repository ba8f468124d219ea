"""Pages of a series, whose titles differ only in a name: one page for each branch, state or model.

What is true in one state need not be true in another, so a question that names one is not answered from the
page of another.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from server.answering.ranking import ODDS
from server.answering.writing.suggestions import names_something
from server.domain.chunk import ScoredChunk
from server.domain.question import Query
from server.domain.sentences import plain_title
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import chunk_words

SERIES = 5
"""Number of pages from which on titles that are alike but for a name make a series."""
TITLES = 1000
"""Pages of a site whose titles are compared."""
LONGEST_NAME = 3
"""Most words of a name."""
LONGEST_TITLE = 8
"""Most words of a title of a series, the name included."""
FEWEST_SHARED = 2
"""Fewest words that the titles share."""
BEHIND = 0.8
"""Most that is left of a score, as a share of the best one, of a section that lacks the name and was ahead of
the page that is named."""
LIKELY = 0.3
"""How likely that section must be to answer, compared with the likeliest, if the question has no word of what
the series is about."""


@dataclass(frozen=True, slots=True)
class Member:
    """A page of a series. `name` and `about` are tokens of its title."""

    series: str
    name: frozenset[str]
    about: frozenset[str]
    """Tokens that the titles share."""


def members(titles: Iterable[tuple[str, str, str]], site_name: str) -> dict[str, Member]:
    """Return the pages that belong to a series, by address, from (address, title, language) of pages.

    A title shares all but a name with others, and more than the site's name. The shortest name counts.
    """
    named: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    parts = {url: list(_parts(plain_title(title), language)) for url, title, language in titles}
    for some in parts.values():
        for shared, name, language in some:
            named[shared, language].add(name.casefold())
    found = {}
    for url, some in parts.items():
        for shared, name, language in some:  # the shortest name first
            if len(named[shared, language]) < SERIES or not names_something(shared, language):
                continue
            words = frozenset(tokens(name, language))
            about = frozenset(tokens(shared, language)).difference(tokens(site_name, language))
            if words and about:
                found[url] = Member(f"{language} {shared}", words, about)
                break
    return found


def _parts(title: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Yield (shared part, name, language) of each way to divide a title; "…" stands where the name was."""
    words = title.split()
    if len(words) > LONGEST_TITLE:
        return
    for length in range(1, min(LONGEST_NAME, len(words) - FEWEST_SHARED) + 1):
        for start in range(len(words) - length + 1):
            end = start + length
            yield " ".join((*words[:start], "…", *words[end:])), " ".join(words[start:end]), language


@dataclass(frozen=True, slots=True)
class NamedInSeries:
    """Drops the sections of a series' other pages if the question names one of them, and prefers its own."""

    members: Callable[[], Mapping[str, Member]]
    """Returns the pages that belong to a series, by stored address."""
    name = "pages of a series"

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if no page of a series is named."""
        known = self.members()
        own = {hit.chunk.url: known[hit.chunk.url] for hit in found if hit.chunk.url in known}
        if not own:
            return list(found)
        asked = frozenset(tokens(query.text, query.language))
        named = _named(own, asked)
        if not named:
            return list(found)
        names = {own[url].series: own[url].name for url in named}
        kept = [hit for hit in found if not self._is_of_another(hit, own, named, names)]
        first = next(hit for hit in kept if hit.chunk.url in named)
        member = own[first.chunk.url]
        ahead = [hit for hit in kept if hit.score > first.score]
        fits = bool(member.about & asked) or first.scores.get(ODDS, 0.0) >= LIKELY
        if not ahead or not fits or first.theme or any(_says(hit, member.name) for hit in ahead):
            return ranked(kept, limit)
        best = max(hit.score for hit in ahead)
        raised = first.rescored(best, {**first.scores, ODDS: 1.0})
        others = [_set_back(hit, BEHIND * best) for hit in kept if hit is not first]
        return ranked([raised, *others], limit)

    def _is_of_another(
        self,
        hit: ScoredChunk,
        own: Mapping[str, Member],
        named: Collection[str],
        names: Mapping[str, frozenset[str]],
    ) -> bool:
        """Return whether a section is of another page of such a series, and lacks the name."""
        member = own.get(hit.chunk.url)
        if member is None or hit.chunk.url in named or member.series not in names:
            return False
        return not _says(hit, names[member.series])


def _says(hit: ScoredChunk, name: frozenset[str]) -> bool:
    return name <= chunk_words(hit.chunk)


def _set_back(hit: ScoredChunk, most: float) -> ScoredChunk:
    """Return a hit that is shown only for words of the question that the page that is named lacks."""
    scores = {**hit.scores, ODDS: min(hit.scores[ODDS], LIKELY)} if ODDS in hit.scores else hit.scores
    return hit.rescored(min(hit.score, most), scores)


def _named(own: Mapping[str, Member], asked: frozenset[str]) -> set[str]:
    """Return the addresses of the pages that the question names: not Virginia if it says West Virginia."""
    held = {url: member for url, member in own.items() if member.name <= asked}
    return {
        url
        for url, member in held.items()
        if not any(member.series == other.series and member.name < other.name for other in held.values())
    }
