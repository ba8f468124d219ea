"""The look: every attribute, custom property and part does what docs/widget.md says, and stays readable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.widget.test_conversation import answered, ask

REFERENCE = (Path(__file__).parents[2] / "docs" / "widget.md").read_text(encoding="utf-8")
LOOK = {
    "title": "Ask the crew",
    "label": "Ahoy",
    "accent": "#ffd54a",
    "position": "left",
    "theme": "dark",
    "radius": "4px",
    "font": "monospace",
    "offset": "40px",
    "icon": "search",
    "avatar": "/widget/demo/icon.svg",
}
OTHER = {
    "title": "Ask the captain",
    "label": "Hello",
    "accent": "#102a6b",
    "position": "right",
    "theme": "light",
    "radius": "9px",
    "font": "serif",
    "offset": "30px",
    "icon": "help",
    "avatar": "/widget/v/abc123/demo/icon.svg",
}
SEEN = """() => {
  const host = document.querySelector("site-chat"), root = host.shadowRoot;
  const launcher = getComputedStyle(root.querySelector(".launcher")), node = root.querySelector(".panel"), panel = getComputedStyle(node);
  const box = root.querySelector(".launcher").getBoundingClientRect();
  const dark = panel.backgroundColor === "rgb(27, 28, 30)";
  return {
    title: node.querySelector("h2").textContent, label: root.querySelector(".launcher span").textContent,
    accent: launcher.backgroundColor, theme: dark ? "dark" : "light", radius: panel.borderTopLeftRadius, font: panel.fontFamily,
    position: box.x < innerWidth / 2 ? "left" : "right",
    offset: `${Math.min(box.x, innerWidth - box.right)}px`, icon: root.querySelector(".launcher path").getAttribute("d").slice(0, 8),
    avatar: node.querySelector(".avatar").hidden ? "" : new URL(node.querySelector(".avatar").src).pathname,
  };
}"""
ICONS = {"chat": "M4 6.5A2", "help": "M3.5 12a", "spark": "M11 4l1.", "search": "M4 10.5a"}


def seen_as(look: dict[str, str]) -> dict[str, str]:
    """What a page shows of a look."""
    rgb = ", ".join(str(int(look["accent"][at : at + 2], 16)) for at in (1, 3, 5))
    return {**look, "accent": f"rgb({rgb})", "icon": ICONS[look["icon"]]}


def tag(look: dict[str, str]) -> str:
    return " ".join(f'data-{name}="{value}"' for name, value in look.items())


def seen(page: Page) -> dict[str, str]:
    page.locator(".launcher").click()
    page.locator(".chip").first.wait_for()
    found: dict[str, str] = page.evaluate(SEEN)
    return found


def column(heading: str, at: int = 0) -> list[str]:
    """The names in a column of the table below a heading of the reference."""
    section = REFERENCE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    cells = [line.split(" | ")[at].strip("| `") for line in section.splitlines() if line.startswith("|")]
    return [cell for cell in cells[2:] if cell]


# --- Where the look comes from


def test_every_attribute_of_the_tag_does_what_the_reference_says(visit):
    assert seen(visit(tag(LOOK))) == seen_as(LOOK)


def test_the_dashboards_choice_does_the_same(visit, script):
    script.configuration = {"look": LOOK}
    page = visit()
    page.locator(".launcher span", has_text="Ahoy").wait_for()
    assert seen(page) == seen_as(LOOK)


def test_the_panel_opens_above_the_launcher_on_the_very_first_page(visit, script):
    script.configuration = {"look": LOOK}
    page = visit()
    page.locator(".launcher span", has_text="Ahoy").wait_for()
    page.locator(".launcher").click()
    assert page.get_by_role("dialog").bounding_box()["x"] == page.locator(".launcher").bounding_box()["x"]


def test_an_attribute_wins_over_a_custom_property_and_that_over_the_configuration(visit, script):
    names = ("accent", "radius", "font", "offset")
    properties = ";".join(f"--site-chat-{name}: {OTHER[name]}" for name in names)
    head = f"<style>site-chat {{ {properties} }}</style>"
    script.configuration = {"look": LOOK}
    page = visit(head=head)
    page.locator(".launcher span", has_text="Ahoy").wait_for()
    assert seen(page) == {**seen_as(LOOK), **{name: seen_as(OTHER)[name] for name in names}}
    assert seen(visit(tag({**OTHER, "accent": "#123456"}), head=head))["accent"] == "rgb(18, 52, 86)"


def test_attributes_can_be_changed_at_any_time(visit):
    page = visit(tag(LOOK))
    seen(page)
    for name, value in OTHER.items():
        page.evaluate(
            "([name, value]) => document.querySelector('site-chat').setAttribute(name, value)", [name, value]
        )
    assert page.evaluate(SEEN) == seen_as(OTHER)
    for name in OTHER:
        page.evaluate("(name) => document.querySelector('site-chat').removeAttribute(name)", name)
    plain = page.evaluate(SEEN)
    assert (plain["title"], plain["label"], plain["accent"]) == ("Harbour Guide", "", "rgb(26, 120, 104)")


def test_the_attributes_that_can_be_changed_are_those_that_the_reference_names(visit):
    page = visit()
    page.wait_for_function("!!customElements.get('site-chat')")
    observed = page.evaluate("customElements.get('site-chat').observedAttributes")
    names = column("Which attributes are there?", 1)
    assert sorted(names[names.index("title") : names.index("avatar") + 1]) == sorted(observed) == sorted(LOOK)


def test_nothing_flashes_on_the_next_page(visit, script, server, profile):
    script.configuration = {"look": LOOK}
    page = visit()
    page.locator(".launcher span", has_text="Ahoy").wait_for()
    profile.route("**/src/site-chat.js", lambda route: route.abort())
    page.goto(server.home + "/")
    page.locator(".launcher").wait_for()
    box = page.locator(".launcher").bounding_box()
    assert box["x"] == 40
    expect(page.locator(".launcher")).to_have_css("background-color", "rgb(255, 213, 74)")
    expect(page.locator(".launcher")).to_have_text("Ahoy")


def test_the_keyboard_reaches_the_launcher_before_the_next_frame(visit, script, new_profile):
    script.configuration = {"look": LOOK}
    new_profile.add_init_script("requestAnimationFrame = () => 0")
    page = visit()
    expect(page.get_by_role("button", name="Ahoy")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Ahoy")).to_be_focused()


def test_the_look_of_the_configuration_arrives_without_a_layout_shift(visit, script):
    script.configuration = {"look": LOOK}
    page = visit(
        head="<script>window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (shift += value))).observe({ type: 'layout-shift', buffered: true })</script>"
    )
    page.locator(".launcher span", has_text="Ahoy").wait_for()
    expect(page.locator(".launcher")).to_be_visible()
    assert page.evaluate("shift") == 0


def test_what_the_configuration_must_not_hold_gets_into_no_style_sheet(visit, script, server):
    script.configuration = {
        "look": {
            "accent": f"url({server.home}/stolen)",
            "radius": "1px; } :host { display: none !important",
            "font": "x; color: red",
            "offset": "calc(1px + 1px)",
            "avatar": "javascript:alert(1)",
            "icon": "constructor",
            "position": "left}",
            "theme": "dark}",
        }
    }
    page = visit()
    found = seen(page)
    assert found["accent"] == "rgb(26, 120, 104)"
    assert found["radius"] == "18px"
    assert found["offset"] == "20px"
    assert found["avatar"] == ""
    assert found["icon"] == ICONS["chat"]
    assert found["position"] == "right"
    assert "/stolen" not in " ".join(script.requests)
    assert "color: red" not in page.evaluate(
        "[...document.querySelector('site-chat').shadowRoot.adoptedStyleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join()"
    )


# --- Contrast

CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const bright = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b].map((c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((sum, c, at) => sum + c * [.2126, .7152, .0722][at], 0) };
  const ratio = (one, other) => { const [low, high] = [bright(one), bright(other)].sort((a, b) => a - b); return (high + .05) / (low + .05) };
  const root = document.querySelector("site-chat").shadowRoot, panel = getComputedStyle(root.querySelector(".panel"));
  const you = getComputedStyle(root.querySelector(".you")), launcher = getComputedStyle(root.querySelector(".launcher"));
  const mark = getComputedStyle(root.querySelector(".source q")).borderInlineStartColor;
  return [ratio(you.color, you.backgroundColor), ratio(launcher.color, launcher.backgroundColor), ratio(mark, panel.backgroundColor)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_any_accent_can_be_read(visit, scheme):
    page = visit(f'data-theme="{scheme}"')
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    steps = ("00", "55", "aa", "ff")
    accents = [f"#{r}{g}{b}" for r in steps for g in steps for b in steps] + ["#767676", "#757575", "#ffd54a"]
    worst = page.evaluate(
        f"""(accents) => accents.map((accent) => {{
          document.querySelector("site-chat").setAttribute("accent", accent);
          return [Math.min(...({CONTRAST})()), accent];
        }}).sort(([one], [other]) => one - other)[0]""",
        accents,
    )
    assert worst[0] >= 4.5, worst


# --- The reference


def test_every_custom_property_is_used_and_no_other_is(visit):
    folder = Path(__file__).parents[2] / "widget"
    used = {
        name
        for path in (folder / "embed.js", *folder.glob("src/*.js"))
        for name in re.findall(r"--site-chat-[a-z]+", path.read_text(encoding="utf-8"))
    }
    built = {f"--site-chat-{name}" for name in ("accent", "offset", "radius", "font")}
    assert used | built == set(column("Which custom properties are there?"))


def test_every_part_can_be_styled(visit):
    parts = column("Which parts can be styled?")
    rules = "".join(
        f"site-chat::part({part}) {{ outline: 3px solid rgb(1, 2, 3) !important }}" for part in parts
    )
    page = visit('data-avatar="/widget/demo/icon.svg"', head=f"<style>{rules}</style>")
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    unstyled = page.evaluate(
        """(parts) => { const root = document.querySelector("site-chat").shadowRoot;
          return parts.filter((part) => getComputedStyle(root.querySelector(`[part~="${part}"]`) || document.body).outlineColor !== "rgb(1, 2, 3)") }""",
        parts,
    )
    assert unstyled == []
    named = page.evaluate(
        "[...new Set([...document.querySelector('site-chat').shadowRoot.querySelectorAll('[part]')].flatMap((node) => [...node.part]))]"
    )
    assert set(named) <= set(parts)


def test_a_visitor_can_widen_the_panel_and_it_stays_so(opened, server):
    page = opened()
    wider = page.get_by_role("button", name="Wider")
    expect(wider).to_have_attribute("aria-pressed", "false")
    assert page.get_by_role("dialog").bounding_box()["width"] == 400
    wider.click()
    expect(wider).to_have_attribute("aria-pressed", "true")
    assert page.get_by_role("dialog").bounding_box()["width"] == 640
    page.goto(server.home + "/")
    assert page.get_by_role("dialog").bounding_box()["width"] == 640
    page.set_viewport_size({"width": 390, "height": 700})
    expect(wider).to_be_hidden()


def test_a_picture_that_cannot_be_fetched_is_not_shown(opened):
    page = opened('data-avatar="/nothing.png"')
    expect(page.locator(".avatar")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_browsers_own_parts_such_as_scroll_bars_have_the_panels_scheme(visit, scheme):
    page = visit(f"data-theme={scheme}", head='<meta name="color-scheme" content="dark light">')
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    page.locator(".launcher").click()
    page.locator(".chip").first.wait_for()
    assert page.locator(".log").evaluate("(log) => getComputedStyle(log).colorScheme") == scheme
