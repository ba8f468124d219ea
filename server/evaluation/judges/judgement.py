"""What a judge is given, and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

VERSION = 2
"""Raise it when a judge asks or counts otherwise: what it said before is then asked again."""

TRIAD = ("context_relevance", "groundedness", "answer_relevance")
CLAIMS = (
    "precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization",
    "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination", "self_knowledge",
    "faithfulness",
)  # fmt: skip
LIKENESS = ("token_f1", "tfidf_cosine")
"""Of answer and reference; the twin's alone."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer with what it was made from."""

    question: str
    answer: str
    """Without markers of citations; empty for a refusal."""
    passages: tuple[str, ...]
    """What was retrieved, best first."""
    reference: str = ""
    """What a right answer says; empty when that is not known."""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Figures in [0, 1] by name; what could not be judged is missing, never 0."""

    figures: dict[str, float] = field(default_factory=dict)
    asked: int = 0
    """Replies that were asked of a model."""
    unread: list[str] = field(default_factory=list)
    """What was asked in those that could not be read."""
    used: dict[str, float] = field(default_factory=dict)
    """Calls, tokens and money."""


class Judge(Protocol):
    """Judges answers. Raises ModelError when a model cannot be asked at all."""

    @property
    def name(self) -> str:
        """Heads a table of its own: figures of two judges are never mixed."""

    def judge(self, sample: Sample) -> Judgement:
        """The triad, and with a reference the claim metrics too."""

    def is_right(self, question: str, reference: str, answer: str, language: str) -> bool | None:
        """Return whether the answer says what the reference says; None when the reply could not be read."""


Matrix = Sequence[Sequence[bool]]
"""A row for each claim, a column for each text."""


def means(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Each figure's mean over the answers that it is known of."""
    by_name: dict[str, list[float]] = {}
    for one in judgements:
        for name, value in one.figures.items():
            by_name.setdefault(name, []).append(value)
    known = [*TRIAD, *CLAIMS, *LIKENESS]
    return {
        name: round(sum(by_name[name]) / len(by_name[name]), 4)
        for name in sorted(by_name, key=lambda name: known.index(name) if name in known else len(known))
    }


def used_together(judgements: Sequence[Judgement]) -> Mapping[str, float]:
    """Sums of what they took."""
    names = ("calls", "tokens_in", "tokens_out", "cost")
    return {name: round(sum(one.used.get(name, 0) for one in judgements), 6) for name in names}


Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Labels:
    """What entails what, for one question."""

    correct: tuple[bool, ...]
    """Each claim of the answer: whether the reference entails it."""
    recalled: tuple[bool, ...]
    """Each claim of the reference: whether the answer entails it."""
    supported: Matrix
    """Claims of the answer x passages."""
    found: Matrix
    """Claims of the reference x passages."""


def claim_metrics(labels: Labels) -> dict[str, float]:
    """All of them; 0 where there is nothing to divide by."""
    correct, recalled = np.array(labels.correct, bool), np.array(labels.recalled, bool)
    retrieved: Booleans
    relevant: Booleans
    grounded: Booleans
    supported, found = _matrix(labels.supported), _matrix(labels.found)
    retrieved = np.asarray(found.any(axis=1)) if found.size else np.zeros(len(recalled), bool)
    relevant = np.asarray(found.any(axis=0)) if found.size else np.zeros(supported.shape[1], bool)
    grounded = np.asarray(supported.any(axis=1)) if supported.size else np.zeros(len(correct), bool)
    in_relevant = (supported & relevant).any(axis=1) if supported.size else grounded
    precision, recall = _share(correct), _share(recalled)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision and recall else 0.0,
        "claim_recall": _share(retrieved),
        "context_precision": _share(relevant),
        "context_utilization": _share(recalled[retrieved]) if retrieved.size else 0.0,
        "noise_sensitivity_in_relevant": _share(in_relevant & ~correct),
        # What a relevant passage supports too is its doing: a wrong claim counts once.
        "noise_sensitivity_in_irrelevant": _share(grounded & ~in_relevant & ~correct),
        "hallucination": _share(~grounded & ~correct) if supported.size else 0.0,
        "self_knowledge": _share(~grounded & correct) if supported.size else 0.0,
        "faithfulness": _share(grounded),
    }


def _matrix(rows: Matrix) -> Booleans:
    return np.array(rows, bool) if len(rows) and len(rows[0]) else np.zeros((len(rows), 0), bool)


def _share(values: Booleans) -> float:
    return float(values.mean()) if values.size else 0.0
