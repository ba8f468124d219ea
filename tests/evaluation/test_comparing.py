"""Paired comparisons with intervals."""

import numpy as np
import pytest

from server.evaluation.comparing import SEED, compare


def of(values, metric="recall@5"):
    return {metric: {f"q{number}": float(value) for number, value in enumerate(values)}}


def compared(one, other, metric="recall@5"):
    (found,) = compare({"a": of(one, metric), "b": of(other, metric)})
    return found


def test_a_clear_win_is_shown_with_its_interval():
    found = compared([0] * 30 + [1] * 70, [1] * 25 + [0] * 5 + [1] * 70)
    assert (found.way, found.against, found.questions, found.differing) == ("b", "a", 100, 25)
    assert found.difference == 0.25
    assert 0.16 <= found.low <= 0.18
    assert 0.32 <= found.high <= 0.34
    assert found.verdict == "better"


def test_noise_is_no_win():
    random = np.random.default_rng(SEED)
    one, other = random.integers(0, 2, (2, 100))
    found = compared(one, other)
    assert found.low < 0 < found.high
    assert found.verdict == "no difference shown"


def test_few_questions_show_nothing_however_they_fall():
    found = compared([0] * 5, [1] * 5)
    assert (found.difference, found.low, found.high) == (1, 1, 1)
    assert found.verdict == "no difference shown"


def test_less_is_better_of_time_and_of_wrong_refusals():
    for metric in ("answer_ms", "refused_answerable", "hallucination"):
        assert compared([1] * 50, [0] * 50, metric).verdict == "better"


def test_only_questions_that_both_were_judged_by_are_paired():
    one = {"recall@5": {"x": 1.0, "y": 0.0}}
    other = {"recall@5": {"y": 1.0, "z": 0.0}}
    (found,) = compare({"a": one, "b": other})
    assert (found.questions, found.difference) == (1, 1)
    assert compare({"a": {"recall@5": {"x": 1.0}}, "b": {"recall@5": {"y": 1.0}}}) == []


def test_every_pair_is_compared_and_always_alike():
    ways = {name: of(np.random.default_rng(seed).random(40)) for seed, name in enumerate("abc")}
    found = compare(ways)
    assert [(one.against, one.way) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert compare(ways) == found


def test_the_interval_is_that_of_the_normal_approximation_for_many_questions():
    differences = np.random.default_rng(1).normal(0.05, 0.3, 400)
    found = compared([0.0] * 400, differences)
    error = differences.std() / 20
    assert found.low == pytest.approx(differences.mean() - 1.96 * error, abs=0.005)
    assert found.high == pytest.approx(differences.mean() + 1.96 * error, abs=0.005)
