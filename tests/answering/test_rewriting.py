import pytest

from server.answering.rewriting import HistoryRewriter
from server.domain.question import Question, Turn


def rewrite(text, *earlier, title="Lantern Shop"):
    history = tuple(Turn(question, "An answer.", question, "en") for question in earlier)
    return HistoryRewriter(title).rewrite(Question(text, "shop", history, "en"))


@pytest.mark.parametrize(
    "follow_up", ["and on Windows?", "What about Windows?", "Windows?", "Does it work on Windows?"]
)
def test_a_follow_up_takes_along_what_it_refers_to(follow_up):
    query = rewrite(follow_up, "How do I install the lamp driver on Linux?")
    assert {"windows", "lamp", "driver"} <= set(query.text.lower().replace("?", "").split())


def test_a_question_that_stands_alone_stays_as_it_is():
    text = "Which payment methods are accepted for orders from abroad?"
    assert rewrite(text, "How do I install the lamp driver on Linux?").text == text


def test_earlier_queries_go_along_newest_first():
    assert rewrite("And then?", "First question here", "Second question here").previous == (
        "Second question here",
        "First question here",
    )


def test_a_short_question_gets_the_title_of_the_site():
    assert rewrite("opening hours").title == "Lantern Shop"


def test_the_title_is_not_added_when_the_question_has_it_in_any_case():
    assert rewrite("what is the LANTERN shop").title == ""


def test_a_long_question_needs_no_title():
    assert rewrite("How long does delivery of a large lamp to the islands take?").title == ""
