"""For the keyboard, screen readers, small screens, other scripts and other preferences."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.widget.conftest import TAG
from tests.widget.service import PLAIN_PAGE
from tests.widget.test_conversation import answered, ask


def focused(page: Page) -> str:
    return page.evaluate(
        """() => { let node = document.activeElement; while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
          return node.getAttribute("aria-label") || node.title || node.textContent.trim() || node.localName }"""
    )


def test_the_whole_journey_needs_no_mouse(visit):
    page = visit()
    page.locator(".launcher").wait_for()
    page.keyboard.press("Tab")
    assert focused(page) == "Ask a question"
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    page.keyboard.type("When?")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("And where?")
    page.keyboard.press("Enter")
    answered(page)
    assert page.locator(".you").inner_text() == "When?\nAnd where?"
    backwards = []
    for _ in range(18):
        page.keyboard.press("Shift+Tab")
        backwards.append(focused(page))
    assert backwards.pop(0) == "Go to the latest"
    assert backwards[:6] == [
        "What does a day ticket cost?",
        "Where can I park?",
        "Not helpful",
        "Helpful",
        "Ask again",
        "Copy",
    ]
    assert backwards[6:13] == [
        "Tickets & prices",
        "Opening hours",
        "Sources: 2",
        "1: Opening hours",
        "2: Tickets & prices",
        "1: Opening hours",
        "Conversation",
    ]
    assert backwards[13:] == ["Close", "Wider", "More options", "New chat"]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert focused(page) == "Erase my data"
    page.keyboard.press("Escape")
    assert focused(page) == "More options"
    expect(page.get_by_role("tooltip")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert focused(page) == "Ask a question"
    expect(page.locator(".launcher")).to_have_attribute("aria-expanded", "false")


WATCH_STATUS = """() => { window.told = []; const status = document.querySelector("site-chat").shadowRoot.querySelector(".sr");
          new MutationObserver(() => told.push(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true }) }"""
"""Collects in `told` what screen readers announce."""


def test_an_answer_is_announced_once_and_only_when_it_is_complete(opened, script):
    script.faults = [("hold", 5)]
    page = opened()
    page.evaluate(WATCH_STATUS)
    expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    ask(page)
    expect(page.locator(".body")).to_contain_text("and close at")
    script.hold.set()
    answered(page)
    expect(page.locator(".sr")).to_contain_text("Tickets")
    told = page.evaluate("told")
    assert len(told) == 2, told
    assert told[0] == "Searching the site…"
    assert "Tickets are sold at the gate" in told[1]
    assert told[1].endswith("Sources: 2")


def test_controls_are_large_enough(opened, script):
    page = opened()
    ask(page)
    answered(page)
    small = page.evaluate(
        """() => [...document.querySelector("site-chat").shadowRoot.querySelectorAll("button, summary, textarea, .source")]
          .filter((node) => node.checkVisibility()).map((node) => [node.className || node.localName, node.getBoundingClientRect()])
          .filter(([, { width, height }]) => width < 24 || height < 24).map(([name]) => name)"""
    )
    assert small == []


def test_the_enter_that_ends_the_composing_of_a_word_does_not_send(opened, script):
    page = opened()
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill("みなと")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    assert box.input_value() == "みなと"
    box.press("Enter")
    answered(page)
    assert [asked["message"] for asked in script.asked] == ["みなと"]


def test_the_escape_that_ends_the_composing_of_a_word_leaves_the_panel_open(opened):
    """In Safari the composing has ended before the key is reported; its number tells of it."""
    page = opened()
    box = page.get_by_role("textbox", name="Ask a question")
    box.dispatch_event("keydown", {"key": "Escape", "keyCode": 229})
    expect(page.get_by_role("dialog")).to_be_visible()
    box.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_no_name_is_read_twice(opened, profile):
    """A description that repeats the name is one."""
    page = opened()
    ask(page)
    answered(page)
    tree = profile.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    said = [
        (node["name"].get("value"), node.get("description", {}).get("value"))
        for node in tree
        if not node["ignored"] and node.get("name")
    ]
    assert ("Copy", "Copy") not in said
    assert [name for name, description in said if name and name == description] == []


def test_a_question_that_is_too_long_to_be_sent_is_told_to_screen_readers(opened, script):
    page = opened()
    page.get_by_role("textbox", name="Ask a question").fill("x" * 230)
    page.keyboard.press("Enter")
    expect(page.locator(".sr")).to_have_text("230 / 200 Too long: please shorten it.")
    assert script.asked == []


def test_a_search_that_takes_long_is_told_to_screen_readers_once(new_profile, opened, script):
    script.faults = [("hold", 1)]
    new_profile.clock.install()
    page = opened()
    page.evaluate(WATCH_STATUS)
    ask(page)
    expect(page.locator(".sr")).to_have_text("Searching the site…")
    new_profile.clock.run_for(9000)
    expect(page.locator(".wait")).to_have_text("Still working on it…")
    script.hold.set()
    answered(page)
    new_profile.clock.run_for(9000)
    *before, answer = page.evaluate("told")
    assert before == ["Searching the site…", "Still working on it…"]
    assert "Tickets are sold at the gate" in answer


def test_screen_readers_hear_that_erasing_takes_a_second_press(opened, script):
    script.refusals = {"erase": 500}
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("button", name="Erase my data").press("Enter")
    expect(page.locator(".sr")).to_have_text("Erase forever? Press again")
    page.get_by_role("button", name="Press again").press("Enter")
    expect(page.locator(".sr")).to_have_text("That did not work. Please try again.")
    script.refusals = {}
    page.get_by_role("button", name="That did not work").press("Enter")
    expect(page.locator(".sr")).to_have_text("Your data has been erased.")


def test_what_screen_readers_are_told_does_not_outlive_its_time(opened, script):
    script.faults = [("status", 500), ("hold", 4)]
    page = opened()
    ask(page)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.locator(".sr")).to_have_text("")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".body")).to_contain_text("open at")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".sr")).to_have_text("Stopped.")


def test_nothing_runs_over_the_edge(opened, script):
    wide = "Fahrgastschiffsanlegestellenverzeichnis" * 6
    script.done = {
        "answer_html": f'<p>{wide} <a data-cite="1">1</a></p><pre>{wide}</pre><table><tr><td>{"</td><td>".join(["wide cell"] * 12)}</td></tr></table>'
    }
    page = opened()
    ask(page, wide[:200])
    answered(page)
    over = {}
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        over[width] = page.evaluate(
            """async () => { await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
              const panel = document.querySelector("site-chat").shadowRoot.querySelector(".panel");
              const log = panel.querySelector(".log"), edge = panel.getBoundingClientRect();
              return [document.documentElement.scrollWidth - innerWidth, log.scrollWidth - log.clientWidth, edge.right - innerWidth,
                -edge.left, -edge.top, edge.bottom - innerHeight].map((one) => Math.max(0, one)) }"""
        )
    assert over == dict.fromkeys(over, [0] * 6)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_field_is_as_high_as_what_is_typed(visit, width):
    """Whatever the length: the last line is never out of sight."""
    page = visit()
    page.set_viewport_size({"width": width, "height": 800})
    page.locator(".launcher").click()
    box = page.get_by_role("textbox", name="Ask a question")
    hidden = box.evaluate(
        """(field) => Array.from({ length: 160 }, (_, length) => {
          field.value = "Where may my boat lie for two nights and what is it ".repeat(4).slice(0, length + 1);
          field.dispatchEvent(new Event("input"));
          return field.scrollHeight - field.clientHeight;
        })"""
    )
    assert set(hidden) == {0}


def test_on_a_phone_the_field_has_letters_as_large_as_the_browser_is_set_to(visit, profile):
    page = visit()
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator(".launcher").click()
    field = page.get_by_role("textbox", name="Ask a question")
    expect(field).to_have_css("font-size", "16px")
    sizes = {"standard": 32, "fixed": 26}
    profile.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": sizes})
    expect(field).to_have_css("font-size", "30px")


def test_on_a_phone_the_panel_is_all_there_is(visit):
    page = visit(body="<p><a href='/x'>Link of the page</a></p>" * 60)
    page.set_viewport_size({"width": 390, "height": 700})
    page.locator(".launcher").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert dialog.evaluate("(node) => node.matches(':modal')")
    assert dialog.bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 700}
    expect(page.get_by_role("textbox")).not_to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        assert focused(page) != "Link of the page"
    page.mouse.move(200, 300)
    page.mouse.wheel(0, 500)
    assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".launcher")).to_be_focused()
    page.mouse.wheel(0, 500)
    page.wait_for_function("scrollY > 0")


def test_on_a_touch_screen_the_first_tap_shows_the_source_and_the_second_opens_it(browser, server, script):
    context = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True, locale="en-US")
    context.set_default_timeout(8000)
    script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=TAG, body=""), {})
    page = context.new_page()
    page.goto(server.home + "/")
    page.locator(".launcher").tap()
    ask(page)
    answered(page)
    marker = page.locator(".body a.cite").first
    marker.tap()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert len(context.pages) == 1
    with context.expect_page():
        marker.tap()
    context.close()


@pytest.fixture
def phone(browser, server, script):
    """Opens the chat on a phone with a screen of this size."""
    contexts = []

    def go(width: int, height: int) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, has_touch=True, is_mobile=True, locale="en-US"
        )
        context.set_default_timeout(8000)
        contexts.append(context)
        script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=TAG, body=""), {})
        page = context.new_page()
        page.goto(server.home + "/")
        page.locator(".launcher").tap()
        page.locator(".chip").first.wait_for()
        return page

    yield go
    for context in contexts:
        context.close()


def test_on_a_phone_a_suggested_question_brings_up_no_keyboard(phone):
    page = phone(390, 800)
    page.locator(".chip").first.tap()
    answered(page)
    assert focused(page) == "Conversation"


def test_magnifying_a_phones_page_with_two_fingers_leaves_the_panel_its_size(phone):
    page = phone(390, 800)
    page.context.new_cdp_session(page).send("Emulation.setPageScaleFactor", {"pageScaleFactor": 3})
    page.wait_for_function("visualViewport.scale === 3")
    assert page.get_by_role("dialog").bounding_box()["height"] == 800


def test_above_the_keyboard_of_a_phone_on_its_side_everything_is_reached(phone):
    """There the keyboard leaves 150 pixels, which the page's height does not tell."""
    page = phone(844, 390)
    page.locator(".chip").first.tap()
    answered(page)
    page.get_by_role("textbox").fill("One line\n" * 6)
    page.evaluate(
        "Object.defineProperty(visualViewport, 'height', { get: () => 150 }); visualViewport.dispatchEvent(new Event('resize'))"
    )
    expect(page.get_by_role("dialog")).to_have_css("height", "150px")
    assert page.get_by_role("log").bounding_box()["height"] >= 120
    for name in ("Send", "Helpful", "Close"):
        control = page.get_by_role("button", name=name, exact=True)
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box["y"] >= 0, name
        assert box["y"] + box["height"] <= 150, name


