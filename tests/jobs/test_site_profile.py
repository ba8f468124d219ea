"""What a site offers to be asked, found on its own pages."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from server.domain.chunk import Chunk
from server.domain.derived import PageFacts
from server.domain.site import Site
from server.jobs.site_profile import profile
from server.jobs.starters import candidates
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

LONG = "There is enough to be said about it that a visitor learns something from it."
HOME = "https://lantern.example"


@pytest.fixture
def suggestions(tmp_path, migrated_sqlite):
    """What may be suggested for pages given as {name: headings}, best first."""
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    site = Site("shop", "Lantern Shop", "Lantern Shop", (f"{HOME}/",))
    SiteStore(database).create(site)
    content = ContentStore(database, "shop")

    def suggested(pages):
        for name, headings in pages.items():
            url = f"{HOME}/{name}"
            chunks = [
                Chunk(
                    f"{name}{at}",
                    url,
                    name.title(),
                    (name.title(), heading),
                    f"On {heading}. {LONG}",
                    at,
                    "en",
                )
                for at, heading in enumerate(headings)
            ]
            content.put_page(
                PageRecord(url, name.title(), "en", name, "", "", 0, datetime.now(UTC)), chunks, []
            )
        content.go_live()
        return [one.text for one in candidates(profile(site, content.live), content.live)]

    suggested.site, suggested.content, suggested.database = site, content, database
    yield suggested
    database.close()


def test_topics_are_standing_pages_and_one_of_each_series(suggestions):
    towns = ("aachen", "bonn", "celle", "dorsten", "essen west")
    suggestions({f"trips to {town}": ("Trips",) for town in towns} | {"sitemap": ("All",)})
    suggestions({"delivery": ("Islands",), "privacy": ("Data",), "news/first-lamp": ("A lamp",)})
    topics = dict(profile(suggestions.site, suggestions.content.live).topics)
    assert list(topics) == ["Delivery", "Trips To Bonn"]


def test_topics_come_in_the_order_in_which_the_start_page_links_them(suggestions):
    links = ((f"{HOME}/visit-us", "Visit"), (f"{HOME}/prices-and-tickets", "Prices"))
    PageFactStore(suggestions.database, "shop").put({f"{HOME}/": PageFacts(links=links)})
    suggestions({name: ("All",) for name in ("faqs", "jobs", "prices-and-tickets", "visit-us")})
    topics = dict(profile(suggestions.site, suggestions.content.live).topics)
    assert list(topics)[:2] == ["Visit-Us", "Prices-And-Tickets"]


def test_a_series_is_recognised_by_what_stands_before_a_name_of_three_words(suggestions):
    places = ("alaska", "bonn", "celle", "dorsten", "the northern islands")
    suggestions({f"trips by train to {place}": ("Trips",) for place in places})
    assert len(profile(suggestions.site, suggestions.content.live).topics) == 1
    titles = ("mend a lamp", "light the wick", "post a parcel", "find our shop", "pay by card")
    suggestions({f"how to {title}": ("Steps",) for title in titles})
    assert len(profile(suggestions.site, suggestions.content.live).topics) == 6, "how-to guides are no series"


def test_questions_that_headings_ask_come_before_titles(suggestions):
    pages = {
        "delivery": ("Islands", "How long does delivery take?", "What does delivery cost?"),
        "returns": ("Labels",),
        "lamps": ("Which lamps may stand outside?",),
    }
    assert set(suggestions(pages)[:2]) == {"How long does delivery take?", "Which lamps may stand outside?"}


def test_what_the_site_asks_its_visitors_is_not_offered_to_them(suggestions):
    asked = suggestions({"join": ("Want to join a team?", "How do I join a team?"), "help": ("Need help?",)})
    assert "How do I join a team?" in asked
    assert not {"Want to join a team?", "Need help?"} & set(asked)


def test_a_question_as_long_as_a_paragraph_and_one_asked_twice_are_not_offered_again(suggestions):
    long = "Is it " + "very " * 30 + "bright?"
    pages = {"a-lamp": (long, "How bright is a lamp?"), "b-lamp": ("How bright is a lamp?",)}
    assert suggestions(pages).count("How bright is a lamp?") == 1
    assert long not in suggestions(pages)


def test_headings_and_titles_that_say_nothing_without_their_page_are_not_offered(suggestions):
    pages = {"overview": ("What's next?", "More"), "lamps": ("Step 2", "Which lamps may stand outside?")}
    assert suggestions(pages) == ["Which lamps may stand outside?", "Lamps"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Lantern Fair 2025 | July 14th-20th 2025 | Prague, Czech Republic", "Lantern Fair 2025"),
        ("Lantern Fair | Prague", "Lantern Fair | Prague"),
        ("12–14 June 2026 | Lantern Conference in Rome, Italy", "Lantern Conference in Rome, Italy"),
    ],
)
def test_of_a_long_name_of_the_site_the_first_part_is_its_title(suggestions, name, title):
    suggestions({"delivery": ("Islands",)})
    unnamed = replace(suggestions.site, title="")
    assert profile(unnamed, suggestions.content.live, name).title == title
