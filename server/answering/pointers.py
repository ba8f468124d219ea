"""Follows a section that only points to another page, such as "See our pricing page for details"."""

from collections.abc import Callable, Sequence

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_words, coverage

FIRST = 3
"""Number of results that are examined."""
LONGEST = 240
"""Most characters of a section that only points."""
SHORTEST_WORDS = 3
"""Fewest characters of a link's words that are looked for."""
AHEAD, BEHIND = 1.01, 0.9
"""Score of the section pointed to, as a share of the pointing one's: if it covers the question as well, and
if it does not."""


class FollowedPointers:
    """Adds the best section of each page that one of the first results only points to."""

    name = "followed pointers"

    def __init__(
        self,
        links: Callable[[str], Sequence[tuple[str, str]]],
        page: Callable[[str], Sequence[Chunk]],
        rarity: Rarity,
    ) -> None:
        """`links` returns (address, words) of the links on a page, `page` the chunks of a page. Both take
        stored addresses."""
        self._links = links
        self._page = page
        self._rarity = rarity

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the changed results, best first; `found` itself if nothing in it only points."""
        pointing = [hit for hit in found[:FIRST] if len(hit.chunk.text) <= LONGEST]
        if not pointing:
            return list(found)
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
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
            for url, words in self._links(pointing.url)
            if len(words) >= SHORTEST_WORDS and words in pointing.text and url != pointing.url
        }
        pages = filter(None, (self._page(url) for url in sorted(named)))
        return [max(page, key=lambda chunk: coverage(weights, chunk_words(chunk))) for page in pages]
