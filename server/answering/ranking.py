"""Ranks the sections that were found by how well they answer, without a model.

A linear score of a few features, whose weights were learned from questions with known answers by
`benchmarks.learn_ranking`: what the search gave, how much of the question the section and its headings
contain, how near its tokens, its best sentence and its heading come to the question in meaning, and whether
it has the kind of fact that is asked for. The weights are in learned.json.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from crawler.judging.page_kinds import POST
from server.answering.answer_kinds import expected_facts
from server.answering.understanding.discourse import asks_for_amount, says_number
from server.answering.writing.units import UnitKind, units
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.derived import Calibration
from server.domain.protocols import TOKEN_NUMBERS, TOKEN_SCALE, Embedder, ModelError, embedded
from server.domain.question import Query
from server.indexes.sentence_vectors import SentenceVectors, is_compared
from server.retrieval.hybrid import uncrowded
from server.retrieval.parts import ranked
from server.retrieval.rarity import Rarity, chunk_tokens, chunk_words, coverage
from server.retrieval.rerank import is_asked_for, standing

POOL = 16
"""Number of best results that are ranked; those after them keep their order."""
LONGEST = 300
"""Characters of a sentence that are compared."""
SECTION = (
    "relative",  # score of the search, as a share of the best one
    "dense_gap",  # how much farther than the nearest section, in meaning
    "coverage",  # share of the question's weight in the section and its headings
    "heading",  # the same in the headings
    "sentence",  # nearness of the best sentence
    "sentence_gap",  # how much farther than the nearest one of all sections
    "headline",  # nearness of the last heading
    "headline_gap",
    "tokens",  # nearness of the question's tokens to their nearest ones of the section
    "tokens_gap",
    "number",  # 1 if a number is asked for and there is one
    "fact",  # 1 for each requested kind of fact that it has, -1 for each that it lacks
)
"""Features of a section, in the order of the rows of `section_features`."""
ODDS = "odds"
"""Score of a hit: how likely its section answers, as a share of the likeliest one's likelihood."""
RIVAL = 0.5
"""A section that is at least so likely to answer, compared with the first one, may answer as well."""
COMPARISONS = ("tokens", "sentences", "letters", "words")
"""What questions can be compared with: tokens and sentences, sentences, or nothing but words, where the
embedder does not read the language; "letters" are tokens where it knows nothing but the letters of the
language. Each has weights of its own."""
LEARNED: dict[str, dict[str, dict[str, float]]] = json.loads(
    files("server.answering").joinpath("learned.json").read_text("utf-8")
)
"""Weights by comparison, then "section" or "answer"."""
_WEIGHTS = {by: np.array([LEARNED[by]["section"][name] for name in SECTION]) for by in COMPARISONS}


class Comparer:
    """Compares questions with sections in meaning. As a RetrievalStep, it compares the best results that no
    earlier step has compared, such as those of pinned pages."""

    name = "comparison in meaning"

    def __init__(
        self, embedder: Embedder, calibration: Calibration, vectors: SentenceVectors | None = None
    ) -> None:
        """Without stored `vectors`, nothing is compared."""
        self._embedder = embedder
        self._calibration = calibration
        self._vectors = vectors

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the results in their order. Themes are not compared."""
        new = [hit for hit in found[:POOL] if "sentence" not in hit.scores and not hit.theme]
        compared = {hit.chunk.id: hit for hit in self.compared(query, new)} if new else {}
        return [compared.get(hit.chunk.id, hit) for hit in found[:limit]]

    def compared(self, query: Query, hits: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the hits with the nearness of their best sentence, of their heading and of their tokens. For
        a language that the embedder does not read but whose letters it knows, only with that of tokens."""
        if self._vectors is None or not is_compared(self._embedder, query.language):
            return list(hits)
        is_read = not self._embedder.languages or query.language in self._embedder.languages
        texts = {hit.chunk.id: compared_texts(hit.chunk) for hit in hits} if is_read else {}
        try:
            stored = self._vectors.of([hit.chunk for hit in hits], sentences=is_read)
            asked = embedded(self._embedder, [query.meaning or query.text])[0]
        except ModelError:
            return list(hits)  # retrieval has already reported the failure
        tokens = token_nearness(asked.tokens or b"", [stored[hit.chunk.id].tokens for hit in hits])
        own = [place for place, hit in enumerate(hits) if texts.get(hit.chunk.id)]
        found = [
            hit.rescored(hit.score, {**hit.scores, "tokens": tokens[place]}) if place in tokens else hit
            for place, hit in enumerate(hits)
        ]
        if not own:
            return found
        vectors = [stored[hits[place].chunk.id] for place in own]
        rows = np.concatenate([one.texts for one in vectors]).astype(np.float32, copy=False)
        ends = list(accumulate(len(one.texts) for one in vectors))
        question = np.asarray(asked.vector, np.float32)
        for place, (start, end) in zip(own, pairwise([0, *ends]), strict=True):
            near = rows[start:end] @ question
            found[place] = self._with_nearness(found[place], texts[hits[place].chunk.id], near)
        return found

    def _with_nearness(
        self, hit: ScoredChunk, texts: tuple[str, ...], near: NDArray[np.float32]
    ) -> ScoredChunk:
        """Return the hit with the nearness of its `texts`, which is still a cosine."""
        headed = bool(last_heading(hit.chunk))
        first = int(headed and len(texts) > 1)
        best = first + int(near[first:].argmax())
        headline = self._calibration.nearness(float(near[0])) if headed else 0.0
        sentence = self._calibration.nearness(float(near[best]))
        scores = {**hit.scores, "sentence": sentence, "headline": headline}
        return hit.rescored(hit.score, scores, sentence=texts[best])


