"""Keeps the vectors and words of the chunks: all that the core strategies search.

`dense` searches the vectors alone, as most site chatbots do; `lexical` the words alone: exact words,
identifiers, and every language that an embedder cannot read.
"""

from collections.abc import Sequence

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, Plan, SiteText
from server.domain.protocols import Strategy
from server.domain.question import Query
from server.retrieval.options import StrategyKind
from server.retrieval.parts import Parts, ranked, search_live


class ChunkIndexes:
    """Implements IndexBuilder without derived indexes."""

    derives = False

    def __init__(self, parts: Parts, *, vectors: bool = True, words: bool = True) -> None:
        self._parts = parts
        self._has_vectors = vectors
        self._has_words = words

    def index(self, changes: Changes) -> None:
        """Write the vectors, then the words, so that each chunk in the word index has its vector. Raises
        ModelError; then nothing was stored."""
        if not changes.added:
            return
        if self._has_vectors:
            self._embed(changes)
        if self._has_words:
            self._parts.words.add(changes.added)

    def forget(self, ids: Sequence[str]) -> None:
        """Remove the chunks from both indexes."""
        if self._has_words:
            self._parts.words.remove(ids)
        if self._has_vectors:
            self._parts.vectors.remove(ids)

    def plan(self, text: SiteText) -> Plan:
        """Return an empty plan."""
        return Plan()

    def is_current(self, text: SiteText) -> bool:
        """Return true: there is nothing to derive."""
        return True

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Do nothing, because nothing is derived."""

    def _embed(self, changes: Changes) -> None:
        """Embed chunks, except those with a twin under another address, which get the twin's vector."""
        twins = changes.twins
        known = self._parts.vectors.vectors(sorted(set(twins.values()))) if twins else {}
        new = [chunk for chunk in changes.added if twins.get(chunk.id) not in known]
        embedded = self._parts.embedder.embed([chunk.indexed_text for chunk in new])
        made = {chunk.id: vector for chunk, vector in zip(new, embedded, strict=True)}
        vectors = [made[chunk.id] if chunk.id in made else known[twins[chunk.id]] for chunk in changes.added]
        self._parts.vectors.add(changes.added, vectors)


class DenseRetriever:
    """Relevance is the cosine of the query with title, headings and text of a chunk, at least 0."""

    name = "dense"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first. Raises ModelError when the query cannot be embedded."""
        vector = self._parts.embedder.embed([query.searched_text])[0]
        chunks, vectors = self._parts.chunks, self._parts.vectors
        hits = search_live(lambda n: vectors.search(vector, n), chunks.load, limit, chunks.live_generation)
        scored = (
            ScoredChunk(chunk, min(1.0, max(0.0, score)), {"dense": round(score, 4)}) for chunk, score in hits
        )
        return ranked(list(scored), limit)


DENSE = StrategyKind("dense", lambda parts: Strategy(DenseRetriever(parts), ChunkIndexes(parts, words=False)))


class LexicalRetriever:
    """Relevance is the BM25 score as a share of the best one found."""

    name = "lexical"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first; [] when no word of the query occurs on the site."""
        chunks, words = self._parts.chunks, self._parts.words
        hits = search_live(lambda n: words.search(query.text, n), chunks.load, limit, chunks.live_generation)
        best = hits[0][1] if hits else 1.0
        scored = (ScoredChunk(chunk, score / best, {"words": round(score, 4)}) for chunk, score in hits)
        return ranked(list(scored), limit)


LEXICAL = StrategyKind(
    "lexical", lambda parts: Strategy(LexicalRetriever(parts), ChunkIndexes(parts, vectors=False))
)
