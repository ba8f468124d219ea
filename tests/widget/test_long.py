"""A conversation of 500 messages: what happens at its end does not touch what stands above it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.widget.test_conversation import answered, ask

MESSAGES = 500
SEED = """(count) => {
  const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
  const pair = talk.messages;
  talk.messages = Array.from({ length: count }, (_, at) => ({ ...pair[at % 2], ...(at % 2 && { id: `old${at}` }) }));
  localStorage[key] = JSON.stringify([talk]);
}"""
WATCH = """() => {
  const root = document.querySelector("site-chat").shadowRoot;
  const old = new Set(root.querySelectorAll("article"));
  window.touched = [];
  window.changes = 0;
  new MutationObserver((records) => {
    changes += records.length;
    for (const { target, type, attributeName } of records) {
      const within = (target.nodeType === 1 ? target : target.parentElement)?.closest("article");
      if (old.has(within)) touched.push(`${type} ${attributeName || ""} of ${target.className || target.nodeName}`);
    }
  }).observe(root, { childList: true, attributes: true, characterData: true, subtree: true });
}"""


@pytest.fixture
def long(opened, server, script) -> Page:
    """An open panel with so many messages, all drawn."""
    page = opened()
    ask(page)
    answered(page)
    script.pages["/empty"] = ("<title>Empty</title>", {})
    page.goto(server.home + "/empty")
    page.evaluate(SEED, MESSAGES)
    page.goto(server.home + "/")
    page.locator("site-chat [role=log] article").nth(MESSAGES - 1).wait_for(state="attached")
    expect(page.locator("site-chat [part~=panel]")).to_be_visible()
    page.wait_for_function(
        """() => [...document.querySelector("site-chat").shadowRoot.querySelectorAll("article")].every((one) => one.textContent.trim())"""
    )
    page.evaluate(WATCH)
    return page


def changes(page: Page) -> int:
    """How many changes to the tree there were since the last call."""
    return page.evaluate("new Promise((done) => setTimeout(() => { done(changes); changes = 0 }, 50))")


def test_typing_changes_no_message(long):
    box = long.locator("site-chat textarea").last
    box.focus()
    changes(long)
    for letter in "Where?":
        box.press(letter)
    assert changes(long) <= 10 * len("Where?")
    assert long.evaluate("touched") == []


def test_an_answer_changes_only_its_own_message(long, script, monkeypatch):
    pieces = [f"word{n} " for n in range(100)]
    monkeypatch.setattr("tests.widget.service.DELTAS", pieces)
    script.done = {"answer": "".join(pieces), "answer_html": ""}
    done = long.evaluate(
        """() => { const done = new Promise((resolve) => addEventListener("sitechat:message", () => resolve(true), { once: true }));
          document.querySelector("site-chat").ask("And where?"); return done }"""
    )
    assert done
    count = changes(long)
    # What belonged to the answer before it as the last one, such as the offer to ask again, may go.
    outside = [one for one in long.evaluate("touched") if not one.startswith("childList")]
    assert outside == []
    assert len(long.evaluate("touched")) <= 4
    assert count <= 40 * len(pieces)
    assert long.locator("site-chat article").count() == MESSAGES + 2


def test_closing_and_opening_draws_no_message_again(long):
    long.evaluate("document.querySelector('site-chat').close()")
    expect(long.locator("site-chat [part~=panel]")).to_be_hidden()
    changes(long)
    long.locator("[part~=launcher]").click()
    expect(long.locator("site-chat [part~=panel]")).to_be_visible()
    assert changes(long) <= 60
    assert long.evaluate("touched") == []


def test_few_of_so_many_messages_are_drawn_before_the_panel_can_be_used(opened, server, script):
    page = opened()
    ask(page)
    answered(page)
    page.keyboard.press("Escape")
    script.pages["/empty"] = ("<title>Empty</title>", {})
    page.goto(server.home + "/empty")
    page.evaluate(SEED, MESSAGES)
    page.goto(server.home + "/")
    page.locator("[part~=launcher]").click()
    expect(page.locator("site-chat [part~=panel]")).to_be_visible()
    expect(page.locator("site-chat article").last).to_contain_text("Dogs are welcome")
    box = page.locator("site-chat textarea").last
    expect(box).to_be_editable()
    seen = page.evaluate(
        """() => { const root = document.querySelector("site-chat").shadowRoot, log = root.querySelector("[role=log]");
          return log.scrollHeight - log.scrollTop - log.clientHeight }"""
    )
    assert seen < 1500, "the end of the conversation is what is seen first"
