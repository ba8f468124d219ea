"""AutoContext and relevant segment extraction, after dsRAG (github.com/D-Star-AI/dsRAG).

Every chunk has a value, positive where it bears on the question and negative where it does not. A segment
is a run of one page's chunks and worth the sum of their values. Segments are taken best first, none
overlapping another, until the budget is spent. Prefix sums and a queue of the smallest ones within reach
find the best run in time proportional to the number of chunks.

Scores that only rank cannot say that nothing is relevant, so the value comes from a logistic regression over
four sets of questions with known pages: of chunks at 0.3, about three in ten are on such a page.
"""

import heapq
import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.question import Query
from server.retrieval.options import StrategyOptions
from server.retrieval.published.auto_context import ChunkContext, contexts
from server.retrieval.published.derived.build import Artefact, Kit, batched
from server.retrieval.published.derived.index import DerivedIndex, DerivedSearch, derived_kind
from server.retrieval.published.derived.layered import (
    ChunkRun,
    LayeredSearch,
    missing,
    together,
    with_dense_as,
)
from server.retrieval.rarity import Rarity


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """How long segments may be, in chunks, and how good they must be."""

    longest: int
    together: int
    """All segments."""
    least_value: float
    of_page: int
    """Segments of one page."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Chunks `start` to `end` (not included) of a page."""

    page: str
    start: int
    end: int
    value: float


def best_run(values: Sequence[float], start: int, end: int, longest: int) -> tuple[float, int, int] | None:
    """(value, start, end) of the run with the greatest sum between two places, at most `longest` chunks long;
    of equals the shortest of those that end first. None where there is no chunk."""
    if start >= end or longest < 1:
        return None
    sums = [0.0]
    for value in values[start:end]:
        sums.append(sums[-1] + value)
    best: tuple[float, int, int] | None = None
    smallest: deque[int] = deque()  # places of sums that grow, each the smallest after the one before it
    for place in range(1, len(sums)):
        while smallest and sums[smallest[-1]] >= sums[place - 1]:
            smallest.pop()
        smallest.append(place - 1)
        if smallest[0] < place - longest:
            smallest.popleft()
        value = sums[place] - sums[smallest[0]]
        if best is None or value > best[0]:
            best = (value, start + smallest[0], start + place)
    return best


def segments(values: Mapping[str, Sequence[float]], limits: SegmentLimits) -> list[Segment]:
    """The best segments of these pages, best first."""
    waiting: list[tuple[float, str, int, int, int, int]] = []

    def offer(page: str, low: int, high: int, longest: int) -> None:
        found = best_run(values[page], low, high, longest)
        if found and found[0] >= limits.least_value and found[0] > 0:
            heapq.heappush(waiting, (-found[0], page, found[1], found[2], low, high))

    for page in sorted(values):
        offer(page, 0, len(values[page]), limits.longest)
    chosen: list[Segment] = []
    room, of_page = limits.together, Counter[str]()
    while waiting and room > 0:
        value, page, start, end, low, high = heapq.heappop(waiting)
        if of_page[page] == limits.of_page:
            continue
        if end - start > room:  # what is left of the budget asks for a shorter one, which is worth less
            offer(page, low, high, room)
            continue
        chosen.append(Segment(page, start, end, -value))
        room -= end - start
        of_page[page] += 1
        offer(page, low, start, limits.longest)
        offer(page, end, high, limits.longest)
    return chosen


BUDGET = 30
"""Chunks for which the penalties of the presets were published."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Figures of dsRAG's presets, and the share of a budget that the segments of one page may take."""

    longest: int
    together: int
    least_value: float
    penalty: float
    decay: float
    of_page: float

    def limits(self, budget: int) -> SegmentLimits:
        """For so many chunks in all."""
        together = min(budget, self.together)
        longest = max(1, min(self.longest, math.ceil(together * self.of_page)))
        return SegmentLimits(longest, together, self.least_value, SEGMENTS_OF_PAGE)

    def penalty_for(self, budget: int) -> float:
        """Return what a chunk without relevance costs: the smaller the budget, the more."""
        together = min(budget, self.together)
        return min(1.0, self.penalty * math.pow(BUDGET / together, GROWTH))


