"""A question that names one page of a series is not answered from the page of another."""

from server.answering.ranking import ODDS
from server.answering.series import NamedInSeries, members
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query

STATES = ("Ohio", "Florida", "Virginia", "West Virginia", "New York", "Texas")
TITLES = [(f"/{name}", f"{name} Tax Information", "en") for name in STATES]
SERIES = members([*TITLES, ("/faq", "Questions", "en")], "Card Office")


def chunk(url, text="Individual accounts are not exempt.", heading=""):
    title = next((title for page, title, _ in TITLES if page == url), "Questions")
    return Chunk(f"{url} {text}", url, title, (heading or title,), text, 0, "en")


def hit(chunk, score, odds=0.1):
    return ScoredChunk(chunk, score, {ODDS: odds})


FAQ = hit(chunk("/faq", "Hotels may ask for a form before they take off the tax."), 0.9, 1.0)
OHIO, FLORIDA = hit(chunk("/Ohio"), 0.5), hit(chunk("/Florida"), 0.7)
VIRGINIA, WEST = hit(chunk("/Virginia"), 0.6), hit(chunk("/West Virginia"), 0.5)


def pages(question, *hits):
    found = NamedInSeries(lambda: SERIES).refine(Query(question, "en"), hits, 10)
    return [one.chunk.url for one in found]


def test_titles_that_are_alike_but_for_a_name_make_a_series():
    assert set(SERIES) == {url for url, *_ in TITLES}
    assert SERIES["/West Virginia"].name == {"west", "virginia"}
    assert SERIES["/Ohio"].series == SERIES["/New York"].series


def test_the_name_may_be_anywhere_in_the_title():
    languages = ("R", "Julia", "Python", "Java", "Matlab")
    jobs = members([(f"/{name}", f"Running {name} Jobs", "en") for name in languages], "")
    assert {url: member.name for url, member in jobs.items()} == {
        f"/{name}": {name.lower()} for name in languages
    }
    assert jobs["/R"].about == {"run", "job"}


def test_what_all_titles_share_is_no_series_if_it_says_nothing():
    steps = [(f"/{word}", f"How to {word}", "en") for word in ("apply", "pay", "vote", "cancel", "join")]
    site = [
        (f"/{word}", f"Card Office {word}", "en") for word in ("Refunds", "Audits", "News", "Help", "Jobs")
    ]
    assert members(steps, "Card Office") == {}
    assert members(site, "Card Office") == {}
    assert members(TITLES[:4], "Card Office") == {}, "four are too few"


def test_the_page_that_is_named_comes_first_and_another_one_not_at_all():
    assert pages("do i pay hotel tax in ohio", FAQ, FLORIDA, OHIO) == ["/Ohio", "/faq"]


def test_the_longer_name_is_meant():
    assert pages("tax in west virginia", VIRGINIA, WEST) == ["/West Virginia"]
    assert pages("tax in virginia", VIRGINIA, WEST)[0] == "/Virginia"


def test_a_section_that_says_the_name_stays_where_it_is():
    said = hit(chunk("/faq", "In Ohio hotels take off the tax."), 0.9, 1.0)
    assert pages("hotel tax in ohio", said, OHIO) == ["/faq", "/Ohio"]
    near = hit(chunk("/Florida", "The form of Ohio is accepted too."), 0.7)
    assert pages("tax form of ohio", near, OHIO) == ["/Florida", "/Ohio"]


def test_the_named_page_is_not_put_first_for_another_subject():
    assert pages("restaurants in ohio", FAQ, OHIO) == ["/faq", "/Ohio"]


def test_without_a_name_nothing_changes():
    assert pages("do i pay hotel tax", FAQ, FLORIDA, OHIO) == ["/faq", "/Florida", "/Ohio"]
    assert pages("do i pay hotel tax in texas", FAQ, FLORIDA) == ["/faq", "/Florida"], "Texas was not found"
