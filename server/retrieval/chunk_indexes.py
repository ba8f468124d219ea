"""Indexes the vectors and words of the chunks, which is all that the core strategies search."""

from __future__ import annotations

from collections.abc import Sequence

from server.domain.chunk import Changes
from server.domain.derived import Monitor, Plan, SiteText
from server.retrieval.parts import Parts


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
