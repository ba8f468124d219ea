import pytest

from server.retrieval.fusion import min_max, reciprocal_rank, weighted


def half(key):
    return 0.5


def test_scores_are_moved_between_zero_and_one():
    assert min_max({"a": 3.0, "b": 1.0, "c": 2.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}


def test_equal_scores_are_all_best():
    assert min_max({"a": 2.0, "b": 2.0}) == {"a": 1.0, "b": 1.0}


def test_nothing_on_both_sides_gives_nothing():
    assert weighted({}, {}, half) == {}
    assert reciprocal_rank({}, {}, half) == {}


def test_a_weighted_sum_follows_the_weights():
    fused = weighted({"a": 1.0, "b": 0.0}, {"b": 9.0, "c": 1.0}, lambda key: 0.25)
    assert fused == pytest.approx({"a": 0.25, "b": 0.75, "c": 0.0})


def test_a_weak_side_with_no_weight_changes_nothing():
    fused = weighted({"x": 1.0, "y": 0.9}, {"b": 9.0, "c": 1.0}, lambda key: 0.0)
    assert max(fused, key=fused.get) == "b"


def test_ranks_count_instead_of_scores():
    fused = reciprocal_rank({"a": 100.0, "b": 1.0}, {"b": 0.2, "c": 0.1}, half)
    assert max(fused, key=fused.get) == "b"
    assert fused["a"] == pytest.approx(0.5)
