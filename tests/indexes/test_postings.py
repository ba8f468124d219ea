"""Scoring postings: the best chunks are the same as when every chunk is scored one by one."""

import math

import numpy as np
import pytest

from server.indexes.postings import BLOCK, K1, B, Lengths, best, encode


def made_lengths(drawn, size):
    """Lengths in tokens; one chunk in twenty is removed."""
    lengths = drawn.integers(1, 400, size).astype("<u2")
    lengths[drawn.random(size) < 0.05] = 0
    return lengths


def pieces(weights):
    """Weights by chunk number as stored: (block, postings)."""
    found = {}
    for number, weight in weights.items():
        found.setdefault(number // BLOCK, []).append(number % BLOCK | weight << 16)
    return [(block, encode(values)) for block, values in found.items()]


def scored_one_by_one(lengths, tokens):
    """Score of each chunk that has one, by the formula."""
    alive = lengths[lengths > 0]
    scores = {}
    for weights in tokens:
        living = {number: weight for number, weight in weights.items() if lengths[number]}
        rarity = math.log(1 + (len(alive) - len(living) + 0.5) / (len(living) + 0.5))
        for number, weight in living.items():
            slack = K1 * (1 - B + B * lengths[number] / alive.mean())
            scores[number] = scores.get(number, 0.0) + rarity * (K1 + 1) * weight / (weight + slack)
    return scores


@pytest.mark.parametrize(("size", "limit"), [(50, 5), (3000, 40), (20_000, 300), (20_000, 1)])
@pytest.mark.parametrize(
    "shares", [(0.4, 0.2, 0.05, 0.01, 0.0002, 0), (0.4,), (0.4, 0.3), (0.001, 0.0002), (0.0002, 0), (0,)]
)
def test_the_best_are_those_of_scoring_every_chunk(size, limit, shares):
    drawn = np.random.default_rng(5)
    stored = made_lengths(drawn, size)
    tokens = []
    for share in shares:
        numbers = np.flatnonzero(drawn.random(size) < share).tolist()
        tokens.append(dict(zip(numbers, drawn.integers(1, 4, len(numbers)).tolist(), strict=True)))
    blocks = {at // BLOCK: stored[at : at + BLOCK].tobytes() for at in range(0, size, BLOCK)}
    lengths = Lengths(blocks)
    found = best(lengths.size, [lengths.postings(pieces(weights)) for weights in tokens], limit)
    every = scored_one_by_one(stored, tokens)
    assert [score for _, score in found] == pytest.approx(sorted(every.values(), reverse=True)[:limit])
    assert [score for _, score in found] == pytest.approx([every[at] for at, _ in found])
    assert len({at for at, _ in found}) == len(found)


def test_equal_scores_come_in_the_order_of_the_chunks():
    lengths = Lengths({0: np.full(100, 7, "<u2").tobytes()})
    same = lengths.postings(pieces(dict.fromkeys(range(10, 60), 2)))
    assert [at for at, _ in best(lengths.size, [same], 20)] == list(range(10, 30))
