"""Floors that are chosen from the answerability of a site's own questions, and what to expect of them."""

from dataclasses import replace

import pytest

from server.answering.floors import (
    ANSWER_MORE,
    CHECK,
    CHOICES,
    FEWEST,
    FLOOR,
    HIGHEST,
    LENIENT,
    LOWEST,
    REFUSE_MORE,
    FloorCheck,
    Share,
    site_floor,
)
from server.answering.grading import DEFAULT_FLOOR
from server.domain.site import Site
from server.settings import Settings

SITE = Site("shop", "Shop", "Shop")
HUNDREDTHS = tuple(number / 100 for number in range(1, 101))


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 40, 0, 0.063), (4, 40, 0.046, 0.205), (20, 40, 0.374, 0.626), (40, 40, 0.937, 1), (1, 1, 0.27, 1)],
)
def test_wilson_intervals_of_90_percent(count, total, low, high):
    assert Share(count, total).interval == pytest.approx((low, high), abs=0.001)


@pytest.mark.parametrize("count", [FEWEST, 19, 20, 39, 40, 60])
def test_a_choice_is_wrong_for_at_most_one_question_in_twenty(count):
    low = tuple(0.06 + number / 1000 for number in range(count))
    high = tuple(0.3 + number / 1000 for number in range(count))
    check = FloorCheck(low, high)
    assert check.refused(check.floor(ANSWER_MORE, DEFAULT_FLOOR)).value <= 0.05
    assert check.answered(check.floor(REFUSE_MORE, DEFAULT_FLOOR)).value <= 0.05


@pytest.mark.parametrize(
    ("choice", "answerable", "unanswerable", "floor"),
    [
        (ANSWER_MORE, 0.9, 0.1, LENIENT),
        (ANSWER_MORE, 0.08, 0.1, 0.08),
        (ANSWER_MORE, 0.01, 0.1, LOWEST),
        (REFUSE_MORE, 0.9, 0.01, DEFAULT_FLOOR),
        (REFUSE_MORE, 0.9, 0.4, 0.401),
        (REFUSE_MORE, 0.9, 0.9, HIGHEST),
    ],
)
def test_floors_stay_between_their_limits(choice, answerable, unanswerable, floor):
    check = FloorCheck((answerable,) * FEWEST, (unanswerable,) * FEWEST)
    assert check.floor(choice, DEFAULT_FLOOR) == floor


@pytest.mark.parametrize("choice", CHOICES)
def test_too_few_questions_leave_the_usual_floor(choice):
    assert FloorCheck(HUNDREDTHS, HUNDREDTHS[: FEWEST - 1]).floor(choice, 0.2) == 0.2
    assert FloorCheck(HUNDREDTHS[: FEWEST - 1], HUNDREDTHS).floor(choice, 0.2) == 0.2


def test_no_choice_passes_the_floor_of_the_installation():
    check = FloorCheck(HUNDREDTHS, HUNDREDTHS)
    assert check.floor(ANSWER_MORE, 0.03) == 0.03
    assert check.floor(REFUSE_MORE, 0.8) == 0.8


def test_a_site_has_its_number_its_choice_or_the_floor_of_the_installation():
    kept = FloorCheck((0.9,) * FEWEST, (0.4,) * FEWEST, "2026-05-31", 2).to_json("model")

    def floor(own, fingerprint="model", **settings):
        options = {CHECK: kept} | ({} if own is None else {FLOOR: own})
        return site_floor(replace(SITE, options=options), Settings.of(**settings), fingerprint)

    assert floor(0.33) == 0.33
    assert floor(REFUSE_MORE) == 0.401
    assert floor(REFUSE_MORE, fingerprint="another model") == DEFAULT_FLOOR
    assert floor(None) == floor("unknown") == DEFAULT_FLOOR
    assert floor(None, relevance_floor=0.25) == 0.25


def test_a_check_is_kept_for_its_embedder():
    check = FloorCheck((0.5,), (0.1,), "2026-05-31", 3)
    assert FloorCheck.from_json(check.to_json("model"), "model") == check
    assert FloorCheck.from_json(check.to_json("model"), "other") == FloorCheck()
    assert FloorCheck.from_json(None, "model") == FloorCheck()
