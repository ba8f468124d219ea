"""What belongs to a chunk of which a part was found: its section, its merged siblings, its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from server.domain.chunk import ScoredChunk
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.runs import Run
from server.retrieval.small_to_big.merging import merged

SHARE_ADDED = 0.5
"""Of all that is returned, what may be there only because it belongs to something that was found."""
WIDENED = 3
"""So many of the best chunks get the neighbours that the window of their best sentence reaches into."""


@dataclass(frozen=True, slots=True)
class BestPart:
    """The part of a chunk that answers the question best."""

    text: str
    place: int
    """Among the chunk's parts, from 0."""
    count: int


@dataclass(frozen=True)
class Families:
    """Which chunks belong together, and which parts a chunk has."""

    group_of: Mapping[str, tuple[str, ...]]
    """Chunks of the same section, in page order, by each of them."""
    parts_of: Mapping[str, tuple[str, ...]]
    """Ids of the parts of each chunk that has some, in order."""

    @classmethod
    def of(cls, live: Artefact) -> Families:
        """Those of a derived index."""
        found = live.facts.get("groups")
        groups = [tuple(map(str, group)) for group in found] if isinstance(found, list) else []
        parts = {id: tuple(record.id for record in records) for id, records in live.of_source.items()}
        return cls({id: group for group in groups for id in group}, parts)

    def group(self, id: str) -> tuple[str, ...]:
        """The chunk alone where nothing is known of it."""
        return self.group_of.get(id, (id,))


def section_runs(hits: Sequence[ScoredChunk], families: Families, limit: int) -> list[Run]:
    """Each hit with all of its section, at the place of the best of them."""
    runs = (Run(families.group(hit.chunk.id), hit.score, "a part of its section fits") for hit in hits)
    return _affordable(runs, hits, limit)


def merged_runs(
    hits: Sequence[ScoredChunk], families: Families, parts: Mapping[str, float], limit: int
) -> list[Run]:
    """Sections of which more than half of the chunks are found, by more than half of their parts each.

    They stand where their best chunk does; the mean would put a whole section behind a lone sentence.
    """
    score_of = {hit.chunk.id: hit.score for hit in hits}
    groups = {families.group(hit.chunk.id) for hit in hits[:limit]}
    chunks = {id: families.parts_of[id] for group in groups for id in group if id in families.parts_of}
    found = merged(chunks, parts)
    # A chunk that is all of its only part is found when it is a hit.
    found |= {hit.chunk.id: hit.score for hit in hits[:limit] if hit.chunk.id not in families.parts_of}
    whole = merged({"\n".join(group): group for group in groups if len(group) > 1}, found)
    runs = []
    for group in (tuple(name.split("\n")) for name in whole):
        known = sum(id in found for id in group)
        score = max(score_of.get(id, 0.0) for id in group)
        runs.append(Run(group, score, f"merged: {known} of {len(group)} parts of its section were found"))
    runs.sort(key=lambda run: (-run.score, run.ids))
    return _affordable(runs, hits, limit)


def window_runs(
    hits: Sequence[ScoredChunk], families: Families, best: Mapping[str, BestPart], window: int, limit: int
) -> list[Run]:
    """The best hits with the neighbours that so many sentences around their best one reach into."""
    runs = []
    for hit in hits[:WIDENED]:
        id = hit.chunk.id
        group, part = families.group(id), best.get(id, BestPart("", 0, 1))
        at = group.index(id)
        start = at - 1 if at and part.place < window else at
        end = at + 1 if part.place + window >= part.count else at
        ids = group[start : end + 1]
        if len(ids) > 1:
            runs.append(Run(ids, hit.score, f"{window} sentences around what fits best reach over its end"))
    return _affordable(runs, hits, limit)


def _affordable(runs: Iterator[Run] | Sequence[Run], hits: Sequence[ScoredChunk], limit: int) -> list[Run]:
    """Those that bring more, as long as what is added leaves room for what was found."""
    room = int(limit * SHARE_ADDED)
    first = {hit.chunk.id for hit in hits[:limit]}
    taken: set[str] = set()
    kept = []
    for run in runs:
        new = [id for id in run.ids if id not in first and id not in taken]
        if len(run.ids) > 1 and taken.isdisjoint(run.ids) and len(new) <= room:
            room -= len(new)
            taken.update(run.ids)
            kept.append(run)
    return kept
