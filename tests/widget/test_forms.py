"""The forms of the element: corner, a part of the page, side panel, palette; and how each is opened and left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.axe import findings
from tests.widget.test_accessibility import focused
from tests.widget.test_conversation import answered, ask
from tests.widget.test_isolation import HOSTILE, watched

MODULE = '<script type="module" src="HOST/widget/v/abc123/src/site-chat.js"></script>'
PAGE = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>Harbour</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{head}{module}</head><body><main><h1>Harbour</h1>
<p><a href="/x">Link of the page</a> <label>Name <input id="field"></label>
<button type="button" data-site-chat-open>Ask the harbour</button></p>{text}{chat}</main></body></html>"""


@pytest.fixture
def placed(profile, server, script):
    """Opens a page on which the element was placed by hand, with these attributes."""

    def go(
        attributes: str, *, head: str = "", lang: str = "en", headers: dict[str, str] | None = None
    ) -> Page:
        chat = f'<site-chat site="harbour" {attributes}></site-chat>'
        body = PAGE.format(head=head, module=MODULE, chat=chat, lang=lang, text="<p>Boats.</p>" * 60)
        script.pages["/"] = (body, headers or {})
        page = profile.new_page()
        page.goto(server.home + "/")
        page.wait_for_function("!!customElements.get('site-chat')")
        return page

    return go


def loaded(page: Page) -> Page:
    page.wait_for_function("!!customElements.get('site-chat')")
    return page


def modal(page: Page) -> bool:
    return page.evaluate(
        "document.querySelector('site-chat').shadowRoot.querySelector('.panel').matches(':modal')"
    )


# --- The palette


def test_the_palette_needs_no_mouse(placed):
    page = placed('mode="modal" shortcut="mod+k"')
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.locator("#field").focus()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    assert modal(page)
    page.keyboard.type("When?")
    page.keyboard.press("Enter")
    answered(page)
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(focused(page))
    assert {"Close", "New chat", "Ask a question"} <= set(seen)
    assert "Link of the page" not in seen
    page.get_by_role("button", name="More options").press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Erase my data")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#field")).to_be_focused()


def test_one_escape_closes_the_menu_and_the_card_below_it_and_the_next_the_palette(placed):
    page = placed('mode="modal" shortcut="mod+k"')
    page.keyboard.press("Control+k")
    ask(page)
    answered(page)
    page.locator(".body a.cite").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.get_by_role("button", name="More options").press("Enter")
    expect(page.get_by_role("button", name="Erase my data")).to_be_visible()
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Erase my data")).to_be_hidden()
    expect(page.get_by_role("tooltip")).to_be_hidden()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_shortcut_closes_what_it_opened(placed):
    page = placed('mode="modal" shortcut="mod+k"')
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_click_beside_the_palette_closes_it_and_the_page_gets_nothing_of_it(placed):
    page = placed('mode="modal"')
    page.evaluate(
        "window.clicks = 0; addEventListener('click', ({ target }) => (clicks += target.localName !== 'site-chat'))"
    )
    page.evaluate("document.querySelector('site-chat').open()")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("heading", level=2).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.mouse.click(20, 300)
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("clicks") == 0


def test_behind_the_palette_the_page_neither_scrolls_nor_moves(placed):
    page = placed('mode="modal"')
    page.evaluate("scrollTo(0, 200)")
    width = page.evaluate("document.body.getBoundingClientRect().width")
    page.evaluate("document.querySelector('site-chat').open()")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.mouse.move(20, 300)
    page.mouse.wheel(0, 400)
    assert page.evaluate("document.body.getBoundingClientRect().width") == width
    page.keyboard.press("Escape")
    assert page.evaluate("scrollY") == 200


def test_the_palette_is_not_opened_again_on_the_next_page(placed, server):
    page = placed('mode="modal"')
    page.evaluate("document.querySelector('site-chat').open()")
    page.reload()
    loaded(page)
    page.wait_for_function("document.querySelector('site-chat').shadowRoot.querySelector('.chip')")
    expect(page.get_by_role("dialog")).to_be_hidden()


# --- The shortcut


