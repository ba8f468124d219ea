"""The judge that needs no model: it counts words."""

from __future__ import annotations

import re

from server.evaluation.judges.claim_metrics import Labels, claim_metrics
from server.evaluation.judges.judgement import Judgement, Sample
from server.evaluation.judges.word_cover import (
    Weights,
    claims_of,
    entailed,
    entails,
    tfidf_cosine,
    token_f1,
)
from server.indexes.tokens import tokens
from server.retrieval.rarity import coverage, text_tokens

SHORT = 6
SHORT_TOKENS = 8
"""A reference of at most so many words, and tokens (for scripts without spaces), is looked for as it is."""
OF_ANSWER = ("precision", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination",
             "self_knowledge", "faithfulness")  # fmt: skip
"""Claim metrics that a refusal, which claims nothing, has no share in."""
OF_REFERENCE = ("precision", "f1", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant",
                "hallucination", "self_knowledge")  # fmt: skip
"""Those that ask which claims are right: a name or a date alone cannot vouch for whole sentences."""
BARE = re.compile(r"(?i)\W*(yes|no|true|false)\W*")
"""A reference that says nothing without its question."""


class EmbeddedJudge:
    """Implements Judge by the cover of words. Figures of one kind can be compared with each other, not with
    those of a model."""

    name = "embedded"

    def __init__(self, weights: Weights) -> None:
        """How much each word tells on the site that is judged."""
        self._weights = weights

    def judge(self, sample: Sample) -> Judgement:
        """Every figure that the sample allows."""
        figures = self._triad(sample)
        if sample.reference and not BARE.fullmatch(sample.reference):
            figures |= self._claims(sample)
        return Judgement({name: round(value, 4) for name, value in figures.items()})

    def is_right(self, question: str, reference: str, answer: str, language: str) -> bool | None:
        """A short reference stands in the answer; of a long one half of the claims are covered by it."""
        if not answer:
            return False
        if _is_short(reference):
            return _folded(reference) in _folded(answer)
        claims = claims_of(reference, language)
        return 2 * sum(entails(answer, claim, language) for claim in claims) >= len(claims)

    def _triad(self, sample: Sample) -> dict[str, float]:
        figures = {}
        weights = dict(self._weights(list(dict.fromkeys(tokens(sample.question, sample.language)))))
        if sample.passages and weights:
            covered = [
                coverage(weights, frozenset(text_tokens(text, sample.language))) for text in sample.passages
            ]
            figures["context_relevance"] = sum(covered) / len(covered)
        if not sample.answer:
            return figures
        rows = entailed(claims_of(sample.answer, sample.language), sample.passages, sample.language)
        if rows:
            figures["groundedness"] = sum(any(row) for row in rows) / len(rows)
        figures["answer_relevance"] = tfidf_cosine(
            sample.question, sample.answer, sample.language, self._weights
        )
        return figures

    def _claims(self, sample: Sample) -> dict[str, float]:
        language, reference, answer = sample.language, sample.reference, sample.answer
        said, wanted = claims_of(answer, language), claims_of(reference, language)
        labels = Labels(
            correct=tuple(entails(reference, claim, language) for claim in said),
            recalled=tuple(entails(answer, claim, language) for claim in wanted),
            supported=entailed(said, sample.passages, language),
            found=entailed(wanted, sample.passages, language),
        )
        figures = claim_metrics(labels)
        unknown = (*(() if said else OF_ANSWER), *(OF_REFERENCE if _is_short(reference) else ()))
        figures = {name: value for name, value in figures.items() if name not in unknown}
        figures["token_f1"] = token_f1(answer, reference, language)
        figures["tfidf_cosine"] = tfidf_cosine(answer, reference, language, self._weights)
        return figures


def _is_short(reference: str) -> bool:
    return len(reference.split()) <= SHORT and len(tokens(reference, "")) <= SHORT_TOKENS


def _folded(text: str) -> str:
    """Words alone, with a space at each end, so that "art" does not stand in "part"."""
    words = re.findall(r"\w+", text.casefold())
    # Characters of scripts without spaces have no words' ends to look for.
    joined = " ".join(words)
    return joined if not joined.isascii() else f" {joined} "
