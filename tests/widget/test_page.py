"""What of the page that the visitor is on goes with a question."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.widget.test_conversation import answered, ask

BODY = "<p id='words'>The northern berth is the deeper one.</p><p id='others'>Dogs are welcome.</p>"


@pytest.fixture
def allowed(script):
    script.configuration = {"context": {"page": True, "selection": True}}
    return script


def mark(page: Page, which: str = "words") -> None:
    if page.locator(".launcher").is_visible():
        page.locator(".launcher").hover()  # its modules are there before the words are marked
        page.wait_for_load_state("networkidle")
    page.locator(f"#{which}").click(click_count=3)


def test_the_page_is_not_told_unless_the_site_allows_it(opened, script):
    page = opened(body=BODY)
    mark(page)
    page.get_by_role("textbox", name="Ask a question").click()
    expect(page.locator(".about")).to_be_hidden()
    ask(page)
    answered(page)
    assert "page" not in script.asked[0]


def test_address_and_title_go_along_without_query_and_fragment(opened, allowed, server):
    page = opened()
    page.evaluate("history.replaceState(0, '', '/?session=secret#part')")
    ask(page)
    answered(page)
    assert allowed.asked[0]["page"] == {"url": f"{server.home}/", "title": "Harbour"}


def test_an_emoji_is_not_cut_in_half(visit, allowed):
    """The server reads no text with half a character in it."""
    page = visit(body=f"<p id='words'>{'x' * 999}🚢 and more</p>")
    page.evaluate(f"document.title = '{'x' * 199}🚢'")
    mark(page)
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    assert allowed.asked[0]["page"]["title"] == "x" * 199
    assert allowed.asked[0]["page"]["selection"] == "x" * 999


def test_a_query_that_belongs_to_the_address_goes_along(opened, allowed, server):
    page = opened(head='<link rel="canonical" href="HOST/?page=7#x">')
    page.evaluate("history.replaceState(0, '', '/?page=7&session=secret')")
    ask(page)
    answered(page)
    assert allowed.asked[0]["page"]["url"] == f"{server.home}/?page=7"


def test_what_is_marked_is_shown_and_goes_with_one_question(visit, allowed):
    page = visit(body=BODY)
    mark(page)
    page.locator(".launcher").click()
    expect(page.locator(".about")).to_contain_text("About:")
    expect(page.locator(".about q")).to_have_text("The northern berth is the deeper one.")
    ask(page, "How deep?")
    answered(page)
    expect(page.locator(".about")).to_be_hidden()
    expect(page.locator(".you q")).to_have_text("The northern berth is the deeper one.")
    ask(page, "And the other?")
    answered(page, 2)
    told = [asked["page"].get("selection") for asked in allowed.asked]
    assert told == ["The northern berth is the deeper one.", None]


def test_the_visitor_can_leave_out_what_is_marked(opened, allowed):
    page = opened(body=BODY)
    mark(page)
    box = page.get_by_role("textbox", name="Ask a question")
    box.click()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".about")).to_be_hidden()
    ask(page)
    answered(page)
    assert "selection" not in allowed.asked[0]["page"]
    mark(page, "others")
    box.click()
    expect(page.locator(".about q")).to_have_text("Dogs are welcome.")


def test_what_is_marked_in_the_chat_itself_is_not_the_pages(opened, allowed):
    page = opened(body=BODY)
    ask(page)
    answered(page)
    page.locator(".body li").first.click(click_count=3)
    page.get_by_role("textbox", name="Ask a question").click()
    expect(page.locator(".about")).to_be_hidden()


def test_by_keyboard_what_is_marked_is_taken_too(visit, allowed):
    page = visit(body=BODY)
    page.evaluate("getSelection().selectAllChildren(document.getElementById('words'))")
    page.evaluate(
        "customElements.whenDefined('site-chat').then(() => document.querySelector('site-chat').open())"
    )
    expect(page.locator(".about q")).to_have_text("The northern berth is the deeper one.")