@pytest.mark.parametrize(
    ("lang", "words"),
    [("de", "Frage stellen"), ("zh-CN", "提问"), ("pt-BR", "Fazer uma pergunta"), ("tlh", "Ask a question")],
)
def test_it_speaks_the_language_of_the_page(opened, lang, words):
    page = opened(lang=lang)
    expect(page.get_by_role("textbox", name=words)).to_be_visible()
    expect(page.locator(".launcher")).to_have_attribute("data-label", words)


def test_arabic_runs_from_right_to_left(opened):
    page = opened(lang="ar")
    expect(page.get_by_role("dialog")).to_have_attribute("dir", "rtl")
    assert page.locator(".launcher").bounding_box()["x"] < 100
    close = page.get_by_role("button", name="إغلاق").last.bounding_box()
    assert close["x"] < page.get_by_role("heading", level=2).bounding_box()["x"]
    box = page.get_by_role("textbox")
    box.fill("متى تفتح الأرصفة؟")
    box.press("Enter")
    answered(page)


@pytest.mark.parametrize(
    ("lang", "question"), [("en", "متى تفتح الأرصفة؟"), ("ar", "When do the docks open?")]
)
def test_a_question_in_another_script_is_on_the_side_of_the_visitor(opened, lang, question):
    page = opened(lang=lang)
    page.get_by_role("textbox").fill(question)
    page.keyboard.press("Enter")
    answered(page)
    log, box = page.get_by_role("log").bounding_box(), page.locator(".you").bounding_box()
    left = box["x"] - log["x"]
    right = log["x"] + log["width"] - box["x"] - box["width"]
    assert (left > right) == (lang == "en")


