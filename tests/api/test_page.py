"""The page that a visitor asks from: taken where the site allows it, never a reason to refuse a question."""

from dataclasses import replace

import pytest

from tests.api.conftest import SHOP, SHOP_ORIGIN, new_visitor

PAGE = {"url": f"{SHOP_ORIGIN}/lamp#top", "title": "Lamp", "selection": "brass"}


@pytest.fixture
def asked(client, runtime, script):
    """Asks from a page of the shop, with what the site allows; gives the page that the answer is made with."""

    def ask(context, page=PAGE):
        runtime.stores.sites.update(replace(SHOP, options={"context": context}))
        response = new_visitor(client, SHOP_ORIGIN).ask("How much is this?", page=page)
        assert response.status_code == 200, response.text
        seen = script.questions[-1].page
        return seen and (seen.url, seen.title, seen.selection)

    return ask


def test_page_and_selection_are_allowed_one_by_one(asked):
    url = f"{SHOP_ORIGIN}/lamp"
    assert asked({"page": True, "selection": True}) == (url, "Lamp", "brass")
    assert asked({"page": True, "selection": False}) == (url, "Lamp", "")
    assert asked({"page": False, "selection": True}) is None
    assert asked({}) is None


@pytest.mark.parametrize(
    "page",
    [
        {"url": "https://evil.example/lamp", "title": "Lamp"},
        {"url": "javascript:alert(1)"},
        {"url": "x" * 5000},
        {"url": "https://[broken"},
        None,
    ],
)
def test_a_page_of_elsewhere_is_no_reason_to_refuse(asked, page):
    assert asked({"page": True, "selection": True}, page) is None


def test_title_and_selection_may_be_missing(asked):
    both = {"page": True, "selection": True}
    assert asked(both, {"url": f"{SHOP_ORIGIN}/"}) == (f"{SHOP_ORIGIN}/", "", "")
    assert asked(both, PAGE | {"selection": None}) == (f"{SHOP_ORIGIN}/lamp", "Lamp", "")


def test_what_is_too_long_is_cut(make_app, script):
    client = make_app(selection_chars=50).test_client()
    runtime = client.application.extensions["docent"]
    runtime.stores.sites.update(replace(SHOP, options={"context": {"page": True, "selection": True}}))
    page = PAGE | {"title": "t" * 900, "selection": "word " * 2000}
    assert new_visitor(client, SHOP_ORIGIN).ask("What is this?", page=page).status_code == 200
    seen = script.questions[-1].page
    assert (len(seen.title), len(seen.selection)) == (200, 50)


@pytest.mark.parametrize(
    "page", ["https://shop.example/", {}, {"url": ""}, {"url": 7}, {"url": "x", "html": "<p>"}]
)
def test_what_is_no_page_is_told_so(client, page):
    response = new_visitor(client, SHOP_ORIGIN).ask("How much is this?", page=page)
    assert (response.status_code, response.json["error"]["code"]) == (422, "invalid_request")
