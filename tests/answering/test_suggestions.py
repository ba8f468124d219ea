import pytest

from server.answering.writing.suggestions import heading_of, next_questions
from server.domain.chunk import Chunk, ScoredChunk

LONG = "A sentence that is long enough to answer a question about what its heading says it is about."


def hit(name, *path, score=0.8, text=LONG, title="Returns"):
    return ScoredChunk(Chunk(name, "https://lantern.example/returns", title, path, text, 0, "en"), score)


def test_headings_near_the_answer_are_offered_best_first():
    found = [
        hit("a", "How to return a lamp"),
        hit("b", "2.1. Who pays the postage"),
        hit("c", "Chapter 3. Damaged goods"),
    ]
    assert next_questions(found, frozenset({"a"}), "return") == (
        "Who pays the postage",
        "Returns: Damaged goods",
    )


def test_what_was_asked_or_answered_is_not_offered_again():
    found = [
        hit("a", "Return a lamp"),
        hit("b", "Returning lamps"),
        hit("c", "Postage for returns"),
        hit("d", "Gift cards here"),
    ]
    assert next_questions(found, frozenset({"a"}), "Who pays postage for returns?", ["gift cards"]) == (
        "Gift cards here",
    )


@pytest.mark.parametrize(
    "one",
    [
        hit("x", "Some other heading", score=0.1),
        hit("x", "Some other heading", text="Short."),
        hit("x", "BASE [ ( option [, ...] ) ]"),
        hit(
            "x",
            "A heading that is much too long to stand on a button, since nobody would ever read all of it",
        ),
    ],
    ids=["far away", "no text below it", "code", "too long"],
)
def test_what_would_not_be_answered_or_cannot_be_said_is_not_offered(one):
    assert next_questions([hit("a", "Return a lamp"), one], frozenset({"a"}), "return lamp") == ()


@pytest.mark.parametrize(
    ("path", "title", "said"),
    [
        (("rotatelogs", "Exit Status"), "rotatelogs | Apache", "rotatelogs: Exit Status"),
        (("Step 2",), "Change the lamp", "Change the lamp: Step 2"),
        (("Overview", "Details"), "Returns | Lantern Shop", "Returns: Details"),
        (("Delivery", "What does delivery cost?"), "Delivery", "What does delivery cost?"),
        (("Delivery", "Delivery costs"), "Delivery", "Delivery costs"),
        (("How to return a broken lamp",), "Returns", "How to return a broken lamp"),
        (("Lamps of the year 2031*:",), "Lamps", "Lamps of the year 2031"),
        (("3 May 2031",), "News of the shop | Lantern Shop", "News of the shop: 3 May 2031"),
        (("How to search with A*",), "Algorithms", "How to search with A*"),
        (("Is delivery free?*",), "Delivery", "Is delivery free?"),
        (("Costs of delivery in Europe **",), "Delivery", "Costs of delivery in Europe"),
        (("Costs of delivery (2031)*†",), "Delivery", "Costs of delivery (2031)"),
        (("Costs",), "Delivery:", "Delivery: Costs"),
        (("Transcript",), "Film 2: Mending a lamp", "Film 2: Mending a lamp: Transcript"),
    ],
)
def test_a_suggestion_says_what_it_is_about_without_its_page(path, title, said):
    assert heading_of(hit("a", *path, title=title).chunk) == said


def test_a_heading_that_says_nothing_even_with_its_title_is_not_offered():
    vague = hit("b", "Step 2", title="Overview")
    assert next_questions([hit("a", "Return a lamp"), vague], frozenset({"a"}), "return lamp") == ()


def test_a_heading_that_two_pages_have_is_not_offered():
    twin = ScoredChunk(
        Chunk("c", "https://lantern.example/old", "Returns", ("Postage for broken lamps",), LONG, 0, "en"),
        0.8,
    )
    found = [hit("a", "Return a lamp"), hit("b", "Postage for broken lamps"), twin]
    assert next_questions(found, frozenset({"a"}), "return lamp") == ()


def test_a_heading_of_one_word_takes_along_what_it_stands_under():
    assert heading_of(hit("a", "Returns", "Notes").chunk) == "Returns: Notes"
    assert heading_of(hit("a", "Notes", title="Return a lamp | Lantern Shop").chunk) == "Return a lamp: Notes"


def test_what_is_offered_is_answered_by_the_site(shop):
    from tests.answering.conftest import answer

    _, first = answer(shop.pipeline(), "How long do parcels take?")
    for text in first.suggestions:
        assert answer(shop.pipeline(), text)[1].outcome == "answered"
