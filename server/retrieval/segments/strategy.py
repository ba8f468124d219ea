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
from server.retrieval.derived.runs import missing, together
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.parts import Parts
from server.retrieval.rarity import Rarity
from server.retrieval.segments.auto_context import Context, contexts
from server.retrieval.segments.extraction import segments
from server.retrieval.segments.options import SegmentsOptions
from server.retrieval.segments.ranking import Layout, runs, values
from server.retrieval.segments.relevance import relevance

KIND = "chunks"
BATCH = 1000
"""Chunks whose contexts are stored at once."""
POOL = 60
"""Best chunks whose relevance is known; to all others a segment is only a bridge."""
SHARES = (0.5, 1.0)
"""Of vectors and of words: what is found under the context, beside what is found by the chunk alone. The
words under the context include the chunk's, so a word of the context weighs as much as any other."""
NOTHING = 0.01
"""Where no chunk is likelier than this to bear on the question, nothing is returned. Of 240 questions with
an answer none was under 0.045; of sentences out of scope a third are under 0.01."""


class SegmentsStrategy(DerivedStrategy[SegmentsOptions]):
    """Searches chunks under what their page is about; returns runs of chunks that belong together."""

    row = "segments"
    Options: ClassVar[type[Any]] = SegmentsOptions

    def __init__(self, parts: Parts, options: SegmentsOptions | None = None) -> None:
        super().__init__(parts, options)
        self._rarity = Rarity(parts.words)
        self._layered = LayeredSearch(self, parts, KIND, SHARES)
        self._layout: tuple[Artefact, Layout] | None = None

    def derive(self, kit: Kit) -> Artefact:
        """A record for each chunk, in page order: embedded and word-indexed under its context."""
        pages = list(kit.text.pages())
        told = contexts(kit, pages, sections=self.options.sections)
        chunks = (chunk for page in pages for chunk in page)
        pairs = list(zip(chunks, (one for page in told for one in page), strict=True))
        records: list[Record] = []
        for start in range(0, len(pairs), BATCH):
            kit.monitor.step("contexts", start, len(pairs))
            records += _stored(kit, pairs[start : start + BATCH])
        sizes = np.asarray([len(chunk.text) for chunk, _ in pairs], np.int32)
        return Artefact({KIND: records}, {"sizes": sizes})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Segments by their best chunk and what belongs to it; between them chunks that stand alone."""
        pool = self._layered.of(live).retrieve(query, max(POOL, limit))
        found = self._relevances(query, pool)
        if not found or max(found.values()) < NOTHING:
            return []
        layout, chosen = self._layout_of(live), self.options.chosen
        worth = values(pool, found, layout, chosen, limit)
        chosen_runs = runs(pool, segments(worth, chosen.limits(limit)), worth, layout)
        bridges = self._parts.chunks.load(missing(chosen_runs, pool))
        hits = together(pool, chosen_runs, bridges)[:limit]
        return self.base.finish(query, [self._told(hit, found, live) for hit in hits])

    def _relevances(self, query: Query, pool: Sequence[ScoredChunk]) -> dict[str, float]:
        """How likely each chunk bears on the question, by id."""
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        most = (K1 + 1) * sum(self._rarity.weights(asked).values()) if asked else 0.0
        reads = self._parts.embedder.languages
        read = not reads or not query.language or query.language in reads
        found = {}
        for hit in pool:
            known = read and (not reads or not hit.chunk.language or hit.chunk.language in reads)
            cosine = hit.scores.get("dense", 0.0) if known else None
            words = hit.scores.get("words", 0.0) / most if most else 0.0
            found[hit.chunk.id] = relevance(cosine, min(1.0, words))
        return found

    def _layout_of(self, live: Artefact) -> Layout:
        known = self._layout
        if known is None or known[0] is not live:
            known = self._layout = (live, Layout.of(live, KIND))
        return known[1]

    def _told(self, hit: ScoredChunk, found: dict[str, float], live: Artefact) -> ScoredChunk:
        """With its context and relevance; the scores of the layered search, which are no cosine of the
        chunk alone, under another name."""
        scores = dict(hit.scores)
        if "dense" in scores:
            scores["in context"] = scores.pop("dense")
        scores["relevance"] = round(found.get(hit.chunk.id, 0.0), 4)
        record = next(iter(live.of_source.get(hit.chunk.id, ())), None)
        return replace(hit, scores=scores, context=record.text if record else "")


def _stored(kit: Kit, pairs: Sequence[tuple[Chunk, Context]]) -> list[Record]:
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