SHORTCUTS = [
    ("mod+k", "Control+k", True),
    ("Mod+K", "Control+k", True),
    ("mod+shift+k", "Control+Shift+K", True),
    ("mod+k", "Control+Shift+K", False),
    ("mod+k", "Control+Alt+k", False),
    ("mod+k", "k", False),
    ("alt+a", "Alt+a", True),
    ("ctrl+i", "Control+i", True),
    ("/", "/", True),
    ("?", "Shift+?", True),
    ("", "Control+k", False),
]


def test_a_shortcut_is_the_keys_it_says_and_no_others(placed):
    page = placed('mode="modal"')
    page.evaluate("document.querySelector('site-chat').prepare()")
    page.get_by_role("heading", level=1).click()
    for shortcut, keys, opens in SHORTCUTS:
        # The browser takes the focus out of a closed dialog when it draws the next frame.
        page.evaluate(
            """async (shortcut) => { const chat = document.querySelector("site-chat"); chat.close(); chat.setAttribute("shortcut", shortcut);
              window.opened = false; chat.addEventListener("sitechat:open", () => (window.opened = true), { once: true });
              for (const _ of "12") await new Promise(requestAnimationFrame); }""",
            shortcut,
        )
        page.keyboard.press(keys)
        opened = page.evaluate("new Promise((resolve) => setTimeout(() => resolve(window.opened)))")
        assert opened == opens, f"{shortcut}: {keys}"


def test_a_shortcut_works_on_the_keys_of_another_script(placed):
    page = placed('mode="modal" shortcut="mod+k"')
    page.evaluate(
        "dispatchEvent(new KeyboardEvent('keydown', { key: 'л', code: 'KeyK', ctrlKey: true, bubbles: true, composed: true }))"
    )
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_shortcut_without_a_modifier_leaves_fields_alone(placed):
    page = placed('mode="modal" shortcut="/"')
    page.locator("#field").press("/")
    assert page.locator("#field").input_value() == "/"
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_corner_has_a_shortcut_only_when_the_tag_sets_one(visit):
    page = loaded(visit())
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page = loaded(visit('data-shortcut="mod+k"'))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()


# --- The side panel


@pytest.mark.parametrize(
    ("attributes", "lang", "x"),
    [("", "en", 880), ('position="left"', "en", 0), ("", "ar", 0), ('position="right"', "ar", 880)],
)
def test_the_side_panel_is_as_high_as_the_window_at_its_edge(placed, attributes, lang, x):
    page = placed(f'mode="full" {attributes}', lang=lang)
    width = page.evaluate("document.querySelector('main').getBoundingClientRect().width")
    page.get_by_role("button", name="Ask the harbour").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert dialog.bounding_box() == {"x": x, "y": 0, "width": 400, "height": 800}
    assert not modal(page)
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().width") == width
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Ask the harbour")).to_be_focused()


def test_beside_the_side_panel_the_page_stays_usable(placed):
    page = placed('mode="full" position="right"')
    page.get_by_role("button", name="Ask the harbour").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.locator("#field").fill("Ada")
    page.mouse.move(20, 300)
    page.mouse.wheel(0, 400)
    page.wait_for_function("scrollY > 0")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_the_side_panel_stays_open_from_page_to_page(placed):
    page = placed('mode="full"')
    page.get_by_role("button", name="Ask the harbour").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate("document.activeElement.localName") == "body"


# --- All forms


@pytest.mark.parametrize("mode", ["full", "modal"])
def test_the_launcher_opens_the_other_forms_too(visit, mode):
    page = visit(f'data-mode="{mode}"')
    page.locator(".launcher").click()
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    assert modal(page) == (mode == "modal")
    page.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator(".launcher")).to_be_focused()


@pytest.mark.parametrize("mode", ["full", "modal"])
def test_on_a_phone_every_form_fills_the_screen(placed, mode):
    page = placed(f'mode="{mode}"')
    page.set_viewport_size({"width": 390, "height": 700})
    page.get_by_role("button", name="Ask the harbour").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert dialog.bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 700}
    assert modal(page)
    expect(page.get_by_role("textbox", name="Ask a question")).not_to_be_focused()


