"""Personalised PageRank by sparse power iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

Floats = NDArray[np.float32]
TOLERANCE = 1e-2
"""Change of all ranks together below which a round is the last: smaller ones changed no result measured."""
MOST_ROUNDS = 100


def walks(edges: csr_matrix) -> csr_matrix:
    """Where a walker goes: column j holds the share of each neighbour of node j. `edges` is symmetric."""
    degree = np.asarray(edges.sum(axis=0)).ravel()
    shares = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    walk: csr_matrix = (edges @ diags(shares)).tocsr().astype(np.float32)
    walk.sort_indices()
    return walk


def pagerank(walk: csr_matrix, reset: Floats, damping: float, tolerance: float = TOLERANCE) -> Floats:
    """The share of its time that a walker spends at each node who follows an edge with probability
    `damping` and else starts again at a node drawn by `reset`; so he does at a node without edges.

    Sums to 1; zeros for a `reset` of zeros.
    """
    total = float(reset.sum())
    if total <= 0:
        return np.zeros_like(reset, np.float32)
    start = (reset / total).astype(np.float32)
    rank = start
    for _ in range(MOST_ROUNDS):
        followed = damping * (walk @ rank)
        moved = (followed + (1 - float(followed.sum())) * start).astype(np.float32)
        change = float(np.abs(moved - rank).sum())
        rank = moved
        if change < tolerance:
            break
    return rank
