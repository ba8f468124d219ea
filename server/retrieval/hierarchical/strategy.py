"""Summaries pick where to look, chunks are what is found: retrieval in two tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.layered import LayeredSearch
from server.retrieval.derived.strategy import DerivedStrategy, with_context
from server.retrieval.hierarchical.options import HierarchicalOptions
from server.retrieval.hierarchical.picking import Picking
from server.retrieval.hierarchical.units import Unit, units
from server.retrieval.parts import Parts

KIND = "summaries"
BATCH = 100
"""Units that are summarised and stored at once: about a second's work without a model."""
CHARACTERS = 4
"""Of a token, about: a unit of one chunk is cut instead of summarised."""


class HierarchicalStrategy(DerivedStrategy[HierarchicalOptions]):
    """Finds chunks with the summaries of their pages and sections, or only below the best of these."""

    row = "hierarchical"
    Options: ClassVar[type[Any]] = HierarchicalOptions

    def __init__(self, parts: Parts, options: HierarchicalOptions | None = None) -> None:
        super().__init__(parts, options)
        chosen = self.options
        self._layered = LayeredSearch(self, parts, KIND, (chosen.vectors, chosen.words))
        self._picking = Picking(self, parts, KIND, chosen.picked)

    def derive(self, kit: Kit) -> Artefact:
        """A record for each page and section; its sources are all of its chunks."""
        found = [
            unit
            for page in kit.text.pages()
            for unit in units(page, kit.text.facts(page[0].url), self.options)
        ]
        records: list[Record] = []
        for start in range(0, len(found), BATCH):
            kit.monitor.step("summaries", start, len(found))
            records += self._stored(kit, found[start : start + BATCH])
        return Artefact({KIND: records})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """As hybrid does, with the summaries' scores or below the picked ones."""
        if self.options.mode == "hard":
            hits = self._picking.below(query, live).retrieve(query, limit)
        else:
            hits = [_without_dense(hit) for hit in self._layered.of(live).retrieve(query, limit)]
        return self.base.finish(query, [_told(hit, live) for hit in hits])

    def _stored(self, kit: Kit, batch: Sequence[Unit]) -> list[Record]:
        most = self.options.tokens
        asked = [unit for unit in batch if len(unit.chunks) > 1]
        said = iter(kit.asking.all("summaries", [unit.task(most) for unit in asked]))
        records = []
        for unit in batch:
            # Nothing shorter stands for one chunk than itself: no call is spent on it.
            alone = unit.description or unit.chunks[0].text[: CHARACTERS * most]
            records.append(unit.record(next(said) if len(unit.chunks) > 1 else alone))
        reads = kit.embedder.languages
        read = [one for one in records if not reads or not one.language or one.language in reads]
        kit.vectors(KIND, [replace(record, text=_embedded(record)) for record in read])
        kit.word_chunks(KIND, [_indexed(record) for record in records])
        return records


def _indexed(record: Record) -> Chunk:
    return Chunk(record.id, record.url, record.title, _below(record), record.text, 0, record.language)


def _embedded(record: Record) -> str:
    return "\n\n".join(filter(None, (record.title, ", ".join(_below(record)), record.text)))


def _below(record: Record) -> tuple[str, ...]:
    headings = record.data["below"]
    return tuple(map(str, headings)) if isinstance(headings, list) else ()


def _told(hit: ScoredChunk, live: Artefact) -> ScoredChunk:
    """With the summary of the smallest unit that the chunk stands in."""
    found = live.of_source.get(hit.chunk.id, [])
    if not found:
        return hit
    nearest = min(found, key=lambda record: len(record.sources))
    return with_context(hit, nearest.text, f"in {nearest.title}" if nearest.title else "")


def _without_dense(hit: ScoredChunk) -> ScoredChunk:
    """What the layered search calls the cosine is not the chunk's own."""
    return replace(hit, scores={name: score for name, score in hit.scores.items() if name != "dense"})
