"""Which chunks bear on the question, and whether the site answers it at all.

A cosine alone cannot tell a near miss from an answer, so answerability joins several signs: how near the
sentences and headings that fit best come in meaning, how much of the question's weight (rare words count
more) the best chunk holds, how much of it stands in words or names that the site never uses, and whether
the kind of fact that is asked for, such as a price, is there at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from server.answering.answer_kinds import lacks_what_is_asked_for
from server.answering.understanding.question_words import (
    QuestionWords,
    editions,
    lacks_edition,
    names,
    question_words,
)
from server.answering.writing.units import units
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Calibration
from server.domain.protocols import Embedder, ModelError
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.parts import cosines
from server.retrieval.question_kinds import asks_for_themes
from server.retrieval.rarity import Rarity, chunk_words, coverage, text_tokens

DEFAULT_FLOOR = 0.35
"""The coefficients below were fitted so that about 5 of 100 answerable questions fall under it."""
NEAR = 8
"""Chunks of which the one that covers most of the question counts."""
READ = 3
"""Chunks whose sentences are compared with the question."""
SENTENCES, HEADINGS = 4, 5
"""So many are embedded, which takes most of the time."""
LONGEST = 300
"""Characters of a sentence that are compared."""
BELOW, ABOVE = 0.1, 0.2
"""How far the nearness of sentences may lie from that of their chunk, which is known already. Sentences are
compared only where these bounds leave it open, 1 question in 5; 2 of 540 were judged otherwise by that."""
KEEP = 0.55
"""A chunk is kept when its score is at least this share of the best one's."""
LIMIT = 6
THEMES = 8
"""So many themes of the site are told."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for and against that a question can be answered."""

    nearness: float | None
    """In meaning, by the site's calibration: 0 off topic. None when the embedder cannot tell."""
    covered: float
    """Share of the question's weight that the best chunk holds."""
    unused: float
    """Share of it in words that the site never uses."""
    strangers: int
    """Names that the site never mentions."""
    other_edition: bool
    """Whether a version is asked for that no chunk speaks of; all else in such a question fits."""
    lacks_kind: bool
    """Whether a price, a number to call or the like is asked for and not there."""

    def answerability(self) -> float:
        """Probability-like value in [0, 1]; coefficients fitted on answerable and unanswerable questions."""
        against = 1.0 * self.lacks_kind + 3.0 * self.other_edition
        if self.nearness is None:
            value = 0.1 + 1.2 * self.covered - 2.6 * self.unused - 2.4 * min(1, self.strangers) - against
        else:
            value = -2.2 + 5.5 * self.nearness + 1.3 * self.covered - 1.8 * self.unused - against
            value -= 1.3 * min(1, self.strangers)
        return 1 / (1 + math.exp(-value))


@dataclass(frozen=True, slots=True)
class Judged:
    """What a grader kept, and the evidence beside the floor that it had to reach."""

    kept: list[ScoredChunk]
    answerability: float | None = None
    """None where the floor is not asked, as for the themes of a site."""
    floor: float = 0.0


class TextVectors(Protocol):
    """Vectors of sentences and headings that are stored with their chunks."""

    def of(self, wanted: Mapping[str, Sequence[str]]) -> Mapping[str, NDArray[np.float32]]:
        """By text; `wanted` names texts by chunk id. Raises ModelError."""