SEGMENTS_OF_PAGE = 3
GROWTH = 1 / 3
"""How fast the penalty grows as the budget shrinks: by 1.44 from 30 chunks to the 10 that a writer reads."""
PRESETS = {
    "balanced": Preset(15, 30, 0.5, 0.18, 30, 0.5),
    "precision": Preset(15, 30, 0.7, 0.2, 30, 0.3),
    "find-all": Preset(40, 200, 0.4, 0.18, 200, 1.0),
}


@dataclass(frozen=True)
class SegmentsOptions(StrategyOptions):
    """Options of the segments strategy."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"preset", "longest", "penalty"})

    preset: Literal["balanced", "precision", "find-all"] = "balanced"
    """How long segments are, and how good they must be."""
    longest: Annotated[int, Field(ge=0, le=100)] = 0
    """Chunks of a segment at most; 0 takes the preset's."""
    penalty: Annotated[float, Field(ge=0, le=1)] = 0
    """What a chunk without relevance costs a segment, for a budget of 30 chunks; 0 takes the preset's."""
    sections: bool = False
    """Whether sections get a summary of their own in addition to that of their page."""

    @property
    def chosen(self) -> Preset:
        """The preset, with what was set in addition to it."""
        preset = PRESETS[self.preset]
        longest, penalty = self.longest or preset.longest, self.penalty or preset.penalty
        return replace(preset, longest=longest, penalty=penalty)


BIAS, NEARNESS, WORDS = -6.2, 4.8, 7.1
BIAS_BY_WORDS, WORDS_ALONE = -4.5, 9.2


def relevance(cosine: float | None, words: float) -> float:
    """In [0, 1]. `words` is the BM25 score as a share of what the question could score; `cosine` is None
    where the embedder does not read the chunk or the question."""
    if cosine is None:
        value = BIAS_BY_WORDS + WORDS_ALONE * words
    else:
        value = BIAS + NEARNESS * cosine + WORDS * words
    return 1 / (1 + math.exp(-value))


def spread(relevance: float) -> float:
    """The same on a scale on which a fair guess is well away from nothing, as the published penalties want:
    the rerankers that they were made for put most relevant chunks above a half."""
    return math.pow(relevance, 1 / 3)


PAGES = 10
"""The pages of so many of the best chunks are looked through for segments."""
USUAL = 350
"""Characters from which on a chunk has its full value: half of what was published, since chunks end with
their section here, however short it is."""
LIFT = 0.05
"""Of what a segment is worth beyond its best chunk, the share that it is ranked higher for: so much that
of two equal finds the longer comes first, too little for many weak chunks to displace a good one."""


class Layout:
    """Which chunks each page has, in page order, and how long they are."""

    def __init__(self, live: Artefact) -> None:
        """`live` has one record for each chunk."""
        self.pages: dict[str, list[str]] = {}
        records = live.records.get(KIND, ())
        for record in records:
            self.pages.setdefault(record.url, []).append(record.sources[0])
        ids = (record.sources[0] for record in records)
        self.sizes: dict[str, int] = dict(zip(ids, live.arrays["sizes"].tolist(), strict=True))


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
) -> list[ChunkRun]:
    """The segments, each at the place of its best chunk or a little above."""
    scores = {hit.chunk.id: hit.score for hit in pool}
    made = []
    for number, segment in enumerate(found, 1):
        ids = tuple(layout.pages[segment.page][segment.start : segment.end])
        best = max(worth[segment.page][segment.start : segment.end])
        score = max(scores.get(id, 0.0) for id in ids) + LIFT * max(0.0, segment.value - best)
        parts = f"parts {segment.start + 1} to {segment.end}" if len(ids) > 1 else f"part {segment.end}"
        why = f"segment {number}: {parts} of {len(layout.pages[segment.page])} of the page"
        made.append(ChunkRun(ids, min(1.0, score), why, number))
    return made


