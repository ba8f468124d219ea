"""The playground in a real browser: results appear as they come, with and without JavaScript."""

import json
from threading import Event

import pytest

from server.domain.roles import Role
from tests.admin.tabs import opened
from tests.openai_server import Reply
from tests.playground.conftest import ASKED
from tests.servers import web_server

SAID = json.dumps({"answer": "Parcels to islands take five working days. [1]"})


@pytest.fixture
def patience():
    """A busy machine may take long to draw a page."""
    return 60


@pytest.fixture
def address(paid_dashboard, made_app):
    with web_server(made_app) as address:
        yield address


@pytest.fixture
def cookie(paid_dashboard):
    found = paid_dashboard.as_role(Role.EDITOR).http.get_cookie("docent_operator", path="/admin")
    return {"name": found.key, "value": found.value, "domain": "127.0.0.1", "path": "/admin"}


@pytest.fixture
def held(model_server, paid_dashboard):
    """A model that answers when the event is set."""
    event = Event()
    model_server.script = lambda request: Reply(SAID, held_by=event)
    yield event
    event.set()


def test_results_appear_without_loading_the_page_again(browser, address, cookie, held):
    with opened(browser, address, "desk", "light", [cookie]) as tab:
        tab.goto("/admin/playground")
        tab.get_by_role("textbox", name="Question", exact=True).fill(ASKED)
        tab.get_by_text("Compare: other").click()
        tab.get_by_role("group", name="Variant 2").get_by_label("Written by").select_option("embedded")
        tab.get_by_role("button", name="Ask", exact=True).click()
        tab.wait_for_url("**/admin/playground/*")
        first, second = tab.locator(".way-result").all()
        assert "Being asked" in first.inner_text()
        tab.evaluate("() => { window.sameDocument = true }")
        second.get_by_text("Quoted from the pages, no model").wait_for()
        assert "Being asked" in first.inner_text(), "one way does not wait for the other"
        held.set()
        tab.get_by_text("Written by small-1").first.wait_for()
        assert tab.evaluate("() => window.sameDocument"), "the page was not loaded anew"
        tab.get_by_text("How this answer was made").first.click()
        assert tab.get_by_text("Prompts as sent").is_visible()


def test_without_javascript_the_page_waits_by_loading_itself_again(browser, address, cookie, held):
    context = browser.new_context(java_script_enabled=False, base_url=address)
    context.add_cookies([cookie])
    tab = context.new_page()
    tab.goto("/admin/playground")
    tab.get_by_role("textbox", name="Question", exact=True).fill(ASKED)
    tab.get_by_role("button", name="Ask", exact=True).click()
    tab.wait_for_url("**/admin/playground/*")
    assert tab.get_by_text("Being asked").first.is_visible()
    held.set()
    tab.get_by_text("Written by small-1").first.wait_for()
    context.close()


def test_the_whole_of_it_works_with_the_keyboard(browser, address, cookie, held):
    held.set()
    with opened(browser, address, "phone", "dark", [cookie]) as tab:
        tab.goto("/admin/playground")
        tab.get_by_role("textbox", name="Question", exact=True).focus()
        tab.keyboard.type(ASKED)
        tab.keyboard.press("Tab")
        for _ in range(60):
            if tab.evaluate("() => document.activeElement.textContent.trim()") == "Ask":
                break
            tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/admin/playground/*")
        tab.get_by_text("Written by small-1").first.wait_for()
        summary = tab.locator("details.trace > summary").first
        summary.focus()
        opened_before = tab.locator("details.trace").first.get_attribute("open")
        tab.keyboard.press("Enter")
        assert tab.locator("details.trace").first.get_attribute("open") != opened_before
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
