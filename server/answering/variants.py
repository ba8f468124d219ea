"""Replaces sections of pages in another language by the same sections in the question's language."""

from collections.abc import Callable, Collection, Mapping, Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_words, coverage


class LanguageVariants:
    """Prefers the variant of a page in the question's language. Pages without one stay as they are."""

    name = "language variants"

    def __init__(
        self,
        variants: Callable[[Collection[str], str], Mapping[str, str]],
        page: Callable[[str], Sequence[Chunk]],
        rarity: Rarity,
    ) -> None:
        """`variants` returns the addresses of pages' variants in a language, `page` the chunks of a page.
        Both take stored addresses."""
        self._variants = variants
        self._page = page
        self._rarity = rarity

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if no page has a variant."""
        foreign = {hit.chunk.url for hit in found if hit.chunk.language not in ("", query.language)}
        variants = self._variants(foreign, query.language) if foreign and query.language else {}
        if not variants:
            return list(found)
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        hits: dict[str, ScoredChunk] = {}
        for hit in found:
            url = variants.get(hit.chunk.url) if hit.chunk.language != query.language else None
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
        own, others = self._page(chunk.url), self._page(url)
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
