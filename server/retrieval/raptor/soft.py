"""Soft clusters: the number of components by the Bayesian information criterion, members by likelihood."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from server.retrieval.raptor.mixture import Mixture, Points, fitted
from server.retrieval.raptor.options import MOST_COMPONENTS

FITTED = 2_500
"""A mixture is fitted to so many points at most; all are assigned."""
STEP = 1.5
"""From one tried number of components to the next, at least 1."""
PATIENCE = 2
"""Numbers without a better criterion after which no larger ones are tried."""

Members = NDArray[np.intp]


def soft_clusters(points: Points, threshold: float, seed: int) -> list[Members]:
    """Places of each cluster's members. Every point is in its likeliest and in those above `threshold`."""
    mixture = best_mixture(_sample(points, seed), seed)
    if len(mixture.weights) == 1:
        return [np.arange(len(points))]
    likely = mixture.shares(points)
    member = likely > threshold
    member[np.arange(len(points)), likely.argmax(axis=1)] = True
    found = [np.flatnonzero(column) for column in member.T if column.any()]
    return list({of.tobytes(): of for of in found}.values())


def best_mixture(points: Points, seed: int) -> Mixture:
    """That with the lowest criterion of those tried."""
    different = len(np.unique(points.round(6), axis=0))
    best, lowest, since = fitted(points, 1, seed), np.inf, 0
    for components in tried(different):
        mixture = fitted(points, components, seed)
        criterion = mixture.bic(points)
        since += 1
        if criterion < lowest:
            best, lowest, since = mixture, criterion, 0
        if since > PATIENCE:
            break
    return best


def tried(different: int) -> Iterator[int]:
    """Numbers of components, from 1; fewer than there are different points, and one at least."""
    components = 1
    while components < min(MOST_COMPONENTS, max(2, different)):
        yield components
        components = max(components + 1, int(components * STEP))


def _sample(points: Points, seed: int) -> Points:
    if len(points) <= FITTED:
        return points
    chosen = np.random.default_rng(seed).choice(len(points), FITTED, replace=False)
    sample: Points = points[np.sort(chosen)]
    return sample
