"""The corrective flow grades what it found, searches again where that was not enough, and refines it."""

import pytest

from server.answering.flows.corrective import CorrectiveFlow
from server.answering.flows.graders import EvidenceStrips, Reflection, refined
from server.domain.answer import Outcome
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query, Question
from tests.answering.conftest import answer

ASKED = "How long do parcels to islands take?"


class Documents:
    """Keeps what it is told to, call by call: the ids, or all."""

    def __init__(self, *calls):
        self.calls = list(calls)
        self.asked = []

    def keep(self, query, chunks):
        self.asked.append(query.text)
        wanted = self.calls.pop(0) if len(self.calls) > 1 else self.calls[0]
        return [hit for hit in chunks if hit.chunk.id in wanted]


class Queries:
    def __init__(self, *texts):
        self.texts = list(texts)

    def transform(self, question, tried, found):
        return Query(self.texts.pop(0), question.language) if self.texts else None


def flow(shop, documents, queries=(), confidence=1.0, max_count=3):
    reflection = Reflection(
        documents, None, None, Queries(*queries), EvidenceStrips(shop.rarity), lambda query, chunks: confidence,
        max_count=max_count,
    )  # fmt: skip
    return shop.pipeline(None, lambda stages: CorrectiveFlow(stages, reflection))


def path(final):
    return [node["node"] for node in final.trace["nodes"] if not node["node"].startswith("after ")]


def test_a_correct_retrieval_is_refined_and_answered_from(shop):
    streamed, final = answer(flow(shop, Documents({"delivery"})), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert final.flow == "corrective"
    assert streamed == final.text
    assert "five working days" in final.text
    assert path(final) == ["retrieve", "grade_retrieval", "refine"]


def test_thin_evidence_is_searched_for_once_more_and_what_was_found_stays(shop):
    _, final = answer(
        flow(shop, Documents({"delivery"}), ["shipping islands", "more"], confidence=0.5), ASKED
    )
    assert path(final) == ["retrieve", "grade_retrieval", "search_wider", "grade_retrieval", "refine"]
    assert final.trace["nodes"][1]["worth"] == "ambiguous"
    assert "five working days" in final.text


@pytest.mark.parametrize("max_count", [1, 2, 3])
def test_an_incorrect_retrieval_is_tried_with_other_words_until_the_limit(shop, max_count):
    documents = Documents(set())
    _, final = answer(flow(shop, documents, ["one", "two", "three", "four"], max_count=max_count), ASKED)
    assert final.outcome is Outcome.REFUSED
    assert documents.asked == [ASKED] * max_count
    assert final.pages


def test_other_words_that_find_the_answer_are_answered_from(shop):
    _, final = answer(
        flow(shop, Documents(set(), {"trap"}), ["warranty years"]), "How long is it guaranteed?"
    )
    assert "three years" in final.text


def test_without_another_wording_what_was_found_is_used(shop):
    _, final = answer(flow(shop, Documents({"delivery"}), confidence=0.1), ASKED)
    assert path(final) == ["retrieve", "grade_retrieval", "search_wider", "refine"]
    assert final.outcome is Outcome.ANSWERED


def test_the_ranking_begins_with_what_was_kept(shop):
    found = flow(shop, Documents({"returns"})).search(Question(ASKED, "shop", (), "en"), 4)
    assert found[0].chunk.id == "returns"
    assert len({hit.chunk.id for hit in found}) == len(found) == 4


def chunk(text):
    return ScoredChunk(Chunk("c", "https://lantern.example/c", "Lamps", (), text, 0, "en"), 1.0)


PAGE = (
    "Our lamps are made in the valley.\n\nA lamp needs these parts:\n\n- a wick\n- some lamp oil\n\n"
    "The shop has a garden.\n\nLamp oil is sold in bottles."
)


def test_paragraphs_of_no_use_are_left_out_and_lists_keep_their_introduction(shop):
    left = refined(
        Query("Which parts and oil does a lamp need?", "en"), [chunk(PAGE)], EvidenceStrips(shop.rarity)
    )
    texts = [hit.chunk.text for hit in left]
    assert "A lamp needs these parts:\n\n- a wick\n- some lamp oil" in texts
    assert not any("garden" in text for text in texts)
    assert all(text in PAGE for text in texts), "what stood apart is not joined"


def test_when_words_cannot_tell_everything_stays(shop):
    assert (
        refined(Query("照明器具の部品", "ja"), [chunk(PAGE)], EvidenceStrips(shop.rarity))[0].chunk.text
        == PAGE
    )