def test_a_long_conversation_comes_back_whole(new_profile, opened, script):
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(
        """() => { const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
          talk.messages = Array.from({ length: 100 }, () => talk.messages).flat(); localStorage[key] = JSON.stringify([talk]);
          dispatchEvent(new StorageEvent("storage", { key })) }"""
    )
    expect(page.locator("article")).to_have_count(200)
    ask(page, "One more?")
    expect(page.locator("article")).to_have_count(202)
    answered(page, 101)


def test_at_400_percent_zoom_the_answer_has_room_and_everything_is_reached(visit):
    """A window of 1280 x 1024 at 400 %, as EN 301 549 (9.1.4.10) asks."""
    page = visit()
    page.set_viewport_size({"width": 320, "height": 256})
    page.locator(".launcher").click()
    page.locator(".chip").first.click()
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".log").bounding_box()["height"] >= 120
    field = page.get_by_placeholder("Ask a question")
    field.focus()
    expect(field).to_be_in_viewport()
    assert field.bounding_box()["height"] >= 24


def test_nothing_moves_for_people_who_prefer_reduced_motion(visit):
    page = visit()
    page.emulate_media(reduced_motion="reduce")
    page.locator(".launcher").click()
    page.locator(".chip").first.click()
    assert page.evaluate(RUNNING) == []
    answered(page)
    assert page.evaluate(RUNNING) == []


