"""What is new on a site is answered with its newest posts."""

import shutil
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from server.answering.shortcuts.key_pages import KeyPages
from server.answering.shortcuts.news import News
from server.domain.answer import Outcome
from server.domain.chunk import Chunk
from server.domain.question import Question, VisitorPage
from server.domain.site import Site
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

HOME = "https://mill.example"
TODAY = date(2031, 5, 20)
POSTS = {
    "roof": ("2031-05-07", "New roof", "May 7, 2031\n\nThe mill has a new roof since the first of May."),
    "fair": ("2031-03-02", "Spring fair", "All stalls are let, and the *band* comes back."),
    "lamp": ("2030-11-30", "Lamps", "Buy lamps"),
    "soon": ("2031-06-01", "Not yet", "This page is shown to nobody before the first of June."),
}


@pytest.fixture
def ask(tmp_path, migrated_sqlite):
    shutil.copyfile(migrated_sqlite, tmp_path / "docent.sqlite3")
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    site = Site("mill", "mill.example", "The Mill", (f"{HOME}/",), language="en")
    SiteStore(database).create(site)
    content = ContentStore(database, "mill")

    def put(name, day, title, text, spoken="en", kind="post"):
        chunk = Chunk(name, f"{HOME}/{name}", title, (), text, 0, spoken, kind=kind, dated=day)
        more = replace(chunk, id=f"{name} more", text="Read on for all that there is to say.", position=1)
        record = PageRecord(chunk.url, title, spoken, name, "", "", 0, datetime.now(UTC))
        content.put_page(record, [chunk, more], [])

    def answer(text, language="en", posts=POSTS, hidden="", **asked):
        put("about", "2031-05-19", "About", "We mill flour and have done so for a long time.", kind="")
        for name, post in posts.items():
            put(name, *post)
        content.go_live()
        live = content.live
        live.holdout.hides = lambda url: url == f"{HOME}/{hidden}"
        key_pages = KeyPages(site, live, str, "https://docent.example")
        news = News(site, key_pages, frozenset({HOME}), content.live.page_text, lambda: TODAY)
        return news.answer(Question(text, "mill", language=language, **asked))

    yield answer
    database.close()


def test_the_newest_posts_are_named_with_their_days_and_how_they_begin(ask):
    answer = ask("what's new?")
    assert answer.outcome is Outcome.ANSWERED
    assert answer.text == (
        "Newest on The Mill:\n\n"
        "- [New roof](https://mill.example/roof) (7 May 2031): "
        "The mill has a new roof since the first of May. [1]\n"
        "- [Spring fair](https://mill.example/fair) (2 March 2031): "
        "All stalls are let, and the \\*band\\* comes back. [2]\n"
        "- [Lamps](https://mill.example/lamp) (30 November 2030)"
    )
    assert [citation.url for citation in answer.citations] == [f"{HOME}/roof", f"{HOME}/fair"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        *(("en", text) for text in ("whats new", "whats the latest", "any updates?", "Is there any news?", "What is the latest news?", "What's new at The Mill?")),
        *(("en", text) for text in ("what are the latest blog posts", "Hi! What's new?")),
        *(("de", text) for text in ("Was gibt's Neues?", "Neuigkeiten", "die neuesten Beiträge")),
        ("fr", "Quoi de neuf ?"), ("es", "¿Qué hay de nuevo?"), ("it", "Ci sono novità?"), ("pt", "Há novidades?"),
        ("nl", "laatste nieuws"), ("pl", "Co nowego?"), ("ru", "Что нового?"), ("zh", "最新消息"),
        ("ja", "最新のニュース"), ("ko", "새로운 소식"), ("ar", "ما الجديد؟"),
    ],
)  # fmt: skip
def test_what_is_new_is_asked_for_in_many_ways_and_languages(ask, language, text):
    assert ask(text, language) is not None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "what's new in version 2",
            "is the roof new",
            "news about the roof",
            "do you have a newsletter",
            "new",
        ),
        *("latest update", "something new", "neue Artikel", "neue Nachrichten", "nouveautés", "novedades"),
    ],
)
def test_other_questions_are_searched(ask, text):
    assert ask(text) is None


def test_a_question_about_the_page_is_searched(ask):
    assert ask("what's new?", page=VisitorPage(f"{HOME}/roof")) is None


def test_a_site_with_hardly_any_posts_has_no_news(ask):
    assert ask("what's new?", posts={"roof": POSTS["roof"], "soon": POSTS["soon"]}) is None


def test_posts_in_the_visitors_language_are_named_and_others_where_there_are_none(ask):
    posts = {**POSTS, "dach": ("2031-05-07", "Neues Dach", "Die Mühle hat ein neues Dach seit Mai.", "de")}
    posts["markt"] = ("2031-05-06", "Markt", "Am Samstag ist wieder Markt auf dem Hof.", "de")
    assert "Roof" not in ask("Was gibt es Neues?", "de", posts).text
    assert "Dach" not in ask("what's new?", posts=posts).text
    assert "New roof" in ask("Quoi de neuf ?", "fr", posts).text


def test_hidden_posts_are_not_named(ask):
    assert "New roof" not in ask("what's new?", hidden="roof").text


def test_posts_of_one_title_are_named_once(ask):
    again = {"roof2": ("2031-05-06", "New roof", "Here are more pictures of the same roof.")}
    assert ask("what's new?", posts={**POSTS, **again}).text.count("New roof") == 1


def test_a_day_that_may_be_only_a_month_is_not_shown(ask):
    answer = ask(
        "what's new?", posts={**POSTS, "may": ("2031-05-01", "Letter", "We are looking back on May.")}
    )
    assert "[Letter](https://mill.example/may): We are" in answer.text


def test_on_a_busy_site_no_day_is_lost(ask):
    busy = {
        f"p{day}-{number}": (f"2031-05-{day}", f"Post {day} {number}", "It is about the mill and its wheel.")
        for day in range(12, 19)
        for number in range(6)
    }
    assert "Post 18" in ask("what's new?", posts=busy).text


def test_a_day_that_many_pages_have_is_none_on_which_they_were_written(ask):
    built = {f"old{number}": ("2031-05-18", f"Old {number}", "It is long ago.") for number in range(6)}
    answer = ask("what's new?", posts={**POSTS, **built})
    assert "Old" not in answer.text
    assert "New roof" in answer.text
