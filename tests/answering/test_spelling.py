"""Questions with typing errors are searched, judged and quoted as they were meant."""

import pytest

from server.answering.trace import Trace
from server.answering.understanding.follow_ups import FollowUpStep
from server.answering.understanding.steps import SpellingStep, understand
from server.domain.answer import Answer, Outcome
from server.domain.question import Question
from server.indexes.spelling import SiteSpeller
from server.indexes.words import SqlWordIndex


@pytest.fixture
def steps(shop):
    words = SqlWordIndex(shop.database, "shop")
    return [SpellingStep(SiteSpeller(words)), FollowUpStep("Lantern Shop")]


def answer(pipeline, text):
    events = pipeline.answer(Question(text, "shop", language="en"))
    return next(event for event in events if isinstance(event, Answer))


def test_the_query_is_mended_and_keeps_what_was_typed(steps):
    query = understand(
        Question("how long is the waranty of a lantern", "shop", language="en"), steps, Trace()
    )
    assert query.text == "how long is the warranty of a lantern"
    assert query.typed == "how long is the waranty of a lantern"


def test_a_question_without_errors_is_passed_on_as_it_is(steps):
    query = understand(Question("how long is the warranty", "shop", language="en"), steps, Trace())
    assert (query.text, query.typed) == ("how long is the warranty", "")


def test_an_answer_to_a_question_with_errors_cites_the_page_that_answers(shop, steps):
    mended = answer(shop.pipeline(understanding=steps), "how long dose the waranty lats?")
    assert mended.outcome is Outcome.ANSWERED
    assert any("warranty" in citation.quote.lower() for citation in mended.citations)
