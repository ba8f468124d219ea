"""Searching chunks by their own vectors and words and, in addition, by those of what is derived of them.

Hybrid search takes the functions here in place of its own two searches. So its fusion, features, earlier
turns and rerankers hold for strategies that only add to what a chunk is found by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record
from server.domain.protocols import Vector
from server.retrieval.hybrid import HybridRetriever
from server.retrieval.parts import Hit, Parts, ranked, stored_cosines
from server.retrieval.published.derived.build import Artefact
from server.retrieval.published.derived.index import DerivedIndex

DEEPEST = 2
"""Records searched per chunk at most: only the best one of a chunk counts."""

SEARCHED = 1000
"""Chunks that the words are searched for at first; more where too few of them are picked ones."""

Found = Sequence[tuple[Record, float]]


@dataclass(frozen=True)
class RecordLayer:
    """Which chunks have records, and how deep those are searched."""

    covered: frozenset[str]
    """Chunks with records; of others their own score counts alone."""
    depth: int
    """So many records are asked for in place of one chunk."""

    @classmethod
    def of(cls, records: Sequence[Record]) -> RecordLayer:
        """The layer of all records of a kind."""
        covered = frozenset(source for record in records for source in record.sources)
        return cls(covered, min(DEEPEST, -(-len(records) // max(1, len(covered)))))

    def mixed(self, plain: Sequence[Hit], found: Found, share: float, limit: int) -> list[Hit]:
        """Weighted sum of both sides, best first.

        A chunk that one side did not find is at most as good there as the last that was found; it has
        nothing where the side gave less than it was asked for, which was all that it has.
        """
        one, other = dict(plain), by_chunk(found)
        least = min(one.values()) if one and len(plain) >= limit else 0.0
        least_other = min(other.values()) if other and len(found) >= limit * self.depth else 0.0
        scores = {}
        for id in dict.fromkeys((*one, *other)):
            own = one.get(id, least)
            best = other.get(id, least_other if id in self.covered else own)
            scores[id] = (1 - share) * own + share * best
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]


def by_chunk(found: Found) -> dict[str, float]:
    """Each source chunk with the score of its best record; `found` comes best first."""
    best: dict[str, float] = {}
    for record, score in found:
        for source in record.sources:
            best.setdefault(source, score)
    return best


@dataclass(frozen=True, eq=False)
class LayeredSearch:
    """Hybrid search in which a chunk's score by vectors, and by words, is its own and a share of that of its
    best record."""

    index: DerivedIndex[Any]
    kind: str
    shares: tuple[float, float]
    """Of the scores by vectors and by words, what the records give."""
    parts: Parts | None = None
    """May be tuned in another way than those of the index."""

    def of(self, live: Artefact) -> HybridRetriever:
        """The search of this state. Its scores "dense" and "words" are the layered ones."""
        return live.view(self._layered)

    def _layered(self, live: Artefact) -> HybridRetriever:
        index, kind, parts = self.index, self.kind, self.parts or self.index.parts
        of_vectors, of_words = self.shares
        layer = RecordLayer.of(live.records.get(kind, ()))

        def nearest(vector: Vector, limit: int) -> list[Hit]:
            found = index.nearest(kind, vector, limit * layer.depth, live)
            return layer.mixed(parts.vectors.search(vector, limit), found, of_vectors, limit)

        def worded(text: str, limit: int) -> list[Hit]:
            found = index.worded(kind, text, limit * layer.depth, live)
            return layer.mixed(parts.words.search(text, limit), found, of_words, limit)

        return HybridRetriever(parts, nearest if of_vectors else None, worded if of_words else None)


def search_picked(parts: Parts, picked: frozenset[str]) -> HybridRetriever:
    """Hybrid over these chunks only. Words are as rare as on the whole site; vectors are compared exactly."""
    ids = sorted(picked)

    def nearest(vector: Vector, limit: int) -> list[Hit]:
        found = stored_cosines(parts.vectors, vector, ids).items()
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def worded(text: str, limit: int) -> list[Hit]:
        wanted, enough = SEARCHED, min(limit, len(picked))
        while True:
            hits = parts.words.search(text, wanted)
            found = [hit for hit in hits if hit[0] in picked]
            if len(found) >= enough or len(hits) < wanted:
                return found[:limit]
            wanted *= 8

    return HybridRetriever(parts, nearest, worded)


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks of one page, in page order, that are read as one."""

    ids: tuple[str, ...]
    score: float
    why: str
    """The reason shown with each of its chunks."""
    number: int = 0
    """Reported as "segment" in their scores, unless it is 0."""


def with_dense_as(hit: ScoredChunk, name: str) -> ScoredChunk:
    """`hit` with its layered score "dense" under another name, since it is no cosine of the chunk alone."""
    return replace(hit, scores={name if known == "dense" else known: at for known, at in hit.scores.items()})


def missing(runs: Sequence[ChunkRun], hits: Sequence[ScoredChunk]) -> list[str]:
    """Ids of the chunks of these runs that are no hits."""
    known = {hit.chunk.id for hit in hits}
    return list(dict.fromkeys(id for run in runs for id in run.ids if id not in known))


def together(
    hits: Sequence[ScoredChunk], runs: Sequence[ChunkRun], added: Mapping[str, Chunk]
) -> list[ScoredChunk]:
    """All hits and the chunks `added` by runs, best first. The chunks of a run share its score, so that they
    follow each other in page order; a chunk goes with the first run that has it."""
    waiting = {hit.chunk.id: hit for hit in hits}
    placed: dict[str, ScoredChunk] = {}
    for run in runs:
        for id in run.ids:
            hit = waiting.pop(id, None) or (ScoredChunk(added[id], run.score) if id in added else None)
            if hit and id not in placed:
                scores = {**hit.scores, "segment": float(run.number)} if run.number else hit.scores
                placed[id] = replace(hit, score=run.score, scores=scores, why=run.why)
    every = [*placed.values(), *waiting.values()]
    return ranked(every, len(every))
