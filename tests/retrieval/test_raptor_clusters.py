"""Clusters of vectors: soft, seeded, never too long, and always found in the end."""

import sys

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from server.domain.protocols import ModelError
from server.retrieval.published.raptor.clusters import (
    Clustering,
    best_mixture,
    by_components,
    by_neighbours,
    nearest_means,
    reducer,
    soft_clusters,
    tried,
)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """As in a build: with matrices this small, threads wait for each other far longer than they compute."""
    with ThreadpoolController().limit(limits=1):
        yield


def blobs(count, of_each, spread=0.05, seed=1):
    """Vectors of length 1 around `count` directions."""
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(count, 40))
    made = np.concatenate([middle + spread * rng.normal(size=(of_each, 40)) for middle in middles])
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def clustering(**given):
    chosen = {"threshold": 0.1, "most_tokens": 1000, "seed": 7, **given}
    return Clustering(reducer("pca", 7), **chosen)


def test_the_number_of_clusters_is_told_by_the_criterion():
    points = by_components(blobs(4, 60))
    assert best_mixture(points, 1).n_components == 4
    assert sorted(map(len, soft_clusters(points, 0.1, 1))) == [60, 60, 60, 60]


def test_what_lies_between_two_clusters_is_in_both():
    rng = np.random.default_rng(3)
    sides = np.concatenate([rng.normal(-3, 0.7, (100, 2)), rng.normal(3, 0.7, (100, 2)), [[0.0, 0.0]]])
    low, high = (soft_clusters(sides, threshold, 1) for threshold in (0.001, 0.6))
    assert sum(200 in members for members in low) == 2
    assert sum(200 in members for members in high) == 1


def test_every_point_is_in_a_cluster_whatever_the_threshold():
    points = by_components(blobs(5, 30, spread=0.6))
    for threshold in (0.1, 0.99):
        assert set(np.concatenate(soft_clusters(points, threshold, 1))) == set(range(150))


@pytest.mark.parametrize("different", [0, 1, 2, 3, 1000])
def test_there_is_always_a_number_of_components_to_try(different):
    numbers = list(tried(different))
    assert numbers[0] == 1
    assert max(numbers) < max(2, min(50, different))


@pytest.mark.parametrize("count", [1, 2, 3, 11, 12, 13])
def test_few_nodes_are_clustered_too(count):
    found = clustering().clusters(blobs(1, count), [10] * count)
    assert {place for members in found for place in members} == set(range(count))


def test_points_that_coincide_are_told_apart_by_their_place():
    same = np.repeat(blobs(1, 1), 50, axis=0)
    found = clustering(most_tokens=100).clusters(same, [10] * 50)
    assert {place for members in found for place in members} == set(range(50))
    assert all(len(members) <= 10 for members in found)
    assert set(nearest_means(same.astype(float), 5, 1)) == {0}


@pytest.mark.parametrize("vectors", [blobs(1, 400, 0.3), blobs(8, 50), np.repeat(blobs(2, 1), 200, axis=0)])
def test_no_cluster_is_longer_than_it_may_be_and_none_is_lost(vectors):
    found = clustering(most_tokens=500).clusters(vectors, [50] * 400)
    assert all(50 * len(members) <= 500 for members in found)
    assert {place for members in found for place in members} == set(range(400))


def test_one_node_that_is_too_long_alone_ends_the_division():
    found = clustering(most_tokens=5).clusters(blobs(1, 60), [50] * 60)
    assert sorted(found) == [[place] for place in range(60)]


def test_a_division_keeps_the_threshold_the_limit_and_the_dimensions():
    asked = []
    inner = reducer("pca", 7)

    def watched(vectors, whole):
        points = inner(vectors, whole)
        asked.append((len(vectors), points.shape[1], whole))
        return points

    Clustering(watched, 0.1, 400, 7).clusters(blobs(2, 100, 0.3), [20] * 200)
    assert asked[0] == (200, 10, True)
    assert len(asked) > 3
    assert all(dimensions == 10 and not whole for _, dimensions, whole in asked[1:])


def test_equal_seeds_give_equal_clusters():
    vectors = blobs(6, 40, 0.4)
    assert clustering().clusters(vectors, [20] * 240) == clustering().clusters(vectors.copy(), [20] * 240)


def test_principal_components_have_one_side_and_one_scale():
    vectors = blobs(3, 30)
    points = by_components(vectors)
    assert points.shape == (90, 10)
    assert points[:, 0].std() == pytest.approx(1)
    assert (points.max(axis=0) >= -points.min(axis=0)).all()
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    own = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    assert np.corrcoef(distances.ravel(), own.ravel())[0, 1] > 0.95


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_or_equal_vectors_have_components_too(count):
    assert np.isfinite(by_components(blobs(1, count))).all()
    assert not by_components(np.ones((count, 40), np.float32)).any()


def test_umap_that_is_missing_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ModelError, match="pip install umap-learn"):
        reducer("umap", 1)


@pytest.mark.parametrize("count", [2, 3, 4, 12, 60])
def test_umap_takes_few_nodes_and_the_same_seed(count):
    pytest.importorskip("umap", reason="an optional package")
    vectors = blobs(3, 20)[:count]
    points = by_neighbours(vectors, True, 1)
    assert len(points) == count
    assert points.shape[1] <= 10
    assert np.array_equal(points, by_neighbours(vectors, True, 1))
