"""Steps after the search that look at whole pages: the operator's rules, pages that a section only points to,
and variants of a page in other languages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from server.domain.chunk import Chunk, PageLinks, ScoredChunk
from server.domain.question import Query
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, chunk_words, coverage

Page = Callable[[str], Sequence[Chunk]]
"""Returns the chunks of a page, by its stored address."""

MOST_EACH = 2
"""Number of best passages always added from a pinned page. With many pinned pages it is fewer, so that at
least half of the results come from the search."""
UNFOUND = 0.4
"""Base score of such a passage, as a share of the best score, before its coverage of the query. A passage
with none of the query's words is a candidate, but is not kept next to passages that fit."""


@dataclass(frozen=True, slots=True)
class OperatorPageRules:
    """Drop passages of excluded pages and add the best passages of pinned ones.

    Pinned passages are graded like any other: they do not make a question answerable by themselves.
    """

    decided: Callable[[Collection[str]], tuple[set[str], list[str]]]
    """Returns which of the given pages are excluded, and all pinned pages, by stored addresses."""
    page: Page
    rarity: Rarity
    name = "operator's page rules"

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first."""
        excluded, pinned = self.decided({hit.chunk.url for hit in found})
        hits = [hit for hit in found if hit.chunk.url not in excluded]
        if not pinned:
            return hits
        known = {hit.chunk.id: hit for hit in hits}
        best = hits[0].score if hits else 1.0
        each = max(1, min(MOST_EACH, limit // (2 * len(pinned))))
        pins = [hit for url in pinned for hit in self._best_of(url, query, best)[:each]]
        pins = [known.get(hit.chunk.id, hit) for hit in pins]
        theirs = {hit.chunk.id for hit in pins}
        others = [hit for hit in hits if hit.chunk.id not in theirs]
        # Pinned passages are kept even if no room is left for others.
        return ranked([*others[: max(0, limit - len(pins))], *pins], limit)

    def _best_of(self, url: str, query: Query, best: float) -> list[ScoredChunk]:
        weights = self.rarity.of(query)
        made = []
        for chunk in self.page(url):
            share = coverage(weights, chunk_words(chunk))
            score = min(1.0, best * (UNFOUND + (1 - UNFOUND) * share))
            made.append(ScoredChunk(chunk, score, {"pinned": round(score, 4)}, why="its page is pinned"))
        return ranked(made, MOST_EACH)


FIRST = 3
"""Number of results that are examined."""
LONGEST = 240
"""Most characters of a section that only points."""
SHORTEST_WORDS = 3
"""Fewest characters of a link's words that are looked for."""
AHEAD, BEHIND = 1.01, 0.9
"""Score of the section pointed to, as a share of the pointing one's: if it covers the question as well, and
if it does not."""


@dataclass(frozen=True, slots=True)
class FollowedPointers:
    """Adds the best section of each page that one of the first results only points to."""

    links: PageLinks
    page: Page
    rarity: Rarity
    name = "followed pointers"

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if nothing in it only points."""
        pointing = [hit for hit in found[:FIRST] if len(hit.chunk.text) <= LONGEST]
        if not pointing:
            return list(found)
        weights = self.rarity.of(query)
        hits = {hit.chunk.id: hit for hit in found}
        for hit in pointing:
            covered = coverage(weights, chunk_words(hit.chunk))
            for chunk in self._targets(hit.chunk, weights):
                share = AHEAD if 0 < covered <= coverage(weights, chunk_words(chunk)) else BEHIND
                score = min(1.0, hit.score * share)
                known = hits.get(chunk.id)
                if known is None or known.score < score:
                    scores = {**(known.scores if known else {}), "pointed": round(score, 4)}
                    hits[chunk.id] = ScoredChunk(chunk, score, scores, why="a section found points to it")
        return ranked(list(hits.values()), limit)

    def _targets(self, pointing: Chunk, weights: dict[str, float]) -> list[Chunk]:
        """Return the section of each page pointed to that covers most of the question."""
        named = {
            url
            for url, words in self.links(pointing.url)
            if len(words) >= SHORTEST_WORDS and words in pointing.text and url != pointing.url
        }
        pages = filter(None, (self.page(url) for url in sorted(named)))
        return [max(page, key=lambda chunk: coverage(weights, chunk_words(chunk))) for page in pages]


LISTED = 3
"""Number of results that may be set back as lists of links."""
FEWEST_LINKS = 3
"""Lines from which on links make a list."""
MOSTLY = 0.8
"""Share of a section's lines that are nothing but links, from which on it is a list of links."""
NAMED = 0.5
"""Share of the question in the headings from which on the list itself is asked for."""
SET_BACK = 0.6
"""Share of its score that is left to such a list."""


