"""Questions that chunks answer, indexed beside them: a visitor's question is compared with questions.

After doc2query (Nogueira, Yang, Lin and Cho 2019), with the questions in an index of their own, so that a
match tells which question it was. See docs/strategies/questions.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, ClassVar

from pydantic import Field

from server.domain.chunk import ScoredChunk
from server.domain.derived import Record
from server.domain.question import Query
from server.indexes.postings import K1
from server.indexes.tokens import tokens
from server.retrieval.derived.artefact import Artefact
from server.retrieval.derived.kit import Kit
from server.retrieval.derived.strategy import DerivedStrategy
from server.retrieval.fusion import Words
from server.retrieval.options import StrategyOptions
from server.retrieval.parts import ranked
from server.retrieval.questions.found import from_faq, from_headings, from_links, made
from server.retrieval.questions.generated import question_task
from server.retrieval.rarity import Rarity

KIND = "questions"
NEAREST = 60
"""Questions by meaning, and by words, that are compared with the query."""
UNLIKE = 0.4
"""Likeness up to which two questions are not alike: most pairs of one site reach it by chance."""
OF_HEADINGS = ("title", "heading")
"""Kinds of questions that stand over their chunks already."""


@dataclass(frozen=True)
class QuestionsOptions(StrategyOptions):
    """Options of `questions`."""

    QUERY: ClassVar[frozenset[str]] = frozenset({"weight", "meaning"})

    per_chunk: Annotated[int, Field(ge=1, le=20)] = 5
    """Questions that the chat model is asked for, for each chunk."""
    headings: bool = True
    """Whether titles and headings count as questions."""
    faq: bool = True
    """Whether questions of FAQ markup do."""
    links: bool = True
    """Whether the words of links to a page do."""
    weight: Annotated[float, Field(ge=0, le=1)] = 0.8
    """How much a question that is put alike counts beside hybrid's score; 0: nothing."""
    meaning: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Share of the meaning when two questions are compared; the rest is their words'."""


class QuestionsStrategy(DerivedStrategy[QuestionsOptions]):
    """Hybrid, with what the questions say that a chunk answers."""

    row = "questions"
    Options = QuestionsOptions

    def derive(self, kit: Kit) -> Artefact:
        """All questions of the site, each with its chunks."""
        pages = [list(page) for _, page in groupby(kit.chunks, key=lambda chunk: chunk.url)]
        facts = {page[0].url: kit.text.facts(page[0].url) for page in pages}
        records: list[Record] = []
        for number, page in enumerate(pages):
            if number % 50 == 0:
                kit.monitor.step("questions", number, len(pages))
            if self.options.faq:
                records += from_faq(page, facts[page[0].url])
            if self.options.headings:
                records += from_headings(page)
        if self.options.links:
            records += from_links({page[0].url: page for page in pages}, facts)
        records += self._generated(kit)
        asked = list({record.id: record for record in records}.values())
        kit.vectors(KIND, asked)
        kit.words(KIND, asked)
        return Artefact({KIND: asked})

    def _generated(self, kit: Kit) -> list[Record]:
        if self.model is None:
            return []
        tasks = [question_task(chunk, self.options.per_chunk) for chunk in kit.chunks]
        replies = kit.asking.all("questions", tasks)
        return [
            made("model", text, [chunk])
            for chunk, texts in zip(kit.chunks, replies, strict=True)
            for text in texts
        ]

    def search(self, query: Query, limit: int, live: Artefact) -> list[ScoredChunk]:
        """Each chunk's score by hybrid, raised by the best question that names the chunk."""
        found = self.base.retrieve(query, max(limit, NEAREST))
        best = self._best(query, live)
        missing = sorted(set(best) - {hit.chunk.id for hit in found})
        found += self.chunks_of(dict.fromkeys(missing, 0.0))
        raised = [self._raised(hit, best.get(hit.chunk.id)) for hit in found]
        return self.base.finish(query, ranked(raised, limit))

    def _raised(self, hit: ScoredChunk, asked: tuple[Record, float] | None) -> ScoredChunk:
        if asked is None:
            return hit
        record, likeness = asked
        # Either may be right by itself, as two witnesses may; a question unlike the query says nothing.
        total = 1 - (1 - hit.score) * (1 - self.options.weight * likeness)
        scores = {**hit.scores, "question": round(likeness, 4)}
        context = "" if record.data["kind"] in OF_HEADINGS else f"Asked here: {record.text}"
        return replace(hit, score=total, scores=scores, context=context, why=f"it answers “{record.text}”")

    def _best(self, query: Query, live: Artefact) -> dict[str, tuple[Record, float]]:
        """Chunk -> the question most like the query that names it, and how much it is above UNLIKE."""
        scored = self._scored(query, live)
        best: dict[str, tuple[Record, float]] = {}
        for record, score in sorted(scored, key=lambda pair: (-pair[1], pair[0].id)):
            for source in record.sources if score > UNLIKE else ():
                best.setdefault(source, (record, min(1.0, (score - UNLIKE) / (1 - UNLIKE))))
        return best

    def _scored(self, query: Query, live: Artefact) -> list[tuple[Record, float]]:
        vector = self._parts.embedder.embed([query.searched_text])[0]
        near = {record.id: max(0.0, cosine) for record, cosine in self.nearest(KIND, vector, NEAREST, live)}
        worded = {record.id: score for record, score in self.worded(KIND, query.text, NEAREST, live)}
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        rarity = Rarity(self.side(KIND).words)
        ceiling = (K1 + 1) * sum(rarity.weights(asked).values()) if asked else 0.0
        weights = {id: self._meaning(query, live.by_id[id]) for id in {**near, **worded}}
        shares = Words(worded, ceiling).shares()
        return [
            (live.by_id[id], weight * near.get(id, 0.0) + (1 - weight) * shares.get(id, 0.0))
            for id, weight in weights.items()
        ]

    def _meaning(self, query: Query, record: Record) -> float:
        reads = self._parts.embedder.languages
        unread = reads and any(one and one not in reads for one in (query.language, record.language))
        return self._parts.tuning.unread_weight if unread else self.options.meaning
