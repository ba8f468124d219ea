import pytest

from server.retrieval.fusion import FUSIONS, WordScores, min_max


def fused(name, first, words, ceiling=10.0, weight=0.5, wanted=None):
    keys = wanted or sorted(first.keys() | words.keys())
    return FUSIONS[name](first, WordScores(words, ceiling), dict.fromkeys(keys, weight))


def test_scores_are_moved_between_zero_and_one():
    assert min_max({"a": 3.0, "b": 1.0, "c": 2.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}


def test_equal_scores_are_all_best():
    assert min_max({"a": 2.0, "b": 2.0}) == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("name", list(FUSIONS))
def test_nothing_on_both_sides_gives_nothing(name):
    assert fused(name, {}, {}) == {}


@pytest.mark.parametrize("name", list(FUSIONS))
def test_every_fusion_gives_shares_and_puts_the_best_of_both_sides_first(name):
    scores = fused(name, {"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 8.0, "b": 4.0, "d": 2.0})
    assert max(scores, key=scores.get) == "a"
    assert set(scores) == {"a", "b", "c", "d"}
    assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("name", list(FUSIONS))
def test_only_the_wanted_keys_are_scored_and_the_others_tell_how_good_they_are(name):
    scores = fused(name, {"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 8.0, "b": 4.0, "d": 2.0}, wanted=["b"])
    assert list(scores) == ["b"]
    assert scores["b"] < 1


@pytest.mark.parametrize("name", list(FUSIONS))
def test_a_weak_side_with_no_weight_changes_nothing(name):
    scores = fused(name, {"x": 1.0, "y": 0.9}, {"b": 9.0, "c": 1.0}, weight=0.0)
    assert max(scores, key=scores.get) == "b"


def test_the_best_and_the_worst_of_both_sides_make_the_scale_of_minmax():
    scores = fused("minmax", {"a": 1.0, "b": 0.0}, {"b": 9.0, "c": 1.0}, weight=0.25)
    assert scores == pytest.approx({"a": 0.25, "b": 0.75, "c": 0.0})


def test_a_few_words_of_a_long_question_say_less_than_all_words_of_a_short_one():
    near, named = {"meant": 0.7, "named": 0.3}, {"named": 4.0}
    short, long = fused("weighted", near, named, ceiling=4.0), fused("weighted", near, named, ceiling=40.0)
    assert short["named"] == pytest.approx(0.5)
    assert long["named"] < 0.1
    assert long["meant"] == short["meant"] == 0.5


def test_words_that_score_more_than_was_thought_possible_stay_in_order():
    scores = fused("weighted", {}, {"a": 9.0, "b": 8.0}, ceiling=1.0, weight=0.0)
    assert scores["a"] == pytest.approx(1)
    assert scores["a"] > scores["b"]


def test_ranks_count_instead_of_scores():
    scores = fused("rrf", {"a": 100.0, "b": 1.0}, {"b": 0.2, "c": 0.1})
    assert max(scores, key=scores.get) == "b"
    assert scores["a"] == pytest.approx(0.5)
