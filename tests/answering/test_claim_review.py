"""A model grades the claims of a model's answer: what it finds unsupported does not stay."""

import pytest

from server.answering.verifying.reviewers import ClaimReviewer
from server.domain.answer import Answer, Citation, Outcome
from server.domain.question import Question
from server.domain.reflection import Grade

QUESTION = Question("How long?", "shop")
CITED = tuple(Citation(n, f"https://shop.example/{n}", "T", "q", "") for n in (1, 2))
TEXT = "Parcels take two days [1]. Islands take a year [2].\n\n- Ask for a label [1]\n- Wait for a boat [2]"


class Grader:
    """Finds what it is told to find."""

    def __init__(self, *unsupported):
        self.unsupported = unsupported
        self.asked = 0

    def grade(self, question, draft):
        self.asked += 1
        return Grade(not self.unsupported, 1.0, self.unsupported)


def review(grader, model="gpt", text=TEXT):
    return ClaimReviewer(grader).review(QUESTION, Answer(Outcome.ANSWERED, text, CITED, model=model), [])


def test_an_answer_that_holds_stays_as_it_is():
    assert review(Grader()).text == TEXT


@pytest.mark.parametrize(
    "claim", ["Islands take a year.", "Islands take a year [2].", "Islands  take a year"]
)
def test_an_unsupported_sentence_goes_with_its_markers(claim):
    left = review(Grader(claim)).text
    assert left.startswith("Parcels take two days [1]. \n") or left.startswith("Parcels take two days [1].\n")
    assert "year" not in left


def test_an_unsupported_list_item_goes_with_its_line_and_the_citations_that_only_it_had():
    left = review(Grader("Islands take a year", "Wait for a boat"))
    assert left.text.endswith("- Ask for a label [1]")
    assert [citation.number for citation in left.citations] == [1]
    assert left.trace["removed_by_grading"] == ["Islands take a year", "Wait for a boat"]


def test_an_answer_of_which_nothing_is_left_becomes_a_refusal():
    assert review(Grader("Parcels take two days"), text="Parcels take two days [1].") is None


def test_quotations_are_not_graded():
    grader = Grader("Parcels take two days")
    assert review(grader, model="embedded").text == TEXT
    assert grader.asked == 0
