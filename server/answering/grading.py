"""Decides which chunks are relevant, and whether the site answers the question at all.

A cosine alone cannot tell a near miss from an answer, so answerability combines several signals: how close
the best sentences and headings are in meaning, how much of the question's weight (rare words count more) the
best chunk contains, how much of that weight is in words or names that the site never uses, and whether the
requested kind of fact, such as a price, occurs at all.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from server.answering.answer_kinds import lacks_requested_fact
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
"""The coefficients below were fitted so that about 5% of answerable questions fall below this floor."""
NEAR = 8
"""Number of top chunks among which the best coverage of the question counts."""
READ = 3
"""Number of chunks whose sentences are compared with the question."""
SENTENCES, HEADINGS = 4, 5
"""How many sentences and headings are embedded, the slowest part of grading."""
LONGEST = 300
"""Characters of a sentence that are compared."""
BELOW, ABOVE = 0.1, 0.2
"""How far a sentence's nearness may differ from its chunk's, which is already known. Sentences are compared
only when the verdict depends on it: for 1 question in 5. This changed 2 verdicts of 540."""
KEEP = 0.55
"""A chunk is kept when its score is at least this share of the best score."""
LIMIT = 6
THEMES = 8
"""Maximum number of themes in an answer about the whole site."""


@dataclass(frozen=True, slots=True)
class Signs:
    """Signals for and against a question being answerable."""

    nearness: float | None
    """Closeness in meaning, by the site's calibration: 0 is off topic. None when the embedder cannot tell."""
    covered: float
    """Share of the question's weight that the best chunk contains."""
    unused: float
    """Share of the question's weight in words that the site never uses."""
    unknown_names: int
    """Number of names in the question that the site never mentions."""
    other_edition: bool
    """Whether the question names a version that no chunk mentions. The rest of such a question fits well."""
    lacks_kind: bool
    """Whether the question asks for a price, a phone number or the like that no chunk contains."""

    def answerability(self) -> float:
        """Probability-like value in [0, 1]; coefficients fitted on answerable and unanswerable questions."""
        against = 1.0 * self.lacks_kind + 3.0 * self.other_edition
        if self.nearness is None:
            value = 0.1 + 1.2 * self.covered - 2.6 * self.unused - 2.4 * min(1, self.unknown_names) - against
        else:
            value = -2.2 + 5.5 * self.nearness + 1.3 * self.covered - 1.8 * self.unused - against
            value -= 1.3 * min(1, self.unknown_names)
        return 1 / (1 + math.exp(-value))


@dataclass(frozen=True, slots=True)
class GradedChunks:
    """Chunks that a grader kept, with their answerability and the floor it had to reach."""

    kept: list[ScoredChunk]
    answerability: float | None = None
    """None when the floor does not apply, as for the themes of a site."""
    floor: float = 0.0


class TextVectors(Protocol):
    """Vectors of sentences and headings, stored by chunk."""

    def of(self, wanted: Mapping[str, Sequence[str]]) -> Mapping[str, NDArray[np.float32]]:
        """Return the vector of each text; `wanted` lists texts by chunk id. Raises ModelError."""


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
        """Below `floor` the site counts as having no answer. Without stored `vectors`, sentences are
        embedded for each question."""
        self._vectors = vectors
        self._rarity = rarity
        self._embedder = embedder
        self._calibration = calibration
        self._floor = floor

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the chunks that score near the best one; [] when the evidence is below the floor.

        A question about the whole site is answered only by chunks that represent its themes: a page that
        shares the words "main" and "topics" with the question is no evidence.
        """
        return self.grade(query, chunks).kept

    def grade(self, query: Query, chunks: Sequence[ScoredChunk]) -> GradedChunks:
        """Return the chunks that `keep` keeps, with their answerability and the floor."""
        themes = [hit for hit in chunks if hit.theme]
        if themes or asks_for_themes(query.text):
            return GradedChunks(themes[:THEMES])
        found = self.quick_answerability(query, chunks)
        kept = [hit for hit in chunks if hit.score >= KEEP * chunks[0].score][:LIMIT]
        return GradedChunks(kept if chunks and found >= self._floor else [], found, self._floor)

    def answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """Return a value in [0, 1] from all signals, comparable between questions; 0 for no chunks."""
        return self.signs(query, chunks).answerability() if chunks else 0.0

    def quick_answerability(self, query: Query, chunks: Sequence[ScoredChunk]) -> float:
        """Return a value on the same side of the floor, usually without embedding; not for ranking."""
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
        """Return the signals for `query` in the retrieved `chunks`, best first."""
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
            unknown_names=self._unknown_names(query),
            other_edition=any(lacks_edition(text, *named) for named in editions(query.text)),
            lacks_kind=lacks_requested_fact(query.text, text),
        )

    def _rough_nearness(self, query: Query, chunks: Sequence[ScoredChunk]) -> float | None:
        """Return the nearness of the chunks; None when it was not measured, or with the site's title."""
        known = [hit.scores["dense"] for hit in chunks[:READ] if "dense" in hit.scores]
        reads = self._embedder.languages
        if query.title or not known or (reads and query.language not in reads):
            return None
        return self._calibration.nearness(max(known))

    def _nearness(self, query: Query, chunks: Sequence[ScoredChunk], asked: QuestionWords) -> float | None:
        """Return the mean of the nearest sentence and heading, for the question without the site's title."""
        reads = self._embedder.languages
        if reads and query.language not in reads:
            return None
        sentences = _best_sentences(chunks[:READ], asked)
        headings = [(hit.chunk.id, _last_heading(hit.chunk)) for hit in chunks[:HEADINGS]]
        try:
            similar = self._similarities(query.text, [*sentences, *headings])
        except ModelError:
            return None  # decide by words only; retrieval has already reported the failure
        best = [max((similar[t] for _, t in group if t), default=0.0) for group in (sentences, headings)]
        return self._calibration.nearness(sum(best) / 2)

    def _similarities(self, asked: str, texts: Sequence[tuple[str, str]]) -> dict[str, float]:
        """Return the question's cosine with each text; `texts` are (chunk id, text). Raises ModelError."""
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

    def _unknown_names(self, query: Query) -> int:
        found = [tokens(name, query.language)[:1] for name in names(query.text, query.language)]
        return len(self._rarity.unused([token for first in found for token in first]))


def compared_texts(chunk: Chunk) -> list[str]:
    """Return the texts of a chunk that questions are compared with: its heading and sentences."""
    texts = (_last_heading(chunk), *(unit.quote[:LONGEST] for unit in units(chunk.text)))
    return list(dict.fromkeys(text for text in texts if text))


def _best_sentences(chunks: Sequence[ScoredChunk], asked: QuestionWords) -> list[tuple[str, str]]:
    """Return (chunk id, sentence) for the sentences that share most words with the question. Words of the
    heading count too."""
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
