"""An operator's way from a refused question to a gap that closed itself, in the whole application."""

import pytest

from admin.people.passwords import hash_password
from server.app import create_app
from server.domain.answer import Outcome
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in
from tests.gaps.shop import QUESTION, WARRANTY

NEW_ANSWER = "/admin/sites/shop/answers/new"


@pytest.fixture
def operator(shop):
    """A browser without JavaScript, logged in."""
    shop.runtime.people.operators.create(EMAIL, hash_password(PASSWORD))
    browser = Browser(create_app(shop.runtime.configuration.settings, shop.runtime))
    assert log_in(browser).status_code == 302
    return browser


def look(operator):
    return operator.send("/admin/gaps", {}, "/admin/gaps/look", follow_redirects=True).text


def test_a_gap_that_a_new_page_closes(shop, operator):
    for visitor in ("anna", "ben"):
        assert shop.ask(QUESTION, visitor).answer.outcome is Outcome.REFUSED
    page = look(operator)
    assert "2 new questions were sorted in." in page
    assert "No page mentions: warranty." in page
    (gap,) = shop.gaps()
    one = f"/admin/gaps/{gap.id}"
    assert f'href="{one}"' in page
    assert "2 visitors" in operator.get(one).text
    operator.send(one, {"status": "planned", "note": "I write a page."})
    again = operator.send(one, {}, f"{one}/again", follow_redirects=True).text
    assert "It is still not answered." in again

    shop.add_page("/warranty", WARRANTY)
    crawl_id = shop.crawl()
    shop.runtime.gap_work.after_crawls()
    solved = operator.get(one).text
    assert f"Asked again after crawl {crawl_id}: a page answers it." in solved
    assert "lasts three years" in solved
    assert "Planned" in solved, "its history is kept"
    assert "Nothing open here" in operator.get("/admin/gaps").text
    listed = operator.get("/admin/gaps?site=shop&status=solved").text
    assert f"After crawl {crawl_id}, Docent asked 1 open questions again and closed 1." in " ".join(
        listed.split()
    )
    assert shop.ask(QUESTION, "cleo").answer.outcome is Outcome.ANSWERED


def test_a_gap_that_an_own_answer_closes_and_whose_answer_the_pages_contradict_later(
    shop, operator, monkeypatch
):
    monkeypatch.setattr("server.answering.shortcuts.curated.FRESH_S", 0.0)
    shop.ask(QUESTION)
    look(operator)
    (gap,) = shop.gaps()
    form = operator.get(f"{NEW_ANSWER}?gap={gap.id}").text
    assert f'value="{QUESTION}"' in form
    filled = {"question": QUESTION, "text": "The warranty lasts two years.", "enabled": "y"}
    saved = operator.send(f"{NEW_ANSWER}?gap={gap.id}", filled, follow_redirects=True).text
    assert "It closes 1 gap." in saved
    assert "visitors would get no answer" in saved
    assert "Your own answer is given to it now" in operator.get(f"/admin/gaps/{gap.id}").text
    assert shop.ask(QUESTION, "ben").answer.outcome is Outcome.CURATED
    assert "Given 1 time" in operator.get("/admin/sites/shop/answers/1").text

    shop.add_page("/warranty", WARRANTY)
    shop.crawl()
    shop.runtime.gap_work.after_crawls()
    assert "Differs from the pages" in operator.get("/admin/sites/shop/answers").text
    differs = operator.get("/admin/sites/shop/answers/1").text
    assert "The site says three years, this answer says two years." in differs