@dataclass(frozen=True, slots=True)
class ListsOfLinks:
    """Sets sections back that only list links, such as a table of contents or the names of sponsors, unless
    their headings say what is asked for: what the links are about is on other pages."""

    links: PageLinks
    rarity: Rarity
    name = "lists of links"

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if none of the first ones is such a list."""
        weights = self.rarity.of(query)
        moved = [
            hit.rescored(SET_BACK * hit.score)
            if place < LISTED and not hit.theme and self._is_list(hit.chunk, weights)
            else hit
            for place, hit in enumerate(found)
        ]
        return ranked(moved, limit) if moved != list(found) else list(found)

    def _is_list(self, chunk: Chunk, weights: dict[str, float]) -> bool:
        every = list(filter(None, map(str.strip, chunk.text.split("\n"))))
        items = [line.removeprefix("- ") for line in every if line.startswith("- ")]
        if len(items) < max(FEWEST_LINKS, MOSTLY * len(every)):
            return False
        if coverage(weights, chunk_tokens(chunk)[1]) >= NAMED:
            return False
        words = {words for _, words in self.links(chunk.url)}
        return sum(item in words for item in items) >= MOSTLY * len(every)


@dataclass(frozen=True, slots=True)
class LanguageVariants:
    """Prefers the variant of a page in the question's language. Pages without one stay as they are."""

    variants: Callable[[Collection[str], str], Mapping[str, str]]
    """Returns the stored addresses of pages' variants in a language."""
    page: Page
    rarity: Rarity
    spoken: Callable[[], Collection[str]] = frozenset
    """Returns the languages of many of the site's pages. With several, a page may have a language that its
    sections are not yet translated to."""
    name = "language variants"

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if no page has a variant."""
        untranslated = len(self.spoken()) > 1
        foreign = {
            hit.chunk.url for hit in found if untranslated or hit.chunk.language not in ("", query.language)
        }
        variants = self.variants(foreign, query.language) if foreign and query.language else {}
        if not variants:
            return list(found)
        weights = self.rarity.of(query)
        hits: dict[str, ScoredChunk] = {}
        for hit in found:
            url = variants.get(hit.chunk.url)
            chunk = self._same_section(hit.chunk, url, weights) if url else hit.chunk
            known = hits.get(chunk.id)
            if chunk is not hit.chunk:
                hit = ScoredChunk(chunk, hit.score, hit.scores, why="a page in another language has it too")
            if known is None or known.score < hit.score:
                hits[chunk.id] = hit
        return ranked(list(hits.values()), limit)

    def _same_section(self, chunk: Chunk, url: str, weights: dict[str, float]) -> Chunk:
        """Return the section of the variant at the same place if both pages are built alike, else the one
        that covers most of the question; the chunk itself if none has a word of the question."""
        own, others = self.page(chunk.url), self.page(url)
        if len(own) == len(others):
            return others[chunk.position]
        sections, their_sections = _sections(own), _sections(others)
        if len(sections) == len(their_sections):
            of_section = next((place for place, some in enumerate(sections) if chunk in some), 0)
            others = their_sections[of_section]
        best = max(others, key=lambda other: coverage(weights, chunk_words(other)), default=chunk)
        alike = len(sections) == len(their_sections)
        return best if alike or coverage(weights, chunk_words(best)) else chunk


def _sections(page: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks of a page by heading, in page order."""
    sections: dict[tuple[str, ...], list[Chunk]] = {}
    for chunk in page:
        sections.setdefault(chunk.heading_path, []).append(chunk)
    return list(sections.values())
