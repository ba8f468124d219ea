"""Mixtures of Gaussians with full covariances, fitted by expectation and maximisation.

Hundreds of small mixtures are fitted for one tree. All components of one are computed at once here, which for
a hundred points takes a millisecond where a general library takes fifty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FLOOR = 1e-4
"""Added to variances, the largest being about 1: points that coincide make no component of their own."""
ROUNDS = 40
GAIN = 1e-3
"""A round that makes the points no likelier than this, in the mean of their logarithms, is the last."""
LLOYD_ROUNDS = 10

Points = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Mixture:
    """Components by weight, mean and the factor that brings their points to the unit ball."""

    weights: Points
    means: Points
    factors: Points
    """For each component F, with F @ F.T the inverse of its covariance."""

    def log_likelihoods(self, points: Points) -> Points:
        """Of each component (row) and point (column), with the component's weight."""
        moved = points @ self.factors - (self.means[:, None, :] @ self.factors)
        scale = np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1) + np.log(self.weights)
        fixed = points.shape[1] * math.log(2 * math.pi)
        found: Points = scale[:, None] - 0.5 * (fixed + np.square(moved).sum(axis=2))
        return found

    def shares(self, points: Points) -> Points:
        """How likely each point (row) comes from each component (column)."""
        return _shares(self.log_likelihoods(points))[0].T

    def bic(self, points: Points) -> float:
        """The Bayesian information criterion: lower is better."""
        count, dimensions = points.shape
        of_one = dimensions * (dimensions + 1) // 2 + dimensions + 1
        parameters = len(self.weights) * of_one - 1
        total = float(_shares(self.log_likelihoods(points))[1].sum())
        return float(parameters * math.log(count) - 2 * total)


def fitted(points: Points, components: int, seed: int) -> Mixture:
    """The mixture that these points are likely under, found from `nearest_means`."""
    labels = nearest_means(points, components, seed)
    shares = np.zeros((components, len(points)))
    shares[labels, np.arange(len(points))] = 1.0
    mixture = _mixture(points, shares)
    before = -np.inf
    for _ in range(ROUNDS):
        shares, likely = _shares(mixture.log_likelihoods(points))
        mixture = _mixture(points, shares)
        mean = float(likely.mean())
        if abs(mean - before) < GAIN:
            break
        before = mean
    return mixture


def nearest_means(points: Points, count: int, seed: int) -> Labels:
    """For each point the number of its cluster by k-means, begun with points far from each other."""
    rng = np.random.default_rng(seed)
    squares = np.square(points).sum(axis=1)
    means = points[[int(rng.integers(len(points)))]]
    nearest = _distances(points, squares, means)[:, 0]
    for _ in range(count - 1):
        total = nearest.sum()
        if total <= 0:  # fewer different points than wanted
            break
        chosen = int(np.searchsorted(np.cumsum(nearest), rng.random() * total))
        fresh = points[[min(chosen, len(points) - 1)]]
        means = np.concatenate([means, fresh])
        nearest = np.minimum(nearest, _distances(points, squares, fresh)[:, 0])
    labels: Labels = _distances(points, squares, means).argmin(axis=1)
    for _ in range(LLOYD_ROUNDS):
        sizes = np.bincount(labels, minlength=len(means))
        sums = np.zeros_like(means)
        np.add.at(sums, labels, points)
        means = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], means)
        following = _distances(points, squares, means).argmin(axis=1)
        if (following == labels).all():
            break
        labels = following
    return labels


def _distances(points: Points, squares: Points, means: Points) -> Points:
    found: Points = squares[:, None] - 2 * points @ means.T + np.square(means).sum(axis=1)
    return np.maximum(found, 0.0)


def _shares(log_likelihoods: Points) -> tuple[Points, Points]:
    """Of each component in each point, and the logarithm of each point's likelihood."""
    highest = log_likelihoods.max(axis=0)
    raised = np.exp(log_likelihoods - highest)
    sums = raised.sum(axis=0)
    return raised / sums, highest + np.log(sums)


def _mixture(points: Points, shares: Points) -> Mixture:
    sizes = shares.sum(axis=1) + 10 * np.finfo(np.float64).eps
    means = shares @ points / sizes[:, None]
    weighted = (shares[:, :, None] * points).transpose(0, 2, 1) @ points
    spread = weighted / sizes[:, None, None] - means[:, :, None] * means[:, None, :]
    roots = np.linalg.cholesky(spread + FLOOR * np.eye(points.shape[1]))
    return Mixture(sizes / sizes.sum(), means, np.linalg.inv(roots).transpose(0, 2, 1))
