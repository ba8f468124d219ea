"""Soft clusters by mixtures of Gaussians, their number chosen by the Bayesian information criterion (BIC)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from server.retrieval.raptor.options import MOST_COMPONENTS
from server.retrieval.raptor.reduction import Points

FITTED = 2_500
"""A mixture is fitted to so many points at most; all are assigned."""
STEP = 1.5
"""From one tried number of components to the next, at least 1."""
PATIENCE = 2
"""Numbers without a better criterion after which no larger ones are tried."""
ROUNDS = 30
FLOOR = 1e-4
"""Added to variances, the largest being about 1: points that coincide make no component of their own."""

Members = NDArray[np.intp]


def soft_clusters(points: Points, threshold: float, seed: int) -> list[Members]:
    """Places of each cluster's members. Every point is in its likeliest and in those above `threshold`."""
    fitted_to = _sample(points, seed)
    mixture = _best(fitted_to, seed)
    if mixture is None:
        return [np.arange(len(points))]
    likely = mixture.predict_proba(points)
    member = likely > threshold
    member[np.arange(len(points)), likely.argmax(axis=1)] = True
    found = [np.flatnonzero(column) for column in member.T if column.any()]
    return list({of.tobytes(): of for of in found}.values())


def _sample(points: Points, seed: int) -> Points:
    if len(points) <= FITTED:
        return points
    chosen = np.random.default_rng(seed).choice(len(points), FITTED, replace=False)
    sample: Points = points[np.sort(chosen)]
    return sample


def _best(points: Points, seed: int) -> GaussianMixture | None:
    """None for one component, and where nothing can be told apart."""
    different = len(np.unique(points.round(6), axis=0))
    best, lowest, since = None, np.inf, 0
    for components in tried(different):
        mixture = _fitted(points, components, seed)
        criterion = mixture.bic(points) if mixture else np.inf
        since += 1
        if criterion < lowest:
            best, lowest, since = mixture, criterion, 0
        if since >= PATIENCE:
            break
    return best if best is not None and best.n_components > 1 else None


def tried(different: int) -> Iterator[int]:
    """Numbers of components, from 1; never more than there are different points, never none."""
    components = 1
    while components < min(MOST_COMPONENTS, max(2, different)):
        yield components
        components = max(components + 1, int(components * STEP))


def _fitted(points: Points, components: int, seed: int) -> GaussianMixture | None:
    mixture = GaussianMixture(components, reg_covar=FLOOR, max_iter=ROUNDS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that has not come to rest is compared like any other
        try:
            return mixture.fit(points)
        except ValueError:  # some component holds too few points for a covariance
            return None
