"""AutoContext and relevant segment extraction, after dsRAG (github.com/D-Star-AI/dsRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.question import Query
from server.indexes.postings import K1
from server.indexes.tokens import tokens
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.layered import LayeredSearch
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.parts import Parts
from server.retrieval.rarity import Rarity
from server.retrieval.segments.auto_context import Context, contexts
from server.retrieval.segments.extraction import Segment, segments
from server.retrieval.segments.options import SegmentsOptions
from server.retrieval.segments.ranking import Relevant, Site, arranged, values
from server.retrieval.segments.relevance import relevance

KIND = "chunks"
BATCH = 1000
"""Chunks whose contexts are stored at once."""
POOL = 100
"""Best chunks whose relevance is known; to all others a segment is only a bridge."""
SHARES = (0.5, 0.5)
"""Of vectors and of words: what is found under the context, beside what is found by the chunk alone."""
NOTHING = 0.01
"""Where no chunk is likelier than this to bear on the question, nothing is returned."""


class SegmentsStrategy(DerivedStrategy[SegmentsOptions]):
    """Searches chunks under what their page is about; returns runs of chunks that belong together."""

    row = "segments"
    Options: ClassVar[type[Any]] = SegmentsOptions

    def __init__(self, parts: Parts, options: SegmentsOptions | None = None) -> None:
        super().__init__(parts, options)
        self._rarity = Rarity(parts.words)
        self._layered = LayeredSearch(self, parts, KIND, SHARES, 1)

    def derive(self, kit: Kit) -> Artefact:
        """A record for each chunk, in page order: embedded and word-indexed under its context."""
        pages = list(kit.text.pages())
        told = contexts(kit, pages, sections=self.options.sections)
        pairs = [pair for page, of_page in zip(pages, told, strict=True) for pair in zip(page, of_page, strict=True)]
        records: list[Record] = []
        for start in range(0, len(pairs), BATCH):
            kit.monitor.step("contexts", start, len(pairs))
            records += _stored(kit, pairs[start : start + BATCH])
        sizes = np.asarray([len(chunk.text) for chunk, _ in pairs], np.int32)
        return Artefact({KIND: records}, {"sizes": sizes})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Segments by their best chunk and what belongs to it; between them chunks that stand alone."""
        pool = self._layered.of(live).retrieve(query, max(POOL, limit))
        found = self._relevant(query, pool)
        if not found or max(found.values()) < NOTHING:
            return []
        site = Site.of(live, KIND)
        chosen = self.options.chosen
        worth = values(pool, found, site, chosen, limit)
        best = segments(worth, chosen.limits(limit))
        return self.base.finish(query, self._told(arranged(pool, found, best, site), live)[:limit])
