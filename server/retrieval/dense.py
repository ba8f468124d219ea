"""Nearest neighbours of the query's vector: the recipe that most site chatbots ship."""

from __future__ import annotations

from collections.abc import Sequence

from server.domain.chunk import Changes, ScoredChunk
from server.domain.derived import Monitor, SiteText
from server.domain.question import Query
from server.retrieval.parts import Parts, ranked, search_live


class DenseStrategy:
    """Embeds title, headings and text of each chunk; relevance is the cosine, 0 at the least."""

    name = "dense"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def index(self, changes: Changes) -> None:
        """Embeds and stores the added chunks; of those with a twin the vector is taken over. Raises
        ModelError; then nothing was stored."""
        if not changes.added:
            return
        twins = changes.twins
        known = self._parts.vectors.vectors(sorted(set(twins.values()))) if twins else {}
        new = [chunk for chunk in changes.added if twins.get(chunk.id) not in known]
        embedded = self._parts.embedder.embed([chunk.indexed_text for chunk in new])
        made = {chunk.id: vector for chunk, vector in zip(new, embedded, strict=True)}
        vectors = [made[chunk.id] if chunk.id in made else known[twins[chunk.id]] for chunk in changes.added]
        self._parts.vectors.add(changes.added, vectors)

    def complete(self, text: SiteText, monitor: Monitor) -> None:
        """Nothing is derived."""

    def forget(self, ids: Sequence[str]) -> None:
        """Removes the chunks' vectors."""
        self._parts.vectors.remove(ids)

    def retrieve(self, query: Query, limit: int) -> list[ScoredChunk]:
        """Best first. Raises ModelError when the query cannot be embedded."""
        vector = self._parts.embedder.embed([query.searched_text])[0]
        hits = search_live(lambda n: self._parts.vectors.search(vector, n), self._parts.chunks, limit)
        scored = (
            ScoredChunk(chunk, min(1.0, max(0.0, score)), {"dense": round(score, 4)}) for chunk, score in hits
        )
        return ranked(list(scored), limit)
