"""From its first view the widget says that an automatic assistant answers."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from server.answering.phrases import Phrase, say
from tests.axe import findings
from tests.widget.test_conversation import answered, ask
from tests.widget.test_texts import LANGUAGES

AI = {"text": "An AI assistant answers.", "more": "It is no lawyer.", "is_ai": True, "language": "en"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_view_says_it_in_the_pages_language(opened, language):
    page = opened(lang=language)
    expect(page.locator("hgroup p")).to_have_text(say(Phrase.ASSISTANT, language))
    assert page.get_by_role("dialog").get_attribute("aria-describedby") == "about"


def test_what_the_server_says_is_shown_and_reported_with_the_question(opened, script):
    script.configuration = {"disclosure": AI}
    page = opened()
    expect(page.locator("hgroup p")).to_have_text(AI["text"])
    expect(page.get_by_text(AI["more"])).to_be_visible()
    ask(page)
    answered(page)
    expect(page.locator("hgroup p")).to_be_visible()
    assert script.asked[0]["disclosure"] == AI


def test_it_is_said_when_the_server_does_not_answer(visit, script):
    script.refusals = {"sites": 500}
    page = visit(lang="en-GB")
    with page.expect_request("**/sites/harbour/widget?language=en*"):
        page.locator(".launcher").click()
    expect(page.locator("hgroup p")).to_have_text(say(Phrase.ASSISTANT, "en"))
    ask(page)
    answered(page)
    assert script.asked[0]["disclosure"] == {"text": say(Phrase.ASSISTANT, "en")}


# Each pair of a width, a colour and a direction once.
@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [(390, "light", "en"), (390, "dark", "ar"), (1280, "light", "ar"), (1280, "dark", "en")],
)
def test_axe_finds_nothing_at_any_width_colour_and_direction(visit, script, width, scheme, language):
    script.configuration = {"disclosure": AI, "contact": {"on": True, "open": True}}
    script.done = {"outcome": "refused"}
    page = visit(lang=language)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    assert findings(page) == [], "closed"
    page.locator(".launcher").click()
    page.locator(".chip").first.wait_for()
    assert findings(page) == [], "open"
    page.locator(".chip").first.click()
    answered(page)
    page.locator(".contact summary").click()
    assert findings(page) == [], "refused, with the form"
