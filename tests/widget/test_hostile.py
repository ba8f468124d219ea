"""Pages whose styles reach for everything: every element of the widget has the styles and the box that it has elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

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
"""Page styles by what they attack."""
# What the page itself shows through round corners is the same on all pages.
WHITE = "html, body { background: #fff !important; border: 0 !important; color: #fff !important } main { visibility: hidden !important }"
MODAL = '<div style="position: fixed; inset: 0; z-index: 999999999; background: #fff"></div>'
TOLERANCE = 0.5
"""Pixels by which a box may differ. Layout is in steps of 1/64 px and the same page can round a line of text either
way; a style that leaks in (a margin, a font size, a border) moves boxes by a pixel and more."""
LOOK = """() => {
  const host = document.querySelector("site-chat"), root = host.shadowRoot;
  // Lengths that follow from the box are compared with the boxes, variables by what is made of them.
  const NOT = /^(--.*|width|height|inline-size|block-size|(inset|top|right|bottom|left)(-.*)?|(perspective|transform)-origin)$/;
  const names = (window.names ||= [...getComputedStyle(host)].filter((name) => !NOT.test(name)));
  const title = (node) => `${node.localName}.${node.getAttribute("class") || ""}`;
  const styles = (node, pseudo) => {
    const style = getComputedStyle(node, pseudo);
    // Which way the page is read is its launcher's way too; the panel has its language's.
    return names.map((name) => (!node.closest(".panel") && /^(direction|unicode-bidi)$/.test(name) ? "" : style.getPropertyValue(name)));
  };
  const look = (node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    const top = width && height ? root.elementFromPoint(x + width / 2, y + height / 2) : null;
    const parts = { "": styles(node) };
    for (const pseudo of ["::before", "::after"])
      if (!/^(none|normal)$/.test(getComputedStyle(node, pseudo).content)) parts[pseudo] = styles(node, pseudo);
    if (node.placeholder) parts["::placeholder"] = styles(node, "::placeholder");
    return { name: title(node), box: [x, y, width, height], top: top && root.contains(top) ? title(top) : "", parts };
  };
  // What is done to an ancestor is done to all in it, without a trace in the styles of the elements.
  const around = [];
  for (let node = host.parentElement; node; node = node.parentElement) {
    const { opacity, filter, transform, perspective, clipPath, maskImage, mixBlendMode, visibility, contentVisibility } = getComputedStyle(node);
    around.push([node.localName, opacity, filter, transform, perspective, clipPath, maskImage, mixBlendMode, visibility, contentVisibility].join());
  }
  return { around: around.join(), elements: [host, ...root.querySelectorAll("*")].map(look) };
}"""
COMPARE = """async ([attacks, tolerance]) => {
  const look = LOOK;
  const frames = async () => { for (const _ of "12") await new Promise(requestAnimationFrame); };
  const differences = (one, other) => {
    const found = one.around === other.around ? [] : [`ancestors: ${other.around}`];
    if (one.elements.length !== other.elements.length) return [...found, "other elements"];
    one.elements.forEach((before, at) => {
      const now = other.elements[at], name = before.name;
      if (before.box.some((side, index) => Math.abs(side - now.box[index]) > tolerance)) found.push(`${name}: box ${before.box} became ${now.box}`);
      if (before.top !== now.top) found.push(`${name}: at its centre lies ${now.top}, not ${before.top}`);
      for (const part of new Set([...Object.keys(before.parts), ...Object.keys(now.parts)]))
        names.forEach((key, index) => {
          const [old, fresh] = [before.parts[part]?.[index], now.parts[part]?.[index]];
          if (old !== fresh) found.push(`${name}${part}: ${key} ${old} became ${fresh}`);
        });
    });
    return found.slice(0, 20);
  };
  const style = document.querySelector("#attack"), place = document.querySelector("#place");
  // The same twice, one after the other: nothing is on its way any more.
  const boxes = () => JSON.stringify([...document.querySelector("site-chat").shadowRoot.querySelectorAll("*")].map((node) => node.getBoundingClientRect()));
  for (let tries = 0, before; tries < 100 && before !== boxes(); tries += 1) {
    before = boxes();
    await frames();
  }
  const neutral = look();
  const found = {};
  for (const [name, css, body] of attacks) {
    style.textContent = css;
    place.innerHTML = body;
    await frames();
    const different = differences(neutral, look());
    if (different.length) found[name] = different;
  }
  style.textContent = place.innerHTML = "";
  await frames();
  return found;
}""".replace("LOOK", LOOK)


@pytest.fixture
def attacked(browser, server, script):
    """What attacks on the page change in the widget: with the launcher, the panel at its beginning, and an answer."""

    def attack(attacks: list[tuple[str, str, str]]) -> dict[str, dict[str, list[str]]]:
        context = browser.new_context(
            viewport={"width": 900, "height": 700}, locale="en-US", reduced_motion="reduce"
        )
        context.set_default_timeout(8000)
        head = f'<style id="attack"></style><style>{WHITE}</style>{TAG.format("")}'
        script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=head, body='<div id="place"></div>'), {})
        try:
            page = context.new_page()
            page.goto(server.home + "/")
            page.locator("site-chat .chip").first.wait_for(state="attached")
            found = {"launcher": page.evaluate(COMPARE, [attacks, TOLERANCE])}
            page.locator("[part~=launcher]").click()
            page.mouse.move(5, 5)
            found["panel"] = page.evaluate(COMPARE, [attacks, TOLERANCE])
            box = page.locator("site-chat textarea").last
            box.fill("When do the docks open?")
            box.press("Enter")
            expect(page.locator("site-chat").get_by_text("Where can I park?")).to_be_visible()
            found["answer"] = page.evaluate(COMPARE, [attacks, TOLERANCE])
        finally:
            context.close()
        return {state: differences for state, differences in found.items() if differences}

    return attack


def test_hostile_styles_and_a_modal_of_the_page_change_nothing_in_the_widget(attacked):
    assert attacked([*((name, css, "") for name, css in HOSTILE.items()), ("modal", "", MODAL)]) == {}


def test_a_style_that_reaches_the_widget_is_noticed(attacked):
    """The comparison itself finds a font, an ancestor and what lies over the widget."""
    attacks = [
        ("font", "site-chat::part(panel) { letter-spacing: .1px }", ""),
        ("ancestor", "html { opacity: .99 }", ""),
        (
            "cover",
            "site-chat { z-index: -1 !important } site-chat::part(panel) { z-index: -1; pointer-events: none }",
            "",
        ),
    ]
    found = attacked(attacks)["answer"]
    assert "dialog.panel: letter-spacing normal became 0.1px" in found["font"]
    assert any(": box " in line for line in found["font"])
    assert found["ancestor"][0].startswith("ancestors: html,0.99")
    assert any("at its centre lies" in line for line in found["cover"])


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
