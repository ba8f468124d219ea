"""The judge that needs no model: it counts words."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from server.answering.writing.units import UnitKind, units
from server.evaluation.judges.judgement import Judgement, Labels, Sample, claim_metrics
from server.indexes.tokens import tokens
from server.retrieval.rarity import coverage, text_tokens

COVER = 0.5
"""Share of a claim's tokens that a text must hold to entail it."""
FEWEST = 2
"""A claim of fewer tokens says nothing that could be checked."""
_MARKER = re.compile(r"\s*\[\d+\](?:\([^)]*\))?")
_HEADING = re.compile(r"^#{1,6} .*\n*", re.M)
_FENCE = re.compile(r"^```[\w+#-]+$", re.M)
"""How a model begins code in a language that it names; the text of a page never does."""
_LINK = re.compile(r"\[([^\]]*)\]\((?:<[^>]*>|[^)]*)\)")
_MARKDOWN = re.compile(r"[*_`>#]+|^\s*(?:-|\d+\.)\s+", re.M)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Weights = Callable[[Sequence[str]], Mapping[str, float]]
"""How much each token tells: server.retrieval.rarity.Rarity.weights."""


def plain(answer: str) -> str:
    """An answer without markers of citations and addresses of links."""
    return _LINK.sub(r"\1", _MARKER.sub("", answer)).strip()


def claims_of(text: str, language: str) -> list[str]:
    """Split a text into claims: sentences, items and rows, without headings and introductions."""
    found = []
    said = _FENCE.sub("```", _HEADING.sub("", plain(text)))
    for unit in units(said):
        claim = unit.quote if unit.kind is UnitKind.CODE else _MARKDOWN.sub("", unit.quote).strip()
        introduces = claim.endswith((":", "："))
        if not introduces and len(set(tokens(claim, language))) >= FEWEST:
            found.append(claim)
    whole = _MARKDOWN.sub("", said).strip()
    if not found and whole and not whole.endswith((":", "：")):
        return [whole]  # "Yes.", "42"
    return list(dict.fromkeys(found))


def entails(text: str, claim: str, language: str) -> bool:
    """Return whether a text holds enough of a claim's words, and all of its numbers."""
    wanted = set(tokens(claim, language))
    if not wanted:
        return claim.casefold() in text.casefold()
    numbers = set(_NUMBER.findall(claim))
    if numbers and not numbers <= set(_NUMBER.findall(text)):
        return False
    return len(wanted.intersection(text_tokens(text, language))) >= COVER * len(wanted)


def entailed(claims: Sequence[str], texts: Sequence[str], language: str) -> list[list[bool]]:
    """A row for each claim, a column for each text."""
    return [[entails(text, claim, language) for text in texts] for claim in claims]


def token_f1(one: str, other: str, language: str) -> float:
    """Harmonic mean of the shares of tokens that two texts have in common, repeated ones counted."""
    first, second = Counter(tokens(one, language)), Counter(tokens(other, language))
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0


def tfidf_cosine(one: str, other: str, language: str, weights: Weights) -> float:
    """Return the TF-IDF cosine of two texts, by the rarity of words on the site."""
    first, second = (Counter(tokens(text, language)) for text in (one, other))
    weight = weights(list(first | second))
    norms = math.prod(math.sqrt(sum((n * weight[t]) ** 2 for t, n in of.items())) for of in (first, second))
    dot = sum(first[token] * second[token] * weight[token] ** 2 for token in first.keys() & second.keys())
    return min(1.0, dot / norms) if norms else 0.0


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