def test_a_screen_that_becomes_wide_enough_gives_the_page_back(opened):
    page = opened()
    page.get_by_role("textbox", name="Ask a question").fill("And on Sun")
    page.set_viewport_size({"width": 390, "height": 700})
    page.wait_for_function(
        "document.querySelector('site-chat').shadowRoot.querySelector('.panel').matches(':modal')"
    )
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(
        "!document.querySelector('site-chat').shadowRoot.querySelector('.panel').matches(':modal')"
    )
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.documentElement).overflow") == "visible"


def test_a_window_that_becomes_small_moves_the_focus_to_no_button(visit):
    """Such as by a zoom of 400 %, with a panel that has opened by itself."""
    page = visit("data-open")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 400})
    page.wait_for_function(
        "document.querySelector('site-chat').shadowRoot.querySelector('.panel').matches(':modal')"
    )
    expect(page.get_by_role("dialog")).to_be_focused()


def test_axe_finds_nothing_where_an_avatar_is_shown(placed):
    page = placed('mode="modal" avatar="/widget/demo/icon.svg"')
    page.evaluate("document.querySelector('site-chat').open()")
    ask(page)
    answered(page)
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert [
        finding for finding in findings(page) if "color-contrast" not in finding or "panel" in finding
    ] == []


@pytest.mark.parametrize("mode", ["inline", "modal"])
def test_hostile_styles_of_the_page_do_not_reach_a_placed_element(placed, mode):
    boxes = []
    height = "<style>site-chat { --site-chat-height: 500px }</style>"
    for head in (height, HOSTILE + height):
        page = placed(f'mode="{mode}"', head=head)
        page.evaluate("document.querySelector('site-chat').open()")
        panel = page.locator(".panel")
        expect(panel).to_be_visible()
        page.locator(".chip").first.wait_for()
        box = panel.bounding_box()
        style = panel.evaluate(
            "(node) => { const { color, fontSize, opacity, direction } = getComputedStyle(node); return [color, fontSize, opacity, direction] }"
        )
        boxes.append((None if mode == "inline" else box, style))
    assert boxes[0] == boxes[1]


@pytest.mark.parametrize("mode", ["inline", "full", "modal"])
def test_every_form_works_under_the_documented_policy(placed, server, mode, widget_policy):
    policy = widget_policy.replace("https://docent.example.com", server.home)
    page = placed(
        f'mode="{mode}" avatar="{server.home}/widget/demo/icon.svg"',
        headers={"Content-Security-Policy": policy},
    )
    problems = watched(page)
    page.evaluate("document.querySelector('site-chat').open()")
    ask(page)
    answered(page)
    expect(page.locator(".avatar")).to_be_visible()
    assert page.locator(".avatar").evaluate("(node) => node.complete && node.naturalWidth > 0")
    assert problems == []


# --- Methods


def test_calls_that_come_before_the_panel_is_loaded_are_kept(visit, profile, script):
    held = []
    profile.route("**/src/site-chat.js", lambda route: held.append(route))
    page = visit()
    page.wait_for_function("!!document.querySelector('site-chat')")
    page.evaluate("document.querySelector('site-chat').ask('When do the docks open?'); 0")
    page.wait_for_timeout(0)
    expect(page.locator(".launcher")).to_have_attribute("aria-busy", "true")
    assert not page.evaluate("!!customElements.get('site-chat')")
    held[0].continue_()
    answered(page)
    assert [asked["message"] for asked in script.asked] == ["When do the docks open?"]
    assert page.evaluate("document.querySelector('site-chat').hasOwnProperty('ask')") is False


def test_opening_and_closing_are_told_once_each(opened):
    page = opened()
    page.evaluate(
        "window.told = []; for (const name of ['open', 'close']) document.addEventListener(`sitechat:${name}`, ({ type }) => told.push(type))"
    )
    page.evaluate("document.querySelector('site-chat').open()")
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('site-chat').close()")
    page.evaluate("document.querySelector('site-chat').open()")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate("told") == ["sitechat:close", "sitechat:open"]


def test_a_link_that_opens_the_chat_leads_nowhere_else(visit):
    page = loaded(visit(body='<a href="/contact" data-site-chat-open><b>Contact</b></a>'))
    page.get_by_text("Contact").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.url.endswith("/")