class SectionRanker:
    """Implements RetrievalStep."""

    name = "sections that answer"

    def __init__(self, rarity: Rarity, comparer: Comparer) -> None:
        self._rarity = rarity
        self._comparer = comparer

    def refine(self, query: Query, found: Sequence[ScoredChunk], limit: int) -> list[ScoredChunk]:
        """Return the results, best first, with the features as `scores`. Themes keep their order."""
        pool, rest = found[:POOL], found[POOL:]
        if not pool or any(hit.theme for hit in found):
            return list(found[:limit])
        pool = self._comparer.compared(query, pool)
        rows = section_features(query, pool, self._rarity)
        weights = _WEIGHTS[compared_by(pool)]
        values = rows @ weights
        best = max(hit.score for hit in pool)
        # On the scale of the search's scores, because later steps compare them.
        odds = np.exp(values - values.max())
        shares = odds ** (1 / weights[0])
        lowest = float(best * shares.min())
        weighed, stands = self._rarity.of(query), standing(query, pool)

        def score(hit: ScoredChunk, share: float) -> float:
            asked_for = hit.chunk.kind != POST or is_asked_for(hit.scores.get("title", 0.0), weighed)
            return best * share * stands(hit.chunk, asked_for)

        moved = [
            hit.rescored(
                score(hit, share), {**hit.scores, **dict(zip(SECTION, row, strict=True)), ODDS: likely}
            )
            for hit, share, row, likely in zip(
                pool, shares.tolist(), rows.round(4).tolist(), odds.round(4).tolist(), strict=True
            )
        ]
        after = [hit.rescored(min(hit.score, lowest)) for hit in rest]
        return [*uncrowded(ranked(moved, len(moved))), *after][:limit]


def compared_by(hits: Sequence[ScoredChunk]) -> str:
    """Return which of COMPARISONS was made of these hits. A feature without a value is 0."""
    has_sentences = any(hit.sentence or hit.scores.get("sentence") for hit in hits)
    if any(hit.scores.get("tokens") for hit in hits):
        return "tokens" if has_sentences else "letters"
    return "sentences" if has_sentences else "words"


def token_nearness(asked: bytes, held: Sequence[bytes | None]) -> dict[int, float]:
    """Return how near each token of a question is to its nearest one of each section, on average, in [-1, 1],
    by the place of the section; all as in `EmbeddedText`. Sections without tokens are left out.

    This is late interaction, as in ColBERT: https://arxiv.org/abs/2004.12832.
    """
    known = {place: tokens for place, tokens in enumerate(held) if tokens}
    if not (asked and known):
        return {}
    near = _token_rows(asked) @ _token_rows(b"".join(known.values())).T
    ends = np.cumsum([len(tokens) // TOKEN_NUMBERS for tokens in known.values()])
    best = np.maximum.reduceat(near, [0, *ends[:-1]], axis=1).mean(axis=0)
    return dict(zip(known, [value / TOKEN_SCALE**2 for value in best.tolist()], strict=True))


def _token_rows(tokens: bytes) -> NDArray[np.float32]:
    return np.frombuffer(tokens, np.int8).reshape(-1, TOKEN_NUMBERS).astype(np.float32)


def section_features(query: Query, hits: Sequence[ScoredChunk], rarity: Rarity) -> NDArray[np.float64]:
    """Return a row of the features SECTION for each hit."""
    weights = rarity.of(query)
    most = max(hit.score for hit in hits) or 1.0
    amount, facts = asks_for_amount(query.text), expected_facts(query.text)
    sentences, headlines, near, dense = (
        np.array([hit.scores.get(name, 0.0) for hit in hits])
        for name in ("sentence", "headline", "tokens", "dense")
    )
    compared = bool(sentences.any())
    gaps = dense - dense.max() if compared else np.zeros(len(hits))
    apart, headings_apart, tokens_apart = (values - values.max() for values in (sentences, headlines, near))
    rows = np.empty((len(hits), len(SECTION)))
    for place, hit in enumerate(hits):
        text = hit.chunk.text
        rows[place] = (
            hit.score / most,
            gaps[place],
            coverage(weights, chunk_words(hit.chunk)),
            coverage(weights, chunk_tokens(hit.chunk)[1]),
            sentences[place],
            apart[place],
            headlines[place],
            headings_apart[place],
            near[place],
            tokens_apart[place],
            float(amount and says_number(text, hit.chunk.language, query.text)),
            sum(1 if fact.search(text) else -1 for fact in facts) if facts else 0.0,
        )
    return rows


@lru_cache(maxsize=4_000)
def compared_texts(chunk: Chunk) -> tuple[str, ...]:
    """Return the texts of a chunk that questions are compared with: its heading, then its sentences; those of
    pictures only if it has no others."""
    found = units(chunk.text)
    read = [unit for unit in found if unit.kind is not UnitKind.PICTURE] or found
    texts = (last_heading(chunk), *(unit.quote[:LONGEST] for unit in read))
    return tuple(dict.fromkeys(filter(None, texts)))


def last_heading(chunk: Chunk) -> str:
    """Return the heading that the chunk is under, else the title of its page."""
    return chunk.heading_path[-1] if chunk.heading_path else chunk.title
