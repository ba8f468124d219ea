"""Metrics of ranked lists, checked against ir-measures."""

import random

import ir_measures
import pytest
from ir_measures import AP, RR, P, R, Success, nDCG

from server.evaluation.judging import RANKS, auc, average_precision, ndcg, ranking_metrics, recall

THEIRS = {
    **{f"hit@{k}": Success @ k for k in RANKS},
    **{f"recall@{k}": R @ k for k in RANKS},
    **{f"precision@{k}": P @ k for k in RANKS},
    **{f"ndcg@{k}": nDCG @ k for k in RANKS},
    "mrr@10": RR @ 10,
    "ap@10": AP @ 10,
}


def theirs(ranked, gains):
    qrels = [ir_measures.Qrel("q", item, gain) for item, gain in gains.items()]
    run = [ir_measures.ScoredDoc("q", item, 1000.0 - rank) for rank, item in enumerate(ranked)]
    found = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, run)
    return {name: found[measure] for name, measure in THEIRS.items()}


def test_every_metric_is_that_of_ir_measures():
    for seed in range(40):
        chance = random.Random(seed)
        items = [f"d{number}" for number in range(chance.choice([3, 8, 30]))]
        relevant = chance.sample(items, chance.randint(1, min(7, len(items)))) + ["never found"] * (seed % 2)
        gains = {item: chance.choice([1, 1, 2, 3]) if seed % 3 == 0 else 1 for item in relevant}
        ranked = chance.sample(items, chance.randint(1, len(items)))
        assert ranking_metrics(ranked, gains) == pytest.approx(theirs(ranked, gains)), seed


def test_an_item_that_is_found_twice_counts_once():
    assert recall(["a", "a", "b"], {"a": 1, "c": 1}, 3) == 0.5
    assert ndcg(["a", "a"], {"a": 1}, 5) == 1
    assert average_precision(["a", "a", "b"], {"a": 1, "b": 1}) == 1


def test_nothing_found_is_zero_for_all():
    assert set(ranking_metrics([], {"a": 1}).values()) == {0}


def test_ties_count_half_for_telling_apart():
    assert auc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)
    assert auc([], [0.1]) is None
