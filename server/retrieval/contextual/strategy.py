"""Contextual retrieval, after Anthropic (anthropic.com/news/contextual-retrieval)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Record, record_id
from server.domain.question import Query
from server.retrieval.contextual.options import ContextualOptions
from server.retrieval.contextual.pieces import Pieces, documents
from server.retrieval.contextual.situating import tasks
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.layered import LayeredSearch
from server.retrieval.derived.strategy import DerivedStrategy, with_context
from server.retrieval.parts import Parts

KIND = "situated"
CALLS = "contexts"
BATCH = 1000
"""Chunks that are situated and stored at once."""


class ContextualStrategy(DerivedStrategy[ContextualOptions]):
    """Searches chunks with the text that situates them, in vectors and words; returns the chunks."""

    row = "contextual"
    Options: ClassVar[type[Any]] = ContextualOptions

    def __init__(self, parts: Parts, options: ContextualOptions | None = None) -> None:
        super().__init__(parts, options)
        chosen = self.options
        if chosen.fusion == "published":
            tuning = replace(parts.tuning, fusion="reciprocal", dense_weight=0.8)
            parts = replace(parts, tuning=tuning)
        of_vectors = chosen.vectors if chosen.embed == "joined" else 0.0
        self._layered = LayeredSearch(self, parts, KIND, (of_vectors, chosen.words))

    def derive(self, kit: Kit) -> Artefact:
        """A record for each chunk; its text is the context."""
        records: list[Record] = []
        situated = self._situated(kit)
        while batch := list(islice(situated, BATCH)):
            records += self._stored(kit, batch)
        return Artefact({KIND: records})

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """As hybrid does, over the situated chunks."""
        hits = self._layered.of(live).retrieve(query, limit)
        return self.base.finish(query, [self._told(hit, live) for hit in hits])

    def _told(self, hit: ScoredChunk, live: Artefact) -> ScoredChunk:
        # What hybrid calls "dense" is the situated text's here; the grader reads that of the chunk alone.
        scores = {"situated" if name == "dense" else name: score for name, score in hit.scores.items()}
        told = replace(hit, scores=scores)
        records = live.of_source.get(hit.chunk.id)
        return with_context(told, records[0].text, "found in its context") if records else told

    def _situated(self, kit: Kit) -> Iterator[tuple[Chunk, str]]:
        """Every chunk with its context, by page and position."""
        pieces, done = Pieces(self.options), 0
        of_documents = documents(kit.text.pages())
        while batch := list(_about(of_documents, BATCH)):
            said = iter(self._said(kit, batch) if self.model else ())
            for document in batch:
                kit.monitor.step("situating chunks", done, len(kit.chunks))
                contexts = pieces.of(document, kit.text.facts(document[0].url))
                for chunk, without_model in zip(document, contexts, strict=True):
                    yield chunk, "\n".join(filter(None, (next(said, ""), without_model)))
                done += len(document)

    def _said(self, kit: Kit, batch: Sequence[list[Chunk]]) -> list[str]:
        """By the model, of each chunk; prompts hold whole pages, so they are made for one batch at a time."""
        return kit.asking.all(CALLS, [task for document in batch for task in tasks(document)])

    def _stored(self, kit: Kit, batch: Sequence[tuple[Chunk, str]]) -> list[Record]:
        records = [_record(chunk, context) for chunk, context in batch]
        if self.options.embed == "joined":
            joined = [
                replace(record, text=_joined(chunk.indexed_text, record.text))
                for (chunk, _), record in zip(batch, records, strict=True)
            ]
            kit.vectors(KIND, joined)
        kit.word_chunks(
            KIND,
            [
                replace(chunk, id=record.id, text=_joined(chunk.text, record.text))
                for (chunk, _), record in zip(batch, records, strict=True)
            ],
        )
        return records


def _about(documents: Iterator[list[Chunk]], most: int) -> Iterator[list[Chunk]]:
    """The next documents, until they have `most` chunks."""
    count = 0
    for document in documents:
        yield document
        count += len(document)
        if count >= most:
            return


def _record(chunk: Chunk, context: str) -> Record:
    id = record_id(chunk.id, chunk.title, context)
    return Record(id, context, (chunk.id,), chunk.url, "", chunk.language)


def _joined(text: str, context: str) -> str:
    """The context behind the text: an embedder that reads only so much reads the text."""
    return f"{text}\n\n{context}" if context else text