class EvidenceGrader:
    """Implements Grader without a model."""

    def __init__(
        self,
        rarity: Rarity,
        embedder: Embedder,
        calibration: Calibration,
        floor: float = DEFAULT_FLOOR,
        vectors: TextVectors | None = None,
    ) -> None:
        """Below `floor` the site is taken not to answer. Without stored `vectors`, sentences are embedded
        for each question."""
        self._vectors = vectors
        self._rarity = rarity
        self._embedder = embedder
        self._calibration = calibration
        self._floor = floor

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """The chunks near the best one; [] when the evidence is under the floor.

        A question for all that the site has is answered by chunks that stand for its themes, or not here:
        that a page shares the words "main" and "topics" with it says nothing.
        """
        return self.judged(query, chunks).kept

    def judged(self, query: Query, chunks: Sequence[ScoredChunk]) -> Judged:
        """What `keep` keeps, with what it was kept by."""
        themes = [hit for hit in chunks if hit.theme]
        if themes or asks_for_themes(query.text):
            return Judged(themes[:THEMES])
        found = self.quick_answerability(query, chunks)
        kept = [hit for hit in chunks if hit.score >= KEEP * chunks[0].score][:LIMIT]
        return Judged(kept if chunks and found >= self._floor else [], found, self._floor)

    def answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """In [0, 1]; 0 for no chunks. By all signs, so that questions compare with each other."""
        return self.signs(query, chunks).answerability() if chunks else 0.0

    def quick_answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """On the same side of the floor, mostly without embedding anything; it ranks questions less well."""
        if not chunks:
            return 0.0
        signs = self._without_nearness(query, chunks)
        rough = self._rough_nearness(query, chunks)
        if rough is not None:
            bounds = (replace(signs, nearness=rough + by).answerability() for by in (-BELOW, ABOVE))
            if len({value >= self._floor for value in bounds}) == 1:
                return replace(signs, nearness=rough).answerability()
        return self.signs(query, chunks).answerability()

    def signs(self, query: Query, chunks: Sequence[ScoredChunk]) -> Signs:
        """The signs for `query` in retrieved `chunks`, best first."""
        asked = question_words(self._rarity, query)
        return replace(self._without_nearness(query, chunks), nearness=self._nearness(query, chunks, asked))

    def _without_nearness(self, query: Query, chunks: Sequence[ScoredChunk]) -> Signs:
        asked = question_words(self._rarity, query)
        held = [chunk_words(hit.chunk) for hit in chunks[:NEAR]]
        text = "\n".join(f"{hit.chunk.heading}\n{hit.chunk.text}" for hit in chunks)
        return Signs(
            nearness=None,
            covered=max((coverage(asked.weights, present) for present in held), default=0.0),
            unused=asked.unused,
            strangers=self._strangers(query),
            other_edition=any(lacks_edition(text, *named) for named in editions(query.text)),
            lacks_kind=lacks_what_is_asked_for(query.text, text),
        )

    def _rough_nearness(self, query: Query, chunks: Sequence[ScoredChunk]) -> float | None:
        """That of the chunks; None when it was measured with the site's title, or not at all."""
        known = [hit.scores["dense"] for hit in chunks[:READ] if "dense" in hit.scores]
        reads = self._embedder.languages
        if query.title or not known or (reads and query.language not in reads):
            return None
        return self._calibration.nearness(max(known))

    def _nearness(self, query: Query, chunks: Sequence[ScoredChunk], asked: QuestionWords) -> float | None:
        """Mean of the nearest sentence and the nearest heading, for the question without the site's title."""
        reads = self._embedder.languages
        if reads and query.language not in reads:
            return None
        sentences = _best_sentences(chunks[:READ], asked)
        headings = [(hit.chunk.id, _last_heading(hit.chunk)) for hit in chunks[:HEADINGS]]
        try:
            similar = self._similarities(query.text, [*sentences, *headings])
        except ModelError:
            return None  # the words decide alone; the failure itself was reported by the retrieval
        best = [max((similar[t] for _, t in group if t), default=0.0) for group in (sentences, headings)]
        return self._calibration.nearness(sum(best) / 2)

    def _similarities(self, asked: str, texts: Sequence[tuple[str, str]]) -> dict[str, float]:
        """Cosine of the question with each text, given with its chunk's id. Raises ModelError."""
        wanted: dict[str, list[str]] = {}
        for chunk_id, text in texts:
            if text:
                wanted.setdefault(chunk_id, []).append(text)
        several = list(dict.fromkeys(text for some in wanted.values() for text in some))
        if self._vectors is None:
            vector, *others = self._embedder.embed([asked, *several])
            return dict(zip(several, cosines(vector, others), strict=True))
        stored = self._vectors.of(wanted)
        vector = self._embedder.embed([asked])[0]
        others = [stored[text].tolist() for text in several]
        return dict(zip(several, cosines(vector, others), strict=True))

    def _strangers(self, query: Query) -> int:
        found = [tokens(name, query.language)[:1] for name in names(query.text, query.language)]
        return len(self._rarity.unused([token for first in found for token in first]))


def compared_texts(chunk: Chunk) -> list[str]:
    """The texts of a chunk that a question may be compared with: its heading and its sentences."""
    texts = (_last_heading(chunk), *(unit.quote[:LONGEST] for unit in units(chunk.text)))
    return list(dict.fromkeys(text for text in texts if text))


def _best_sentences(chunks: Sequence[ScoredChunk], asked: QuestionWords) -> list[tuple[str, str]]:
    """Those with most of the question's words, for which their heading counts too; each with the id of its
    chunk."""
    scored = []
    for rank, hit in enumerate(chunks):
        heading = frozenset(text_tokens(hit.chunk.heading, hit.chunk.language))
        for unit in units(hit.chunk.text):
            present = frozenset(text_tokens(unit.text, hit.chunk.language))
            own = coverage(asked.weights, present)
            score = coverage(asked.weights, present | heading) * (0.5 + 0.5 * own) - 0.03 * rank
            scored.append((score, hit.chunk.id, unit.quote[:LONGEST]))
    scored.sort(key=lambda one: -one[0])
    return [(chunk_id, text) for _, chunk_id, text in scored[:SENTENCES]]


def _last_heading(chunk: Chunk) -> str:
    return chunk.heading_path[-1] if chunk.heading_path else chunk.title