RUNNING = """() => document.querySelector("site-chat").shadowRoot.getAnimations()
    .filter((one) => one.playState === "running" && one.effect.getComputedTiming().duration > 10).map(String)"""


def test_borders_show_controls_in_forced_colours(visit):
    page = visit()
    page.emulate_media(forced_colors="active")
    page.locator(".launcher").click()
    page.locator(".chip").first.wait_for()
    bare = page.locator("site-chat").evaluate(
        """(chat) => [...chat.shadowRoot.querySelectorAll("button, textarea")]
            .filter((one) => one.checkVisibility() && one.getClientRects().length)
            .filter((one) => { for (let at = one; at && at !== chat.shadowRoot; at = at.parentElement)
                if (parseFloat(getComputedStyle(at).borderTopWidth) > 0 && !at.matches("dialog")) return false; return true; })
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert bare == []


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_focus_stays_in_the_panel_when_its_button_goes(opened, script, key):
    script.faults = [("status", 500)]
    page = opened()
    ask(page)
    again = page.get_by_role("button", name="Try again")
    again.focus()
    page.keyboard.press(key)
    answered(page)
    assert focused(page) == "Conversation"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_button_to_the_latest_words_does_not_cover_what_is_typed(opened, script):
    script.done = {"answer_html": "<p>One of many paragraphs.</p>" * 40}
    page = opened()
    ask(page)
    answered(page)
    page.get_by_role("textbox", name="Ask a question").fill("A line\n" * 9)
    latest = page.get_by_role("button", name="Go to the latest").bounding_box()
    assert latest["y"] + latest["height"] <= page.locator(".compose").bounding_box()["y"]


def test_a_source_is_shown_whole_where_the_panel_is_low(opened, script):
    quoted = {
        "url": "https://harbour.example/",
        "link": "",
        "title": "Docks",
        "quote": "Boats and berths. " * 30,
    }
    script.done = {"citations": [{**quoted, "number": number} for number in (1, 2)]}
    page = opened()
    ask(page)
    answered(page)
    page.set_viewport_size({"width": 800, "height": 300})
    marker = page.locator(".body a.cite").nth(1)
    marker.focus()
    card = page.get_by_role("tooltip").bounding_box()
    assert card["y"] >= page.get_by_role("dialog").bounding_box()["y"]


def test_the_menu_stays_open_where_a_click_focuses_no_button(opened):
    """In Safari a click on a button focuses what is around it: here the panel."""
    page = opened()
    page.get_by_role("button", name="More options").click()
    page.get_by_role("dialog").focus()
    page.get_by_role("button", name="Erase my data").click()
    expect(page.get_by_role("button", name="Press again")).to_be_visible()


def test_a_question_that_is_longer_than_the_panel_leaves_room_for_its_answer(opened, script):
    script.configuration = {"limits": {"message_chars": 4000}}
    page = opened()
    ask(page, "I would like to know all about the docks. " * 60)
    answered(page)
    expect(page.locator(".body > p").first).to_be_in_viewport(ratio=1)


def test_the_button_to_the_latest_words_is_there_as_long_as_they_are_out_of_sight(opened, script):
    """An on-screen keyboard, or a phone that is turned, takes room from the words and gives it back."""
    html = "<p>One of several paragraphs.</p>" * 10
    script.done = {"answer_html": html, "citations": [], "suggestions": []}
    page = opened()
    page.set_viewport_size({"width": 1280, "height": 900})
    ask(page)
    answered(page)
    latest = page.get_by_role("button", name="Go to the latest")
    expect(latest).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 500})
    expect(latest).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(latest).to_be_hidden()


@pytest.mark.parametrize("width", [320, 1280])
def test_a_long_title_is_shown_whole_beside_the_buttons(opened, script, width):
    script.configuration = {"title": "Visitors' harbour of the municipality of Springfield"}
    page = opened()
    page.set_viewport_size({"width": width, "height": 700})
    title = page.get_by_role("heading", level=2)
    expect(title).to_have_text("Visitors' harbour of the municipality of Springfield")
    box, button = title.bounding_box(), page.get_by_role("button", name="New chat").bounding_box()
    assert box["x"] + box["width"] <= button["x"]
    assert page.get_by_role("log").bounding_box()["height"] > 250


def test_the_menu_lies_below_the_button_that_opens_it(opened, script):
    """However many lines the title has."""
    script.configuration = {"title": "Visitors' harbour of the municipality of Springfield"}
    page = opened(lang="ru")
    page.set_viewport_size({"width": 320, "height": 568})
    more = page.locator(".head .tool").nth(1)
    more.click()
    box = more.bounding_box()
    assert page.locator(".menu").bounding_box()["y"] >= box["y"] + box["height"]


@pytest.mark.parametrize(
    "label", ["Questions about your berth? Ask us here!", "Hafenverwaltungsauskunftsstelle fragen"]
)
def test_a_long_label_of_the_launcher_fits_a_small_screen(visit, label):
    page = visit(f'data-label="{label}"')
    page.set_viewport_size({"width": 320, "height": 568})
    launcher = page.locator(".launcher")
    box, words = launcher.bounding_box(), launcher.locator("span").bounding_box()
    assert box["x"] >= 20
    assert launcher.locator("svg").bounding_box()["width"] == 24
    assert words["x"] + words["width"] <= box["x"] + box["width"] - 15
    assert words["height"] < box["height"]


def test_a_title_in_another_script_begins_where_the_lines_below_it_begin(opened):
    page = opened(lang="ar")
    box = page.get_by_role("heading", level=2).evaluate(
        """(heading) => { const words = document.createRange(); words.selectNodeContents(heading);
          return [words, heading.nextSibling].map((one) => one.getBoundingClientRect().right) }"""
    )
    assert abs(box[0] - box[1]) < 2
