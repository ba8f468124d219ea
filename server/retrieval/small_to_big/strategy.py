"""Small-to-big: parent and child, auto-merging, and sentence windows.

Vectors of small texts are sharper than those of large ones; answers need the large ones. After LangChain's
parent document retriever and LlamaIndex's auto-merging retriever and sentence windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.protocols import ChatModel, Vector
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.layered import LayeredSearch
from server.retrieval.derived.runs import Run, missing, together
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.parts import Parts, cosines
from server.retrieval.small_to_big.options import SmallToBigOptions
from server.retrieval.small_to_big.parts import children, sections, sentences
from server.retrieval.small_to_big.widening import (
    BestPart,
    Families,
    merged_runs,
    section_runs,
    window_runs,
)

KIND = "parts"
BATCH = 2000
"""Parts that are embedded and stored before the next ones are cut: no more vectors are held at once."""
WORDS = 0.25
"""Share of a chunk's score by words that its best part gives."""
POOL = 40
"""Chunks that are looked at for what belongs to them."""
PARENT, SECTION, WHOLE = 2_000, 4_000, 1_000_000
"""Characters of what belongs together: of a published parent; four chunks; all under one heading."""
LEAVES = 4
"""Parts that are searched for each chunk that is wanted, when parts are merged."""
QUOTED = 80
"""Characters of a part that the reason tells."""


class SmallToBigStrategy(DerivedStrategy[SmallToBigOptions]):
    """Finds chunks by their best part as well, and returns what belongs to that part."""

    row = "small-to-big"
    Options: ClassVar[type[Any]] = SmallToBigOptions

    def __init__(self, parts: Parts, options: SmallToBigOptions | None = None) -> None:
        super().__init__(parts, options)
        self._layered = LayeredSearch(self, parts, KIND, (self.options.share, WORDS))
        self._families: tuple[Artefact, Families] | None = None

    @property
    def model(self) -> ChatModel | None:
        """None: nothing is asked, so another model needs no other index."""
        return None

    def derive(self, kit: Kit) -> Artefact:
        """A record for each part, unless it is all of its chunk; equal ones are one record."""
        records: dict[str, Record] = {}
        groups: list[list[str]] = []
        found = self._parts_of(kit.text.pages(), groups)
        while batch := list(islice(found, BATCH)):
            kit.monitor.step("parts", len(records), len(records) + len(batch))
            self._store(kit, list({one.id: one for one in batch if one.id not in records}.values()))
            for record in batch:
                known = records.setdefault(record.id, replace(record, title=""))
                if record.sources[0] not in known.sources:
                    records[record.id] = replace(known, sources=(*known.sources, *record.sources))
        return Artefact({KIND: list(records.values())}, {}, {"groups": groups})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Chunks with what belongs to the part that was found of them."""
        pool = self._layered.of(live).retrieve(query, max(limit, POOL))
        best = self._best_parts(query, pool[:limit], live)
        runs = self._runs(query, pool, best, limit, live)
        hits = together(pool, runs, self._parts.chunks.load(missing(runs, pool)))[:limit]
        return self.base.finish(query, [_told(hit, best.get(hit.chunk.id)) for hit in hits])

    def _runs(
        self, query: Query, pool: list[ScoredChunk], best: Mapping[str, BestPart], limit: int, live: Artefact
    ) -> list[Run]:
        families = self._families_of(live)
        if self.options.mode == "window":
            return window_runs(pool, families, best, self.options.window, limit)
        if self.options.mode == "merging":
            return merged_runs(pool, families, self._leaves(query, limit, live), limit)
        return section_runs(pool[:limit], families, limit) if self.options.parents == "section" else []

    def _leaves(self, query: Query, limit: int, live: Artefact) -> dict[str, float]:
        """The parts nearest to the question and those with most of its words, by id."""
        wanted = LEAVES * limit
        worded = self.worded(KIND, query.text, wanted, live)
        most = worded[0][1] if worded else 1.0
        found = {record.id: score / most for record, score in worded}
        if self._reads(query.language):
            vector = self._parts.embedder.embed([query.searched_text])[0]
            near = {record.id: score for record, score in self.nearest(KIND, vector, wanted, live)}
            found = {id: near.get(id, 0.0) + found.get(id, 0.0) for id in (*near, *found)}
        first = sorted(found, key=lambda id: (-found[id], id))[:wanted]
        return {id: found[id] for id in first}

    def _best_parts(self, query: Query, hits: Sequence[ScoredChunk], live: Artefact) -> dict[str, BestPart]:
        """Of each hit that has parts: the nearest to the question."""
        parts = {hit.chunk.id: live.of_source.get(hit.chunk.id, []) for hit in hits}
        known: dict[str, Vector] = {}
        if self._reads(query.language):
            ids = [record.id for records in parts.values() for record in records]
            known = self.side(KIND).vectors.vectors(list(dict.fromkeys(ids)))
        if not known:
            return {}
        vector = self._parts.embedder.embed([query.searched_text])[0]
        near = dict(zip(known, cosines(vector, list(known.values())), strict=True))
        best = {}
        for id, records in parts.items():
            places = [place for place, record in enumerate(records) if record.id in near]
            if places:
                place = max(places, key=lambda at: near[records[at].id])
                best[id] = BestPart(records[place].text, place, len(records))
        return best

    def _families_of(self, live: Artefact) -> Families:
        known = self._families
        if known is None or known[0] is not live:
            known = self._families = (live, Families.of(live))
        return known[1]

    def _reads(self, language: str) -> bool:
        reads = self._parts.embedder.languages
        return not reads or not language or language in reads

    def _parts_of(self, pages: Iterable[Sequence[Chunk]], groups: list[list[str]]) -> Iterator[Record]:
        """The parts of all chunks; into `groups` goes which of those belong together."""
        for page in pages:
            groups += ([chunk.id for chunk in group] for group in self._grouped(page))
            for chunk in page:
                texts, under = self._texts(chunk.text), self._under(chunk)
                for text in texts if len(texts) > 1 else ():
                    id = record_id(under, text, chunk.language)
                    yield Record(id, text, (chunk.id,), chunk.url, under, chunk.language)

    def _under(self, chunk: Chunk) -> str:
        """What stands over a part: over a sentence the last heading, which is all that it can bear."""
        if self.options.mode == "window" and chunk.heading_path:
            return chunk.heading_path[-1]
        return chunk.heading

    def _grouped(self, page: Sequence[Chunk]) -> list[list[Chunk]]:
        size = {"parent": PARENT, "merging": SECTION, "window": WHOLE}[self.options.mode]
        return sections(page, size)

    def _texts(self, text: str) -> list[str]:
        if self.options.mode == "window":
            return sentences(text)
        return children(text, self.options.child)

    def _store(self, kit: Kit, records: Sequence[Record]) -> None:
        """The heading belongs to what is embedded and searched, not to what is kept. Parts that the
        embedder cannot read are found by their words alone."""
        kit.words(KIND, records)
        read = [record for record in records if self._reads(record.language)]
        kit.vectors(KIND, [replace(one, text=f"{one.title}\n\n{one.text}".strip()) for one in read])


def _told(hit: ScoredChunk, part: BestPart | None) -> ScoredChunk:
    """With the part as the reason; the layered score, which is no cosine of the chunk, under another name."""
    scores = dict(hit.scores)
    if "dense" in scores:
        scores["with parts"] = scores.pop("dense")
    why = hit.why or (f"its part “{part.text[:QUOTED]}”" if part else "")
    return replace(hit, scores=scores, why=why)
