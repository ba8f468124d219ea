"""Pages whose styles reach for everything: the widget looks the same, to the pixel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.widget.conftest import TAG
from tests.widget.service import PLAIN_PAGE
from tests.widget.test_conversation import answered, ask

DOCUMENT = Path(__file__).parents[2] / "docs" / "widget.md"
HOSTILE = {
    "unset": "* { all: unset }",
    "initial": "* { all: initial !important }",
    "no buttons": "button, a, input, textarea, section, article, dialog, details { display: none !important; visibility: hidden !important }",
    "small root": "html { font-size: 62.5% } body { font: 3px/1 cursive; letter-spacing: 9px; text-transform: uppercase; word-spacing: 20px; text-align: right }",
    "no pictures": "svg { width: 0 !important; height: 0 !important } path { d: none; fill: red !important; stroke: red !important }",
    "moved body": "body { transform: translate(40px, 20px) scale(.7); filter: invert(1); perspective: 9px; contain: strict; will-change: transform; overflow: hidden; opacity: .3 }",
    "direction": "* { direction: rtl !important; unicode-bidi: bidi-override !important; writing-mode: vertical-rl !important }",
    "every element": "html > *, html > *::before, html > *::after, html > * * { margin: 40px !important; padding: 9px !important; color: red !important; background: red !important; border: 5px solid red !important; max-width: 50px !important; opacity: .2 !important; transform: rotate(4deg) !important; animation: none !important; cursor: none !important; box-sizing: content-box !important; z-index: -1 !important; position: static !important; pointer-events: none !important; user-select: none !important }",
    "variables": "* { --accent: red !important; --bg: red !important; --ink: red !important; --line: red !important; --dim: red !important; --on: red !important; --gap: 90px !important; --offset: 90px !important; --soft: red !important; --radius: 0 !important; --mark: red !important; --width: 90px !important; --round: 0 !important }",
    "layers": "@layer a, b; @layer b { site-chat { display: none !important; all: revert-layer !important } site-chat * { display: none !important } }",
    "colour scheme": ":root { color-scheme: dark; accent-color: red; forced-color-adjust: none; scrollbar-width: thin; caret-color: red; text-size-adjust: 300% } ::selection { background: red }",
}
"""The background of the page shows at the round corners, so all pages have the same."""
WHITE = "html, body { background: #fff !important; border: 0 !important; color: #fff !important } main { visibility: hidden !important }"
MODAL = '<div style="position: fixed; inset: 0; z-index: 999999999; background: #fff"></div>'


def pictures(page: Page, css: str, body: str = "") -> list[bytes]:
    """The launcher, the panel at its beginning, and the panel with an answer; the script lets all pages ask the same."""
    launcher = page.locator("[part~=launcher]")
    launcher.wait_for()
    found = [launcher.screenshot()]
    launcher.click()
    expect(page.locator("site-chat").get_by_text("How do I get a berth?")).to_be_visible()
    panel = page.locator("site-chat [part~=panel]")
    page.mouse.move(5, 5)
    found.append(panel.screenshot(caret="hide"))
    box = page.locator("site-chat textarea").last
    box.fill("When do the docks open?")
    box.press("Enter")
    expect(page.locator("site-chat").get_by_text("Where can I park?")).to_be_visible()
    found.append(panel.screenshot(caret="hide"))
    return found


@pytest.fixture(scope="module")
def seen() -> dict[str, list[bytes]]:
    """Pictures of the neutral page, taken once."""
    return {}


@pytest.fixture
def shown(browser, server, script):
    """The pictures of a page with some styles, in a profile of its own."""

    def show(css: str, body: str = "") -> list[bytes]:
        context = browser.new_context(
            viewport={"width": 900, "height": 700}, locale="en-US", reduced_motion="reduce"
        )
        context.set_default_timeout(8000)
        head = f"<style>{css}</style><style>{WHITE}</style>{TAG.format('')}"
        script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=head, body=body), {})
        page = context.new_page()
        page.goto(server.home + "/")
        try:
            return pictures(page, css)
        finally:
            context.close()

    return show


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_styles_change_no_pixel(shown, seen, name):
    neutral = seen.setdefault("neutral", seen.get("neutral") or shown(""))
    for which, one, other in zip(("launcher", "panel", "answer"), neutral, shown(HOSTILE[name]), strict=True):
        assert one == other, f"the {which} looks different"


def test_a_modal_of_the_page_lies_below(shown, seen):
    neutral = seen.setdefault("neutral", seen.get("neutral") or shown(""))
    assert shown("", MODAL) == neutral


def documented_policy(server_home: str) -> str:
    """The directives that the documentation names, for a server at an address."""
    text = DOCUMENT.read_text(encoding="utf-8")
    [policy] = re.findall(r"^Content-Security-Policy: (.+)$", text, re.M)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    return policy.replace("https://docent.example.com", server_home)


def test_a_page_of_another_origin_needs_the_documented_policy_and_no_more(server, script, profile):
    """The page is at another host, so that 'self' would not help."""
    policy = documented_policy(server.home)
    home = server.home.replace("127.0.0.1", "localhost")
    script.pages["/"] = (
        PLAIN_PAGE.format(lang="en", head=TAG.format(""), body=""),
        {"Content-Security-Policy": policy},
    )
    problems: list[str] = []
    page = profile.new_page()
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(home + "/")
    page.evaluate(
        "window.violations = []; addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => violations.push([violatedDirective, blockedURI]))"
    )
    page.locator("[part~=launcher]").click()
    ask(page)
    answered(page)
    page.get_by_role("link", name=re.compile("Opening hours")).first.hover()
    page.get_by_role("button", name="Not helpful").click()
    page.get_by_role("textbox", name="What was wrong").fill("Old.")
    page.get_by_role("button", name="More options").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New chat").click()
    assert page.evaluate("violations") == []
    assert problems == []
