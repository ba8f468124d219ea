"""From the bot to people: the form that a visitor writes to the site's team with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.widget.service import Script
from tests.widget.test_conversation import answered, ask

NOW = "2026-03-06T18:00:00Z"
CONTACT = {
    "on": True,
    "open": True,
    "hours": "Mo-Fr 09:00-17:00",
    "opens": "",
    "link": "https://harbour.example/contact",
}


def offers(script: Script, outcome: str = "", **contact: object) -> None:
    script.configuration = {"contact": {**CONTACT, **contact}}
    if outcome:
        script.done = {"outcome": outcome, "answer": "No.", "answer_html": "<p>No.</p>", "citations": []}


def form(page: Page) -> tuple[Locator, Locator, Locator]:
    """E-mail, message and the button that sends them."""
    box = page.locator(".contact")
    return box.get_by_label("Your e-mail"), box.get_by_label("Message"), box.get_by_role("button")


def write(page: Page, email: str = "ada@harbour.example", words: str = "") -> None:
    address, message, send = form(page)
    address.fill(email)
    if words:
        message.fill(words)
    send.click()


def alert(page: Page) -> Locator:
    return page.locator(".contact").get_by_role("alert")


def test_who_asks_for_a_person_gets_the_form_and_a_reference(opened, script):
    offers(script, "handoff")
    page = opened()
    handed = []
    page.expose_function("handed", lambda reference: handed.append(reference))
    page.evaluate(
        "document.querySelector('site-chat').addEventListener('sitechat:handoff', (e) => handed(e.detail))"
    )
    ask(page, "May I talk to a person?")
    message = form(page)[1]
    expect(message).to_have_value("May I talk to a person?")
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    expect(page.locator(".contact")).to_contain_text("This conversation is attached.")
    expect(page.locator(".contact")).to_contain_text("Mo-Fr 09:00-17:00")
    link = page.locator(".contact").get_by_role("link", name="Contact page")
    expect(link).to_have_attribute("href", "https://harbour.example/contact")
    write(page, words="May I talk to a person? It is about berth 7.")
    expect(page.locator("article").last).to_contain_text("Reference: R-1")
    expect(page.locator(".contact")).to_be_hidden()
    expect(page.get_by_role("log")).to_be_focused()
    expect(page.locator(".sr")).to_contain_text("R-1")
    assert handed == ["R-1"]
    assert script.contacts == [
        {
            "email": "ada@harbour.example",
            "message": "May I talk to a person? It is about berth 7.",
            "conversation_id": "c1",
        }
    ]
    kept = page.evaluate("JSON.stringify(Object.entries(localStorage))")
    assert "ada@" not in kept
    page.reload()
    expect(page.locator("article").last).to_contain_text("Reference: R-1")
    expect(page.locator(".contact")).to_be_hidden()


def test_each_refusal_offers_to_write_and_asks_for_nothing_yet(opened, script):
    offers(script, "refused")
    page = opened()
    ask(page, "How deep is berth 7?")
    answered(page)
    expect(page.locator(".contact summary")).to_have_text("Write to the team")
    expect(page.get_by_label("Your e-mail")).to_be_hidden()
    ask(page, "And berth 8?")
    answered(page, 2)
    page.locator(".contact summary").click()
    expect(form(page)[1]).to_have_value("And berth 8?")


def test_where_nobody_can_be_written_to_nothing_is_offered(opened, script):
    offers(script, "handoff", on=False)
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="More options").click()
    expect(page.get_by_role("button", name="Erase my data")).to_be_visible()
    assert page.get_by_role("button", name="Write to the team").count() == 0
    expect(page.locator(".contact")).to_be_hidden()


def test_the_menu_leads_to_the_form_at_any_time(opened, script):
    offers(script)
    page = opened()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    expect(form(page)[0]).to_be_focused()
    page.keyboard.type("ada@harbour.example")
    page.keyboard.press("Tab")
    page.keyboard.type("Hello there")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("article").last).to_contain_text("R-1")
    assert script.contacts == [{"email": "ada@harbour.example", "message": "Hello there"}]


def test_outside_the_hours_the_next_opening_is_told_in_the_visitors_time(visit, new_profile, script):
    offers(script, open=False, opens="2026-03-09T08:00:00Z")
    new_profile.clock.install(time=NOW)
    page = visit()
    page.evaluate(
        "customElements.whenDefined('site-chat').then(() => document.querySelector('site-chat').open())"
    )
    page.locator(".chip, .acts").first.wait_for()  # what the site offers has arrived
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    expect(page.locator(".contact")).to_contain_text("Nobody is here right now, but you can leave a message.")
    told = page.evaluate(
        "new Date('2026-03-09T08:00:00Z').toLocaleTimeString('en', { hour: 'numeric', minute: '2-digit' })"
    )
    expect(page.locator(".contact")).to_contain_text("Monday")
    expect(page.locator(".contact")).to_contain_text(told)


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (422, "email_invalid", "check the e-mail"),
        (422, "message_too_long", "shorten"),
        (409, "contact_off", "Please try again"),
        (429, "rate_limited", "Please wait"),
        (500, "internal", "Please try again"),
    ],
)
def test_what_could_not_be_sent_stays_and_can_be_sent_again(opened, script, status, code, words):
    offers(script, "handoff")
    script.contact_faults = [(status, code)]
    page = opened()
    ask(page)
    answered(page)
    write(page, words="Berth 7 leaks.")
    expect(alert(page)).to_contain_text(words)
    address, message, send = form(page)
    expect(message).to_have_value("Berth 7 leaks.")
    page.reload()
    expect(message).to_have_value("Berth 7 leaks.")
    expect(address).to_have_value("ada@harbour.example")
    send.click()
    expect(page.locator("article").last).to_contain_text("R-1")


@pytest.mark.parametrize("status", [429, 500])
def test_the_focus_stays_in_the_form_when_the_message_could_not_be_sent(opened, script, status):
    offers(script, "handoff")
    script.contact_faults = [(status, "internal")]
    page = opened()
    ask(page)
    answered(page)
    form(page)[0].fill("ada@harbour.example")
    form(page)[2].press("Enter")
    expect(alert(page)).not_to_be_empty()
    focused = page.locator(".contact :focus")
    expect(focused).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_limit_counts_down_and_then_frees_the_button(opened, script):
    offers(script, "handoff")
    script.contact_faults = [(429, "rate_limited")]
    page = opened()
    ask(page)
    answered(page)
    write(page)
    expect(form(page)[2]).to_have_text("Send (2)")
    expect(form(page)[2]).to_be_disabled()
    expect(form(page)[2]).to_be_enabled()
    form(page)[2].click()
    expect(page.locator("article").last).to_contain_text("R-1")


def test_what_is_wrong_is_told_before_it_is_sent(opened, script):
    offers(script, "handoff")
    page = opened()
    ask(page)
    answered(page)
    write(page, "ada")
    address, message, send = form(page)
    expect(alert(page)).to_contain_text("check the e-mail")
    expect(address).to_be_focused()
    expect(address).to_have_attribute("aria-invalid", "true")
    address.fill("ada@harbour.example")
    message.fill(" ")
    send.click()
    expect(alert(page)).to_contain_text("write a message")
    expect(message).to_be_focused()
    assert "POST /api/v1/contact" not in script.requests


def test_without_a_network_the_message_waits(opened, script, profile):
    offers(script, "handoff")
    page = opened()
    ask(page)
    answered(page)
    profile.set_offline(True)
    write(page, words="Berth 7 leaks.")
    expect(alert(page)).to_contain_text("You are offline")
    profile.set_offline(False)
    form(page)[2].click()
    expect(page.locator("article").last).to_contain_text("R-1")


def test_erasing_takes_what_was_typed_into_the_form_along(opened, script):
    offers(script, "handoff")
    page = opened()
    ask(page)
    answered(page)
    form(page)[0].fill("ada@harbour.example")
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Erase my data").click()
    page.get_by_role("button", name="Press again").click()
    expect(page.locator("article")).to_have_count(0)
    assert "ada@" not in page.evaluate("JSON.stringify(Object.entries(localStorage))")
    expect(page.locator(".contact")).to_be_hidden()


def test_after_a_long_answer_the_reference_is_in_sight(opened, script):
    offers(script)
    script.done = {"answer_html": "<p>One of many paragraphs.</p>" * 60}
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    write(page, words="Please call me.")
    expect(page.locator("article").filter(has_text="R-1")).to_be_in_viewport()
