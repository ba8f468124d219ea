"""A section that only points to other pages gives way to their sections."""

from server.answering.page_steps import FollowedPointers, ListsOfLinks
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


CONTENTS = chunk(
    "contents", "/docs", "- Delivery\n- Membership prices\n- Rooms\n- Volunteers", "Documentation"
)


def set_back(*hits, question="membership prices"):
    words = ("Delivery", "Membership prices", "Rooms", "Volunteers")
    links = {"/docs": [(f"/{word}", word) for word in words]}
    step = ListsOfLinks(lambda url: links.get(url, []), Rarity(EqualWords()))
    return [hit.chunk.id for hit in step.refine(Query(question, "en"), hits, 10)]


def test_a_list_of_links_comes_behind_the_page_that_it_links():
    assert set_back(ScoredChunk(CONTENTS, 0.6), ScoredChunk(PRICES, 0.5)) == ["prices", "contents"]
    assert set_back(ScoredChunk(CONTENTS, 0.6), ScoredChunk(PRICES, 0.3)) == ["contents", "prices"]


def test_a_list_of_links_that_is_asked_for_stays_first():
    asked = "is there a documentation"
    assert set_back(ScoredChunk(CONTENTS, 0.6), ScoredChunk(PRICES, 0.5), question=asked)[0] == "contents"


def test_a_list_that_says_something_stays_where_it_is():
    told = chunk("told", "/docs", "- Delivery\n- Membership prices: ten pounds\n- Rooms: two\n- Tools: many")
    assert set_back(ScoredChunk(told, 0.6), ScoredChunk(PRICES, 0.5)) == ["told", "prices"]
