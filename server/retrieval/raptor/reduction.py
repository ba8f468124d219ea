"""Vectors in few dimensions, in which mixtures of Gaussians can be told apart."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.domain.protocols import ModelError
from server.retrieval.raptor.mixture import Points

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
