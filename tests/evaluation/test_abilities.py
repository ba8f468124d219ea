"""Trials of the writer's abilities: how they are made."""

import pytest

from server.domain.chunk import Chunk, ScoredChunk
from server.evaluation.judges.abilities import (
    COUNTERFACTUAL,
    INTEGRATION,
    NOISE_ROBUSTNESS,
    REJECTION,
    TrialResult,
    can_be_tried,
    changed_fact,
    sample,
    states,
    summary,
    trials,
)
from server.evaluation.questions import Case

SITE = "https://shop.example"


def hit(page, text="Something else.", score=0.5, part=0):
    return ScoredChunk(Chunk(f"{page}{part}", f"{SITE}/{page}", page, (), text, part, "en"), score)


NOISE = [hit(f"noise{number}", score=0.4) for number in range(6)]
RIGHT = [hit("delivery", "Islands take 5 days.", 0.9), hit("delivery", "By ship.", 0.3, 1)]
CASE = Case(
    "c", "How long?", expected_urls=(f"{SITE}/delivery",), answer="5 days", spellings=((f"{SITE}/delivery",),)
)


def made(case=CASE, hits=(*RIGHT, *NOISE), others=("Berlin",)):
    return trials(case, hits, str, others)


def pages(trial):
    return [hit.chunk.title for hit in trial.passages]


def test_noise_is_mixed_in_at_every_share():
    robust = [trial for trial in made() if trial.ability == NOISE_ROBUSTNESS]
    noise = [sum(page.startswith("noise") for page in pages(trial)) for trial in robust]
    assert [trial.noise for trial in robust] == [0, 0.2, 0.4, 0.6, 0.8]
    assert noise == [0, 1, 2, 3, 4]
    assert all("delivery" in pages(trial) for trial in robust)


def test_a_trial_of_rejection_is_noise_alone():
    (rejection,) = [trial for trial in made() if trial.ability == REJECTION]
    assert pages(rejection) == [f"noise{number}" for number in range(5)]


def test_several_pages_are_brought_together_only_where_each_is_needed():
    assert INTEGRATION not in {trial.ability for trial in made()}
    case = Case("c", "x", url_groups=((f"{SITE}/a",), (f"{SITE}/b",)), answer="y z")
    hits = [hit("a", part=0), hit("a", part=1), hit("a", part=2), hit("a", part=3), hit("b"), *NOISE]
    several = [trial for trial in made(case, hits) if trial.ability == INTEGRATION]
    assert [trial.noise for trial in several] == [0, 0.2, 0.4]
    assert all({"a", "b"} <= set(pages(trial)) for trial in several)
    assert not [trial for trial in made(case, [hit("a"), *NOISE]) if trial.ability == INTEGRATION]


def test_a_changed_copy_stands_beside_the_true_passage():
    (counter,) = [trial for trial in made() if trial.ability == COUNTERFACTUAL]
    copy, true, *rest = counter.passages
    assert (true.chunk.text, copy.chunk.text) == ("Islands take 5 days.", "Islands take 8 days.")
    assert copy.chunk.id != true.chunk.id
    assert copy.chunk.url != true.chunk.url
    assert len(rest) == 3
    assert (counter.fact.true, counter.fact.false) == ("5", "8")


def test_without_the_right_passage_or_enough_noise_there_is_no_trial():
    assert made(hits=NOISE) == []
    assert made(hits=[*RIGHT, *NOISE[:4]]) == []


@pytest.mark.parametrize(
    ("passage", "reference", "true", "false"),
    [
        ("It costs 19.90 EUR.", "19.90 EUR", "19.90", "43.33"),
        ("He was born in Paris.", "Paris", "Paris", "Berlin"),
        ("The warranty lasts three years.", "Every lamp has a warranty of three years.", "three", "eight"),
    ],
)
def test_facts_are_changed_into_others_of_their_kind(passage, reference, true, false):
    changed = changed_fact(passage, reference, ["Paris", "Berlin"])
    assert (changed.true, changed.false) == (true, false)
    assert changed.text == passage.replace(true, false)


def test_a_passage_without_the_fact_is_not_changed():
    assert changed_fact("It costs 119.901 EUR.", "19.90 EUR", []) is None
    assert changed_fact("Wipe it.", "Wipe the glass with a dry cloth every week or so.", []) is None


def test_a_fact_is_stated_as_words_of_its_own():
    assert states("It takes 5 days.", "5")
    assert not states("It takes 15 days or 5.5 hours.", "15 hours")
    assert not states("It takes 15 days.", "5")


def test_the_same_questions_are_tried_every_time_and_only_those_with_a_known_answer():
    cases = [Case(str(n), "x", expected_urls=("u",), answer=f"answer {n}") for n in range(30)]
    chosen = sample(cases, 5)
    assert chosen == sample(cases, 5) == [case for case in cases if case in chosen]
    assert len(chosen) == 5
    assert not can_be_tried(Case("a", "x", expected_urls=("u",), answer="Yes."))
    assert not can_be_tried(Case("a", "x", expected_urls=("u",)))
    assert not can_be_tried(Case("a", "x", type="unanswerable", expected_urls=("u",), answer="no trains"))
    assert can_be_tried(Case("a", "x", expected_urls=("u",), must=("two",)))


def test_what_could_not_be_read_is_counted_and_not_averaged():
    results = [
        TrialResult("a", NOISE_ROBUSTNESS, 0.2, False, True),
        TrialResult("b", NOISE_ROBUSTNESS, 0.2, False, None, None, True),
        TrialResult("c", REJECTION, 1.0, True),
    ]
    first, second = summary(results)
    assert (first["questions"], first["right"], first["unread"]) == (2, 1, 1)
    assert (second["ability"], second["refused"], second["right"]) == (REJECTION, 1, None)
