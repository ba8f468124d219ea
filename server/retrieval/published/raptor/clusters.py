"""Soft clusters of vectors: mixtures of Gaussians in ten dimensions, global first, then local inside each.

The Bayesian information criterion chooses the number of components; clusters that are too long for one
summary are divided again.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from server.domain.protocols import ModelError

MOST_COMPONENTS = 50
"""Clusters in one step are fewer than this."""
FLOOR = 1e-4
"""Added to variances, the largest being about 1: points that coincide make no component of their own."""
ROUNDS = 40
GAIN = 1e-3
"""A round that makes the points no likelier than this, in the mean of their logarithms, is the last."""

Points = NDArray[np.float64]
Labels = NDArray[np.intp]


def fitted(points: Points, components: int, seed: int) -> GaussianMixture:
    """Fit the mixture that these points are likely under. Rounds are limited: the last one counts."""
    mixture = GaussianMixture(
        components, reg_covar=FLOOR, max_iter=ROUNDS, tol=GAIN, random_state=seed, init_params="kmeans"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(points)


def nearest_means(points: Points, count: int, seed: int) -> Labels:
    """The number of each point's cluster by k-means; fewer clusters where fewer points differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: Labels = KMeans(count, n_init=1, random_state=seed).fit_predict(points)
    return labels


DIMENSIONS = 10
LOCAL_NEIGHBOURS = 10

Vectors = NDArray[np.float32]
Reduce = Callable[[Vectors, bool], Points]
"""Takes vectors, and whether they are all that is to be clustered or one cluster of it."""


def reducer(kind: str, seed: int) -> Reduce:
    """The reduction of this name. Raises ModelError where it needs a package that is not installed."""
    if kind == "pca":
        return lambda vectors, whole: by_components(vectors)
    _umap()
    return lambda vectors, whole: by_neighbours(vectors, whole, seed)


def by_components(vectors: Vectors) -> Points:
    """The first principal components, in the scale of the first: its spread is 1."""
    dimensions = min(DIMENSIONS, len(vectors) - 1, vectors.shape[1])
    if dimensions < 1:
        return np.zeros((len(vectors), 1))
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    wide = len(vectors) > vectors.shape[1]
    # The smaller of the two products has the same eigenvalues.
    values, sides = np.linalg.eigh(centred.T @ centred if wide else centred @ centred.T)
    first = sides[:, ::-1][:, :dimensions]
    points: Points = centred @ first if wide else first * np.sqrt(np.maximum(values[::-1][:dimensions], 0.0))
    # An eigenvector is one with either sign: the side with the farthest point is made the positive one.
    points *= np.where(points.max(axis=0) >= -points.min(axis=0), 1.0, -1.0)
    spread = float(points[:, 0].std())
    return points / spread if spread > 1e-6 else np.zeros_like(points)


def by_neighbours(vectors: Vectors, whole: bool, seed: int) -> Points:
    """UMAP as published: neighbours by the root of the number of nodes, ten inside a cluster."""
    count = len(vectors)
    neighbours = math.isqrt(count - 1) if whole else LOCAL_NEIGHBOURS
    dimensions = min(DIMENSIONS, count - 2)
    if dimensions < 1:  # too few for a graph of neighbours
        return by_components(vectors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a seed makes it run on one processor, which it tells every time
        made = _umap()(
            n_neighbors=max(2, min(neighbours, count - 1)),
            n_components=dimensions,
            metric="cosine",
            random_state=seed,
            init="spectral" if count > dimensions + 2 else "random",
        ).fit_transform(vectors)
    points: Points = np.asarray(made, np.float64)
    return points


def _umap() -> Callable[..., Any]:
    try:
        from umap import UMAP  # optional: it brings 200 MB
    except ImportError as error:
        advice = (
            "reduction=umap needs a package of its own: `pip install umap-learn`, or choose reduction=pca"
        )
        raise ModelError("wrong_model", advice, permanent=True) from error
    made: Callable[..., Any] = UMAP
    return made


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
    if mixture.n_components == 1:
        return [np.arange(len(points))]
    likely = mixture.predict_proba(points)
    member = likely > threshold
    member[np.arange(len(points)), likely.argmax(axis=1)] = True
    found = [np.flatnonzero(column) for column in member.T if column.any()]
    return list({of.tobytes(): of for of in found}.values())


def best_mixture(points: Points, seed: int) -> GaussianMixture:
    """Return the mixture with the lowest criterion of those tried."""
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


ENOUGH = DIMENSIONS + 1
"""So few nodes are one cluster."""
SHRINK = 0.8
"""Parts of a divided cluster are at most this share of it; otherwise it is cut in two."""
OVERLAP = 1.5
"""Parts together have at most so many times its nodes."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """How nodes are clustered; the same holds on every layer and for every cluster that is divided again."""

    reduce: Reduce
    threshold: float
    most_tokens: int
    seed: int
    watch: Callable[[int, int], None] = lambda done, total: None
    """Told how many global clusters are done, of how many."""

    def clusters(self, vectors: Vectors, lengths: Sequence[int]) -> list[list[int]]:
        """Places of the members of each, smallest place first; no two have the same members."""
        found: dict[tuple[int, ...], None] = {}
        wide = self._soft(np.arange(len(vectors)), vectors, whole=True)
        for done, members in enumerate(wide):
            self.watch(done, len(wide))
            for part in self._soft(members, vectors, whole=False):
                for fitting in self.divided(part, vectors, lengths):
                    found[tuple(int(place) for place in fitting)] = None
        return [list(members) for members in sorted(found)]

    def divided(self, members: Members, vectors: Vectors, lengths: Sequence[int]) -> list[Members]:
        """The cluster itself where it is short enough, otherwise parts of it that are."""
        return self._divided(members, lengths, lambda one: self._parts(one, vectors))

    def halved(self, vectors: Vectors, lengths: Sequence[int]) -> list[Members]:
        """All of these as parts that are short enough; no node in two of them."""
        return self._divided(np.arange(len(vectors)), lengths, lambda one: self._halves(one, vectors))

    def _divided(
        self, members: Members, lengths: Sequence[int], parts_of: Callable[[Members], list[Members]]
    ) -> list[Members]:
        """Ends always: each part has fewer members than what it is a part of."""
        waiting, done = [members], []
        while waiting:
            one = waiting.pop()
            if len(one) < 2 or sum(lengths[place] for place in one) <= self.most_tokens:
                done.append(one)
            else:
                waiting += parts_of(one)[::-1]
        return done

    def _parts(self, members: Members, vectors: Vectors) -> list[Members]:
        parts = self._soft(members, vectors, whole=False)
        largest, together = max(map(len, parts)), sum(map(len, parts))
        if largest > SHRINK * len(members) or together > OVERLAP * len(members):
            return self._halves(members, vectors)
        return parts

    def _soft(self, members: Members, vectors: Vectors, *, whole: bool) -> list[Members]:
        if len(members) <= ENOUGH:
            return [members]
        points = self.reduce(vectors[members], whole)
        return [members[part] for part in soft_clusters(points, self.threshold, self.seed)]

    def _halves(self, members: Members, vectors: Vectors) -> list[Members]:
        """Two parts by likeness; by order where all are alike."""
        side = nearest_means(vectors[members].astype(np.float64), 2, self.seed)
        if len(members) > 2 and 0 < side.sum() < len(members):
            return [members[side == 0], members[side == 1]]
        middle = len(members) // 2
        return [members[:middle], members[middle:]]
