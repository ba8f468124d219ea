"""A section that only points to another page leads to that page's section."""

from server.answering.page_steps import FollowedPointers
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords


def chunk(id, url, text, heading="Help"):
    return Chunk(id, url, "Help", (heading,), text, 0, "en")


POINTER = chunk("pointer", "/faq", "For membership prices see our pricing page.")
PRICES = chunk("prices", "/prices", "Membership prices: ten pounds a month for students.", "Membership")
ROOMS = chunk("rooms", "/prices", "Rooms can be hired for parties.", "Rooms")
LONG = chunk("long", "/faq", f"{POINTER.text} {'We explain all of it here at length. ' * 8}")
PAGES = {"/prices": [ROOMS, PRICES], "/faq": [POINTER]}
LINKS = {"/faq": [("/prices", "pricing page"), ("/gone", "membership"), ("/faq", "see our")]}


def refined(*hits, question="membership prices"):
    step = FollowedPointers(
        lambda url: LINKS.get(url, []), lambda url: PAGES.get(url, []), Rarity(EqualWords())
    )
    return [hit.chunk.id for hit in step.refine(Query(question, "en"), hits, 10)]


def test_the_section_that_is_pointed_to_comes_first():
    assert refined(ScoredChunk(POINTER, 0.6)) == ["prices", "pointer"]


def test_it_comes_behind_where_it_says_less_of_what_is_asked():
    assert refined(ScoredChunk(POINTER, 0.6), question="pricing page") == ["pointer", "prices"]


def test_a_section_that_explains_itself_is_left_alone():
    assert refined(ScoredChunk(LONG, 0.6)) == ["long"]


def test_a_section_found_already_is_raised_and_not_repeated():
    assert refined(ScoredChunk(POINTER, 0.6), ScoredChunk(PRICES, 0.2)) == ["prices", "pointer"]


def test_only_the_first_results_are_followed():
    others = [
        ScoredChunk(chunk(f"other {n}", "/other", "Other words of no use."), 0.9 - n / 100) for n in range(3)
    ]
    assert "prices" not in refined(*others, ScoredChunk(POINTER, 0.6))
