"""From a ranking of chunks to one of segments: what each chunk is worth, and where its segment stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.domain.chunk import ScoredChunk
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.runs import Run
from server.retrieval.segments.extraction import Segment
from server.retrieval.segments.options import Preset
from server.retrieval.segments.relevance import spread

PAGES = 10
"""The pages of so many of the best chunks are looked through for segments."""
USUAL = 350
"""Characters from which on a chunk has its full value: half of what was published, since chunks end with
their section here, however short it is."""
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
        hit.chunk.id: spread(relevances[hit.chunk.id])
        * math.exp(-rank / preset.decay)
        * min(1.0, layout.sizes.get(hit.chunk.id, 0) / USUAL)
        for rank, hit in enumerate(pool)
    }
    pages = dict.fromkeys(hit.chunk.url for hit in pool[:PAGES])
    return {url: [worth.get(id, 0.0) - penalty for id in layout.pages.get(url, ())] for url in pages}


def runs(
    pool: Sequence[ScoredChunk],
    found: Sequence[Segment],
    worth: Mapping[str, Sequence[float]],
    layout: Layout,
) -> list[Run]:
    """The segments, each at the place of its best chunk or a little above."""
    scores = {hit.chunk.id: hit.score for hit in pool}
    made = []
    for number, segment in enumerate(found, 1):
        ids = tuple(layout.pages[segment.page][segment.start : segment.end])
        best = max(worth[segment.page][segment.start : segment.end])
        score = max(scores.get(id, 0.0) for id in ids) + LIFT * max(0.0, segment.value - best)
        parts = f"parts {segment.start + 1} to {segment.end}" if len(ids) > 1 else f"part {segment.end}"
        why = f"segment {number}: {parts} of {len(layout.pages[segment.page])} of the page"
        made.append(Run(ids, min(1.0, score), why, number))
    return made
