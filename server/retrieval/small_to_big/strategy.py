"""Small-to-big: parent and child, auto-merging, and sentence windows.

Vectors of small texts are sharper than those of large ones; answers need the large ones. After LangChain's
parent document retriever and LlamaIndex's auto-merging retriever and sentence windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.protocols import ChatModel
from server.domain.question import Query
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.layered import LayeredSearch
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.parts import Parts
from server.retrieval.small_to_big.options import SmallToBigOptions
from server.retrieval.small_to_big.parts import children, sections, sentences

KIND = "parts"
BATCH = 2000
"""Parts that are embedded and stored before the next ones are cut: no more vectors are held at once."""


class SmallToBigStrategy(DerivedStrategy[SmallToBigOptions]):
    """Finds chunks by their best part as well, and returns what belongs to that part."""

    row = "small-to-big"
    Options: ClassVar[type[Any]] = SmallToBigOptions

    def __init__(self, parts: Parts, options: SmallToBigOptions | None = None) -> None:
        super().__init__(parts, options)
        self._layered = LayeredSearch(self, parts, KIND, (self.options.share, WORDS))

    @property
    def model(self) -> ChatModel | None:
        """None: nothing is asked, so another model needs no other index."""
        return None

    def derive(self, kit: Kit) -> Artefact:
        """A record for each part, unless it is all of its chunk; equal ones are one record."""
        records: dict[str, Record] = {}
        found = (record for page in kit.text.pages() for record in self._parts_of(page))
        while batch := list(islice(found, BATCH)):
            kit.monitor.step("parts", len(records), 0)
            self._store(kit, [record for record in batch if record.id not in records])
            for record in batch:
                known = records.setdefault(record.id, replace(record, title=""))
                if record.sources[0] not in known.sources:
                    records[record.id] = replace(known, sources=(*known.sources, *record.sources))
        return Artefact({KIND: list(records.values())}, {}, {"groups": self._groups(kit)})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        hits = self._layered.of(live).retrieve(query, limit)
        return self.base.finish(query, [without_dense(hit) for hit in hits])

    def _groups(self, kit: Kit) -> list[list[str]]:
        return []

    def _parts_of(self, page: Sequence[Chunk]) -> Iterator[Record]:
        for chunk in page:
            texts = self._texts(chunk.text)
            for text in texts if len(texts) > 1 else ():
                id = record_id(chunk.heading, text, chunk.language)
                yield Record(id, text, (chunk.id,), chunk.url, chunk.heading, chunk.language)

    def _texts(self, text: str) -> list[str]:
        if self.options.mode == "window":
            return [one.text for one in sentences(text)]
        return children(text, self.options.child)

    def _store(self, kit: Kit, records: Sequence[Record]) -> None:
        reads = kit.embedder.languages
        read = [r for r in records if not reads or not r.language or r.language in reads]
        kit.vectors(KIND, [replace(r, text=f"{r.title}\n\n{r.text}" if r.title else r.text) for r in read])
        kit.words(KIND, records)
WORDS = 0.0
def without_dense(h):
    return replace(h, scores={k: v for k, v in h.scores.items() if k != "dense"})
