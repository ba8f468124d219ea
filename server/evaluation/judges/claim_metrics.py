"""Claim-level metrics, as RAGChecker defines them (Ru et al., 2024): boolean algebra over entailment labels.

Which claims there are, and what entails them, is the judge's business: a model's or the word-cover twin's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.evaluation.judges.judgement import Matrix

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
