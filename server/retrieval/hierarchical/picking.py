"""The mode hard: the best summaries pick chunks, and only those are searched."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from server.domain.protocols import ModelError
from server.domain.question import Query
from server.indexes.errors import IndexFailure
from server.indexes.postings import K1
from server.indexes.tokens import tokens
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.fusion import Fusion, Words
from server.retrieval.hierarchical.picked import PickedVectors, PickedWords
from server.retrieval.hybrid import OLDER, HybridStrategy
from server.retrieval.parts import Hit, Parts
from server.retrieval.rarity import Rarity
from server.retrieval.table import FUSIONS

CANDIDATES = 100
"""Summaries of each side that are fused, at least."""


class Picking:
    """Fuses summaries as hybrid fuses chunks; searches by hybrid below the best."""

    def __init__(self, strategy: DerivedStrategy[Any], parts: Parts, kind: str, picked: int) -> None:
        self._strategy = strategy
        self._parts = parts
        self._kind = kind
        self._picked = picked
        self._rarity = Rarity(parts.words)
        self._fusion: Fusion = FUSIONS.load(parts.tuning.fusion)

    def below(self, query: Query, live: Artefact) -> HybridStrategy:
        """Hybrid over the chunks of the best pages and sections."""
        records = {record.id: record for record in live.records.get(self._kind, ())}
        chunks = frozenset(id for picked in self.best(query, live) for id in records[picked].sources)
        vectors = PickedVectors(self._parts.vectors, chunks)
        return HybridStrategy(
            replace(self._parts, vectors=vectors, words=PickedWords(self._parts.words, chunks))
        )

    def best(self, query: Query, live: Artefact) -> list[str]:
        """Ids of the picked summaries, best first; earlier turns have a share as they have in hybrid."""
        scores: defaultdict[str, float] = defaultdict(float, self._scores(query, live))
        share = self._parts.tuning.history_share
        for age, text in enumerate(query.previous[:3] if share else ()):
            for id, score in self._scores(Query(text, query.language, query.title), live).items():
                scores[id] += share * OLDER**age * score
        return sorted(scores, key=lambda id: (-scores[id], id))[: self._picked]

    def _scores(self, query: Query, live: Artefact) -> dict[str, float]:
        depth = max(CANDIDATES, 2 * self._picked)
        found = self._strategy.worded(self._kind, query.text, depth, live)
        words = {record.id: score for record, score in found}
        dense = dict(self._nearest(query, depth, live))
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        ceiling = (K1 + 1) * sum(self._rarity.weights(asked).values()) if asked else 0.0
        reads, tuning = self._parts.embedder.languages, self._parts.tuning
        read = not (reads and query.language and query.language not in reads)
        weight = tuning.dense_weight if read else tuning.unread_weight
        return self._fusion(dense, Words(words, ceiling), dict.fromkeys((*dense, *words), weight))

    def _nearest(self, query: Query, depth: int, live: Artefact) -> list[Hit]:
        try:
            vector = self._parts.embedder.embed([query.searched_text])[0]
            found = self._strategy.nearest(self._kind, vector, depth, live)
        except (ModelError, IndexFailure):
            return []  # hybrid tells of it when it searches the chunks
        return [(record.id, score) for record, score in found]