KIND = "chunks"
BATCH = 1000
"""Chunks whose contexts are stored at once."""
POOL = 60
"""Best chunks whose relevance is known; to all others a segment is only a bridge."""
SHARES = (0.5, 1.0)
"""Shares, for vectors and for words, of what is found under the context; the rest is the chunk alone. The
words under the context include the chunk's, so a word of the context weighs as much as any other."""
NOTHING = 0.01
"""Where no chunk is likelier than this to bear on the question, nothing is returned. Of 240 questions with
an answer none was under 0.045; of sentences out of scope a third are under 0.01."""


def derive(kit: Kit, options: SegmentsOptions) -> Artefact:
    """A record for each chunk, in page order: embedded and word-indexed under its context."""
    pages = list(kit.text.pages())
    told = contexts(kit, pages, sections=options.sections)
    chunks = (chunk for page in pages for chunk in page)
    pairs = list(zip(chunks, (one for page in told for one in page), strict=True))
    records: list[Record] = []
    for batch in batched(kit.monitor, "contexts", pairs, BATCH):
        records += _stored(kit, batch)
    sizes = np.asarray([len(chunk.text) for chunk, _ in pairs], np.int32)
    return Artefact({KIND: records}, {"sizes": sizes})


class SegmentsSearch(DerivedSearch[SegmentsOptions]):
    """Searches chunks under what their page is about; returns runs of chunks that belong together."""

    def __init__(self, index: DerivedIndex[SegmentsOptions]) -> None:
        super().__init__(index)
        self._rarity = Rarity(index.parts.words)
        self._layered = LayeredSearch(index, KIND, SHARES)

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Segments by their best chunk and what belongs to it; between them chunks that stand alone."""
        pool = self._layered.of(live).retrieve(query, max(POOL, limit))
        found = self._relevances(query, pool)
        if not found or max(found.values()) < NOTHING:
            return []
        layout, chosen = live.view(Layout), self._options.chosen
        worth = values(pool, found, layout, chosen, limit)
        chosen_runs = runs(pool, segments(worth, chosen.limits(limit)), worth, layout)
        bridges = self._parts.chunks.load(missing(chosen_runs, pool))
        hits = together(pool, chosen_runs, bridges)[:limit]
        return self._index.hybrid.finish(query, [self._told(hit, found, live) for hit in hits])

    def _relevances(self, query: Query, pool: Sequence[ScoredChunk]) -> dict[str, float]:
        """How likely each chunk bears on the question, by id."""
        most, read = self._rarity.ceiling(query), self._is_read(query.language)
        found = {}
        for hit in pool:
            cosine = hit.scores.get("dense", 0.0) if read and self._is_read(hit.chunk.language) else None
            words = hit.scores.get("words", 0.0) / most if most else 0.0
            found[hit.chunk.id] = relevance(cosine, min(1.0, words))
        return found

    def _told(self, hit: ScoredChunk, found: dict[str, float], live: Artefact) -> ScoredChunk:
        """With its context and relevance."""
        hit = with_dense_as(hit, "in context")
        scores = {**hit.scores, "relevance": round(found.get(hit.chunk.id, 0.0), 4)}
        record = next(iter(live.of_source.get(hit.chunk.id, ())), None)
        return replace(hit, scores=scores, context=record.text if record else "")


def _stored(kit: Kit, pairs: Sequence[tuple[Chunk, ChunkContext]]) -> list[Record]:
    """The records of these chunks; what is kept of each is its context, the rest is in the indexes."""
    kept, embedded, worded = [], [], []
    for chunk, context in pairs:
        added = context.added(chunk)
        text = "\n".join(part for part in (added, chunk.text) if part)
        id = record_id(chunk.id, chunk.heading, text)
        under = f"{chunk.heading}\n{text}" if chunk.heading else text
        kept.append(Record(id, context.told, (chunk.id,), chunk.url, chunk.title, chunk.language))
        embedded.append(replace(kept[-1], text=under))
        worded.append(replace(chunk, id=id, text=text))
    kit.vectors(KIND, embedded)
    kit.word_chunks(KIND, worded)
    return kept


SEGMENTS = derived_kind("segments", SegmentsOptions, derive, SegmentsSearch)
