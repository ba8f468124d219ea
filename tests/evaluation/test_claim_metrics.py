"""Claim metrics: the published formulas."""

import json
from pathlib import Path
from statistics import mean

import pytest

from server.evaluation.judges.judgement import Labels, claim_metrics

PUBLISHED = Path(__file__).parents[3] / "shared/data/ragchecker/checking_outputs.json"


def entailed(label):
    return [entailed(one) for one in label] if isinstance(label, list) else label == "Entailment"


def published():
    if not PUBLISHED.is_file():
        pytest.skip(f"RAGChecker's example is not at {PUBLISHED}; it is not part of this repository")
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))


def computed(example):
    return claim_metrics(
        Labels(
            correct=tuple(entailed(example["answer2response"])),
            recalled=tuple(entailed(example["response2answer"])),
            supported=entailed(example["retrieved2response"]),
            found=entailed(example["retrieved2answer"]),
        )
    )


def test_labels_that_ragchecker_published_give_the_figures_that_it_published():
    found = published()
    computed_all = [computed(example) for example in found["results"]]
    for example, metrics in zip(found["results"], computed_all, strict=True):
        assert metrics == example["metrics"]
    for group in found["metrics"].values():
        for name, percent in group.items():
            assert round(100 * mean(one[name] for one in computed_all), 1) == percent


def test_each_figure_of_a_small_case():
    # Claims of the answer: right and found in passage 1; wrong, from passage 1; wrong, from passage 2; wrong,
    # from nowhere; right, from nowhere. Of the reference: found and told; found and not told; neither.
    metrics = claim_metrics(
        Labels(
            correct=(True, False, False, False, True),
            recalled=(True, False, False),
            supported=[[True, False], [True, False], [False, True], [False, False], [False, False]],
            found=[[True, False], [True, False], [False, False]],
        )
    )
    assert metrics == pytest.approx(
        {
            "precision": 2 / 5,
            "recall": 1 / 3,
            "f1": 2 * (2 / 5) * (1 / 3) / (2 / 5 + 1 / 3),
            "claim_recall": 2 / 3,
            "context_precision": 1 / 2,
            "context_utilization": 1 / 2,
            "noise_sensitivity_in_relevant": 1 / 5,
            "noise_sensitivity_in_irrelevant": 1 / 5,
            "hallucination": 1 / 5,
            "self_knowledge": 1 / 5,
            "faithfulness": 3 / 5,
        }
    )


def test_a_wrong_claim_of_both_kinds_of_passages_counts_once():
    metrics = claim_metrics(Labels((False,), (True,), [[True, True]], [[True, False]]))
    assert metrics["noise_sensitivity_in_relevant"] == 1
    assert metrics["noise_sensitivity_in_irrelevant"] == 0


@pytest.mark.parametrize(
    "labels",
    [
        Labels((), (), [], []),
        Labels((), (False,), [], [[False, False]]),
        Labels((True,), (True,), [[]], [[]]),
    ],
)
def test_there_is_always_a_figure(labels):
    metrics = claim_metrics(labels)
    assert len(metrics) == 11
    assert all(0 <= value <= 1 for value in metrics.values())
