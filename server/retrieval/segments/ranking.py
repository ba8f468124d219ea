"""From a ranking of chunks to one of segments: what each chunk is worth, and where its segment stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from server.domain.chunk import Chunk, ScoredChunk
from server.retrieval.derived.artefact import Artefact
from server.retrieval.parts import ranked
from server.retrieval.segments.extraction import Segment
from server.retrieval.segments.options import Preset

PAGES = 10
"""The pages of so many of the best chunks are looked through for segments."""
USUAL = 700
"""Characters from which on a chunk has its full value."""
LIFT = 0.05
"""Of what a segment is worth beyond its best chunk, the share that it is ranked higher for: so much that
of two equal finds the longer comes first, too little for many weak chunks to displace a good one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which chunks each page has, in page order, and how long they are."""

    pages: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, live: Artefact, kind: str) -> Layout:
        """That of a derived index with one record for each chunk."""
        pages: dict[str, list[str]] = {}
        ids = []
        for record in live.records.get(kind, ()):
            pages.setdefault(record.url, []).append(record.sources[0])
            ids.append(record.sources[0])
        return cls(pages, dict(zip(ids, live.arrays["sizes"].tolist(), strict=True)))


def values(
    pool: Sequence[ScoredChunk], relevances: Mapping[str, float], layout: Layout, preset: Preset, budget: int
) -> dict[str, list[float]]:
    """What each chunk of the best pages adds to a segment: its relevance, less the further down it was found
    and the shorter it is, without what reading any chunk costs."""
    penalty = preset.penalty_for(budget)
    worth = {
        hit.chunk.id: relevances[hit.chunk.id]
        * math.exp(-rank / preset.decay)
        * min(1.0, layout.sizes.get(hit.chunk.id, 0) / USUAL)
        for rank, hit in enumerate(pool)
    }
    pages = dict.fromkeys(hit.chunk.url for hit in pool[:PAGES])
    return {url: [worth.get(id, 0.0) - penalty for id in layout.pages.get(url, ())] for url in pages}


def arranged(
    pool: Sequence[ScoredChunk],
    found: Sequence[Segment],
    worth: Mapping[str, Sequence[float]],
    layout: Layout,
    bridges: Mapping[str, Chunk],
) -> list[ScoredChunk]:
    """All of the pool and the `bridges` between them, best first.

    The chunks of a segment share its score, so that they follow each other in page order.
    """
    hits = {hit.chunk.id: hit for hit in pool}
    placed: list[ScoredChunk] = []
    for number, segment in enumerate(found, 1):
        ids = layout.pages[segment.page][segment.start : segment.end]
        score = max((hits[id].score for id in ids if id in hits), default=0.0)
        best = max(worth[segment.page][segment.start : segment.end])
        score = min(1.0, score + LIFT * max(0.0, segment.value - best))
        why = f"segment {number}: parts {segment.start + 1} to {segment.end} of the page"
        for id in ids:
            hit = hits.pop(id, None) or (ScoredChunk(bridges[id], score) if id in bridges else None)
            if hit:
                details = {**hit.scores, "segment": float(number)}
                placed.append(replace(hit, score=score, scores=details, why=why if len(ids) > 1 else hit.why))
    return ranked([*placed, *hits.values()], len(placed) + len(hits))
