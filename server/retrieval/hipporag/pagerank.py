"""Personalised PageRank by sparse power iteration.

Edges go both ways, so the eigenvalues are real and every round can lean on the two before it (Chebyshev's
weights): a third of the rounds of plain iteration reach the same ranks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

Floats = NDArray[np.float32]
TOLERANCE = 2e-2
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
    before, rank, weight = np.zeros_like(start), start, 2.0
    for _ in range(MOST_ROUNDS):
        weight = 1 / (1 - damping**2 * weight / 4)
        moved = weight * (damping * (walk @ rank) + (1 - damping) * start - before) + before
        change = float(np.abs(moved - rank).sum())
        before, rank = rank, moved.astype(np.float32)
        if change < tolerance:
            break
    rank = np.maximum(rank, 0)
    ranks: Floats = (rank / float(rank.sum())).astype(np.float32)  # what nodes without edges lost comes back
    return ranks
