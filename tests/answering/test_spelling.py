"""Questions with typing errors are searched, judged and quoted as they were meant."""

import pytest

from server.answering.rewriting import HistoryRewriter
from server.answering.spelling import SpellingRewriter
from server.domain.answer import Answer, Outcome
from server.domain.question import Question
from server.indexes.spelling import SiteSpeller
from server.indexes.words import SqlWordIndex


@pytest.fixture
def rewriter(shop):
    words = SqlWordIndex(shop.database, "shop")
    return SpellingRewriter(HistoryRewriter("Lantern Shop"), SiteSpeller(words))


def answer(pipeline, text):
    events = pipeline.answer(Question(text, "shop", language="en"))
    return next(event for event in events if isinstance(event, Answer))


def test_the_query_is_mended_and_keeps_what_was_typed(rewriter):
    query = rewriter.rewrite(Question("how long is the waranty of a lantern", "shop", language="en"))
    assert query.text == "how long is the warranty of a lantern"
    assert query.typed == "how long is the waranty of a lantern"


def test_a_question_without_errors_is_passed_on_as_it_is(rewriter):
    query = rewriter.rewrite(Question("how long is the warranty", "shop", language="en"))
    assert (query.text, query.typed) == ("how long is the warranty", "")


def test_an_answer_to_a_question_with_errors_cites_the_page_that_answers(shop, rewriter):
    mended = answer(shop.pipeline(rewriter=rewriter), "how long dose the waranty lats?")
    assert mended.outcome is Outcome.ANSWERED
    assert any("warranty" in citation.quote.lower() for citation in mended.citations)
