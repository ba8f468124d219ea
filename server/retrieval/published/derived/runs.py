"""Chunks that belong together, brought together in a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from server.domain.chunk import Chunk, ScoredChunk
from server.retrieval.parts import ranked


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks of one page, in page order, that are read as one."""

    ids: tuple[str, ...]
    score: float
    why: str
    """The reason shown with each of its chunks."""
    number: int = 0
    """Reported as "segment" in their scores, unless it is 0."""


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
