"""The dashboard shows what a question finds, by the path on which visitors are answered."""

import re

import pytest

from admin.people.passwords import hash_password
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app

SEARCH = "/admin/sites/shop/content/search"


@pytest.fixture
def operator(shop):
    shop.runtime.people.operators.create(EMAIL, hash_password(PASSWORD))
    browser = Browser(make_app(shop.runtime))
    log_in(browser)
    return browser


def test_pieces_are_shown_with_scores_above_and_below_the_floor(operator, shop):
    page = operator.get(f"{SEARCH}?q=When are refunds paid?").text
    assert "A visitor gets an answer from the first" in page
    above, below = page.split('class="floor"')
    assert "Refunds are paid within 14 days" in above
    assert re.search(r"<b>[01]\.\d{3}</b>", above)
    assert "chunk below" in below
    assert "/admin/sites/shop/content/page?url=" in above
    assert shop.runtime.dialogue.conversations.recent("shop", 10) == [], "nothing of it is kept"


def test_a_question_that_the_site_does_not_answer_stays_below_the_floor(operator, shop):
    page = operator.get(f"{SEARCH}?q=Who won the football game last night?").text
    assert "A visitor reads that the site does not say it" in page
    assert "No section matches well enough" in page


def test_what_an_operator_decided_counts_at_once(operator, shop):
    address = "When are refunds paid?"
    operator.send(SEARCH, {"url": shop.url("/returns")}, "/admin/sites/shop/content/exclude")
    assert "Refunds are paid" not in operator.get(f"{SEARCH}?q={address}").text
    operator.send(SEARCH, {"url": shop.url("/install")}, "/admin/sites/shop/content/pin")
    assert "its page is pinned" in operator.get(f"{SEARCH}?q=How much is the Glow Mini?").text


@pytest.mark.parametrize(
    "question", ["", "   ", "?", "<script>alert(1)</script>", "x" * 5000, "%00\x01", "ß" * 300]
)
def test_odd_questions_are_answered_with_a_page(operator, question):
    answer = operator.http.get(SEARCH, query_string={"q": question})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
