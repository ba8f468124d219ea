"""Which chunks a chat model reads, and in which order, by the kind of question."""

import re

import pytest

from server.answering.writing.plan import ReadingPlan
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from tests.answering.conftest import answer
from tests.answering.test_model_habits import KeepAll

URL = "https://shop.example/returns"


def piece(id, text, section="Returns", url=URL):
    return Chunk(id, url, "Shop", (section,), text, 0, "en")


PAGE = [
    piece("intro", "Everything about sending lamps.", "Sending"),
    piece("before", "Keep the receipt at hand.", "Returns"),
    piece("one", "1. Write to us.\n2. Print the label."),
    piece("two", "3. Put the lamp into its box.\n4. Bring the box to a post office."),
    piece("refunds", "Refunds take five days.", "Refunds"),
    piece("far", "Lamps are made of brass.", "Material"),
]
OTHERS = [piece(f"o{n}", f"Number {n}.", f"Other {n}", f"https://shop.example/{n}") for n in range(12)]


def planned(question, chunks, page=PAGE):
    hits = [ScoredChunk(chunk, 1 - n / 20) for n, chunk in enumerate(chunks)]
    read = ReadingPlan(lambda url: [chunk for chunk in page if chunk.url == url]).apply
    return [hit.chunk.id for hit in read(Query(question, "en"), hits)]


def test_a_question_for_one_fact_reads_four_chunks_with_the_best_two_at_the_ends():
    assert planned("What does delivery cost?", OTHERS) == ["o0", "o2", "o3", "o1"]


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("What does delivery cost and how long does it take?", 6),
        ("What are the main topics of the manual?", 8),
    ],
)
def test_questions_for_more_read_more(question, count):
    assert len(planned(question, OTHERS)) == count


def test_a_comparison_reads_both_sides_in_turn():
    lamps = [
        piece("a1", "The Glow Mini is small.", "Glow Mini"),
        piece("a2", "The Glow Mini is red.", "Glow Mini"),
        piece("none", "Both have a plug.", "Plug"),
        piece("a3", "The Glow Mini is cheap.", "Glow Mini"),
        piece("b1", "The Star Large is big.", "Star Large"),
        piece("b2", "The Star Large is blue.", "Star Large"),
    ]
    asked = "What is the difference between Glow Mini and Star Large?"
    assert planned(asked, lamps) == ["a1", "b1", "a2", "b2", "a3", "none"]


def test_steps_are_read_whole_in_page_order_with_their_neighbours_and_then_the_rest():
    found = [PAGE[3], OTHERS[0], PAGE[2], OTHERS[1]]
    assert planned("How do I return a lamp?", found) == ["intro", "before", "one", "two", "refunds", "o0"]


def test_a_long_section_is_cut_around_the_best_chunk():
    page = [piece(f"s{n}", f"{n}1. Do this.\n{n}2. Do that.") for n in range(20)]
    assert planned("How do I return a lamp?", [page[9]], page) == [f"s{n}" for n in range(8, 14)]


def test_parts_of_a_chunk_are_all_read_and_nothing_twice():
    parts = [piece("one", "1. Write to us.\n2. Print the label."), piece("one", "Sign it.")]
    widened = piece("two", f"{PAGE[1].text}\n\n{PAGE[3].text}")
    assert planned("How do I return a lamp?", [*parts, PAGE[3]]) == [
        "intro",
        "before",
        "one",
        "one",
        "two",
        "refunds",
    ]
    assert planned("How do I return a lamp?", [widened]) == ["intro", "one", "two", "refunds"]


def test_steps_of_a_page_that_has_changed_are_read_as_they_were_found():
    assert planned("How do I return a lamp?", [PAGE[3], OTHERS[0]], []) == ["two", "o0"]


def test_the_prompt_has_the_planned_chunks_and_they_can_be_cited(shop, chat_model, model_server):
    plan = ReadingPlan(shop.content.live.page).apply
    model_server.script = lambda request: '{"answer": "Put the lamp into its box. [1]"}'
    _, final = answer(
        shop.pipeline(chat_model, grader=KeepAll(), plan=plan), "How do I send a lamp back with a label?"
    )
    prompt = model_server.requests[0]["body"]["messages"][-1]["content"]
    chunks = re.findall(r'<chunk number="(\d)" title="([^"]+)">', prompt)
    assert chunks[0] == ("1", "Returns")
    assert [number for number, _ in chunks] == [str(n) for n in range(1, len(chunks) + 1)]
    assert final.citations[0].url.endswith("/returns")
    assert final.model == "test-model"
