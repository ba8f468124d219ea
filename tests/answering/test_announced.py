"""The "next" fair is searched for as sites announce it."""

import pytest

from server.answering.trace import Trace
from server.answering.understanding.steps import AnnouncedStep, understand
from server.domain.question import Question


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("when is the next fair", "when is the upcoming fair"),
        ("Next lamp workshop?", "upcoming lamp workshop?"),
        ("what is next to the mill", "what is next to the mill"),
        ("what's the next step", "what's the next step"),
        ("are you open next week", "are you open next week"),
        ("what's next?", "what's next?"),
        ("how much is next business day delivery", "how much is next business day delivery"),
        ("who is my next of kin", "who is my next of kin"),
        ("is it a next generation firewall", "is it a next generation firewall"),
        ("how to use next js", "how to use next js"),
    ],
)
def test_the_next_one_is_searched_for_as_upcoming(asked, searched):
    assert understand(Question(asked, "shop", language="en"), [AnnouncedStep()], Trace()).text == searched


@pytest.mark.parametrize("language", ["de", "sv", ""])
def test_a_question_of_another_language_stays_as_it_is(language):
    asked = Question("the next fair", "shop", language=language)
    assert understand(asked, [AnnouncedStep()], Trace()).text == "the next fair"
