"""What comes before the first answer where the site wants it: the visitor's consent, the browser's work."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.widget.test_conversation import answered, ask

TERMS = "Questions are kept for 30 days and read by a computer."
CONSENT = {"text": TERMS, "privacy_url": "https://harbour.example/privacy"}


@pytest.fixture
def wanted(script):
    script.consent = True
    script.configuration = {"consent": CONSENT}
    return script


def agree(page):
    return page.get_by_role("button", name="Agree and send")


def test_nothing_is_sent_before_the_visitor_agrees(opened, wanted):
    page = opened()
    assert agree(page).count() == 0, "there is nothing to agree to before a question"
    ask(page)
    expect(page.locator(".terms")).to_contain_text(TERMS)
    expect(page.locator(".sr")).to_contain_text(TERMS)
    link = page.locator(".terms").get_by_role("link", name="Privacy")
    expect(link).to_have_attribute("href", "https://harbour.example/privacy")
    assert [name for name in wanted.requests if name.startswith("POST")] == []
    agree(page).click()
    answered(page)
    expect(page.locator(".you")).to_have_text("When do the docks open?")
    assert [body.get("consent") for body in wanted.visitors] == [True]
    assert len(wanted.asked) == 1
    ask(page, "And on Sundays?")
    answered(page, 2)
    assert agree(page).count() == 0


def test_what_was_clicked_or_typed_waits_for_the_consent_and_outlives_the_page(opened, wanted):
    page = opened()
    page.get_by_role("button", name="How do I get a berth?").click()
    expect(agree(page)).to_be_visible()
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill("One more thing")
    box.press("Enter")
    assert box.input_value() == "One more thing", "it is not asked, and not lost"
    page.reload()
    expect(box).to_have_value("One more thing")
    agree(page).click()
    answered(page)
    assert [asked["message"] for asked in wanted.asked] == ["How do I get a berth?"]


def test_the_consent_is_remembered_until_everything_is_erased(opened, wanted):
    page = opened()
    ask(page)
    agree(page).click()
    answered(page)
    page.reload()
    page.get_by_role("button", name="New chat").click()
    ask(page, "And now?")
    answered(page)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Erase my data").click()
    page.get_by_role("button", name="Press again").click()
    expect(page.locator("article")).to_have_count(0)
    ask(page, "And after that?")
    expect(agree(page)).to_be_visible()
    assert len(wanted.asked) == 2


def test_another_text_is_another_consent(opened, wanted):
    page = opened()
    ask(page)
    agree(page).click()
    answered(page)
    wanted.configuration = {"consent": {**CONSENT, "text": "Other terms."}}
    with page.expect_response("**/widget*") as known:
        page.reload()
    known.value.finished()
    ask(page, "And now?")
    expect(page.locator(".terms")).to_contain_text("Other terms.")


def test_a_site_that_has_come_to_ask_for_it_is_believed(opened, script):
    page = opened()
    script.consent = True
    script.configuration = {"consent": CONSENT}
    ask(page)
    expect(page.locator(".terms")).to_contain_text(TERMS)
    agree(page).click()
    answered(page)
    assert [asked["message"] for asked in script.asked] == ["When do the docks open?"]


def test_a_privacy_link_alone_asks_for_nothing(opened, script):
    script.configuration = {"consent": {"text": "", "privacy_url": "https://harbour.example/privacy"}}
    page = opened()
    link = page.locator("#foot").get_by_role("link", name="Privacy")
    expect(link).to_have_attribute("href", "https://harbour.example/privacy")
    ask(page)
    answered(page)
    assert "consent" not in script.visitors[0]


def test_the_contact_form_asks_for_the_consent_too(opened, wanted):
    wanted.configuration["contact"] = {"on": True, "open": True, "hours": "", "opens": "", "link": ""}
    page = opened()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Write to the team").click()
    expect(page.locator(".contact")).to_contain_text(TERMS)
    page.get_by_label("Your e-mail").fill("ada@harbour.example")
    page.get_by_label("Message").fill("Berth 7 leaks.")
    page.get_by_role("button", name="Agree and send").click()
    expect(page.locator("article").last).to_contain_text("R-1")
    assert wanted.visitors == [{"site": "harbour", "consent": True}]


def test_the_browser_does_the_work_that_a_token_costs(opened, script):
    script.bits = 10
    page = opened()
    ask(page)
    answered(page)
    assert [("proof" in body) for body in script.visitors] == [False, True]
    assert script.tokens == 1


def test_long_work_is_told_does_not_block_the_page_and_can_be_stopped(opened, script):
    script.bits = 40
    page = opened()
    ask(page)
    expect(page.locator(".wait")).to_have_text("Checking your browser, one moment…")
    longest = page.evaluate(
        """async () => { let longest = 0, last = performance.now();
          for (let turn = 0; turn < 20; turn++) { await new Promise((then) => setTimeout(then, 10));
            longest = Math.max(longest, performance.now() - last); last = performance.now() }
          return longest }"""
    )
    assert longest < 500, longest
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".note")).to_contain_text("Stopped.")
    script.bits = 0
    page.get_by_role("button", name="Try again").click()
    answered(page)


def test_where_the_browser_cannot_work_a_clear_text_says_why(opened, script):
    script.bits = 10
    page = opened(head="<script>Object.defineProperty(crypto, 'subtle', { value: undefined })</script>")
    ask(page)
    expect(page.get_by_role("alert").filter(has_text="secure connection (https)")).to_be_visible()
    expect(page.locator(".you")).to_have_text("When do the docks open?")
