"""The page does not harm the widget, and the widget does not harm the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.widget.conftest import TAG
from tests.widget.service import PLAIN_PAGE
from tests.widget.test_conversation import answered, ask

POLICY = (
    "default-src 'none'; script-src HOST; connect-src HOST; style-src 'none'; img-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HOSTILE = """<style>
* { all: unset !important; color: red !important; font-size: 3px !important; display: none !important; transform: rotate(9deg) !important }
html, body, main, site-chat { display: block !important } html { transform: none !important } html { font-size: 62.5% } body { transform: scale(.5) !important }
site-chat { position: static !important; opacity: .1 !important; z-index: -1 !important; width: 3px !important; visibility: hidden !important }
button, a, div, section { background: red !important; padding: 99px !important }
</style>"""


def watched(page: Page) -> list[str]:
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    return problems


def test_it_works_under_a_strict_policy_with_trusted_types(visit, server, new_profile):
    policy = POLICY.replace("HOST", server.home)
    problems: list[str] = []
    new_profile.on(
        "console", lambda message: problems.append(message.text) if message.type == "error" else None
    )
    page = visit(headers={"Content-Security-Policy": policy})
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    expect(page.locator(".you")).to_have_css("background-color", "rgb(26, 120, 104)")
    page.locator(".body a.cite").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert problems == []
    assert page.locator("site-chat [style]:not(.card)").count() == 0


def geometry(page: Page) -> dict[str, object]:
    return page.evaluate(
        """() => {
          const inside = document.querySelector("site-chat").shadowRoot;
          const of = (selector) => {
            const node = inside.querySelector(selector);
            const { width, height, right, bottom } = node.getBoundingClientRect();
            const { color, fontSize, backgroundColor, opacity } = getComputedStyle(node);
            return [width, height, right, bottom, color, fontSize, backgroundColor, opacity];
          };
          return Object.fromEntries([".launcher", ".panel", ".you", ".body", ".compose"].map((name) => [name, of(name)]));
        }"""
    )


def test_hostile_styles_of_the_page_change_nothing(opened):
    plain = opened()
    ask(plain)
    answered(plain)
    hostile = opened(head=HOSTILE)
    answered(hostile)
    assert geometry(hostile) == geometry(plain)
    host = hostile.evaluate(
        "(({ visibility, opacity, position, zIndex }) => [visibility, opacity, position, zIndex])(getComputedStyle(document.querySelector('site-chat')))"
    )
    assert host == ["visible", "1", "fixed", "2147483000"]


def test_the_page_keeps_its_layout_and_its_globals(visit):
    page = visit(body="<p>Text</p>" * 80)
    page.evaluate(
        """() => { window.shift = 0; window.moved = []; window.before = new Set(Object.keys(window));
          new PerformanceObserver((list) => { for (const entry of list.getEntries()) { shift += entry.value; for (const { node } of entry.sources) moved.push(node?.className || String(node)) } })
            .observe({ type: "layout-shift", buffered: true }); }"""
    )
    width = page.evaluate("document.documentElement.scrollWidth")
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    page.keyboard.press("Escape")
    assert page.evaluate("shift") == 0, page.evaluate("moved")
    assert page.evaluate("Object.keys(window).filter((name) => !before.has(name) && name !== 'before')") == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_until_a_visitor_comes_near_nothing_is_asked_but_once_how_the_site_looks(visit, script, server):
    page = visit()
    expect(page.locator(".chip").first).to_be_attached()
    assert script.requests[:2] == ["GET /", "GET /widget/embed.js"]
    asked = [path for path in script.requests[2:] if not path.startswith(("GET /widget/v/", "GET /favicon"))]
    assert asked == ["GET /api/v1/sites/harbour/widget"]
    script.requests.clear()
    page.goto(server.home + "/")
    page.wait_for_function("!!customElements.get('site-chat')")
    page.wait_for_load_state("networkidle")
    assert script.requests[:2] == ["GET /", "GET /widget/embed.js"]
    assert all(path.startswith("GET /widget/v/") for path in script.requests[2:])
    page.locator(".launcher").hover()
    expect(page.locator(".chip").first).to_be_attached()
    assert "GET /api/v1/sites/harbour/widget" in script.requests
    assert not [path for path in script.requests if path.startswith("POST")]


@pytest.mark.parametrize(
    "swap",
    [
        "document.body.replaceWith(document.createElement('body'))",
        "document.body.innerHTML = ''; history.pushState({}, '', '/elsewhere')",
        "document.querySelector('site-chat').remove()",
    ],
)
def test_it_survives_the_page_swapping_its_content(opened, swap):
    page = opened()
    ask(page)
    answered(page)
    page.evaluate(swap)
    answered(page)
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { src: '/widget/embed.js', async: true })); document.body.lastChild.dataset.site = 'harbour'"
    )
    ask(page, "Still there?")
    answered(page, 2)
    assert page.locator("site-chat").count() == 1


def test_when_the_panel_cannot_be_fetched_the_launcher_offers_it_again(visit, profile):
    profile.route("**/src/site-chat.js*", lambda route: route.abort())
    page = visit()
    page.locator(".launcher").click()
    expect(page.get_by_role("alert")).to_have_text("Ask a question ↻")
    profile.unroute("**/src/site-chat.js*")
    page.locator(".launcher").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_an_embed_tag_without_a_site_says_what_is_missing(profile, server, script):
    script.pages["/"] = ('<!doctype html><title>x</title><script src="/widget/embed.js"></script>', {})
    page = profile.new_page()
    problems = watched(page)
    page.goto(server.home + "/")
    assert page.locator("site-chat").count() == 0
    assert "data-site" in problems[0]


def test_the_module_form_stands_in_the_page(profile, server, script):
    script.pages["/"] = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><script type="module" src="/widget/v/abc123/src/site-chat.js"></script>'
        '<div style="height: 500px; width: 600px"><site-chat site="harbour" title="Harbour help"></site-chat></div>',
        {},
    )
    page = profile.new_page()
    page.goto(server.home + "/")
    region = page.get_by_role("region", name="Harbour help")
    expect(region).to_be_visible()
    assert region.bounding_box()["height"] == 500
    expect(page.get_by_role("button", name="Close")).to_have_count(0)
    ask(page)
    answered(page)


def test_a_chat_in_the_page_and_one_in_the_corner_lose_no_question_of_each_other(profile, server, script):
    module = '<script type="module" src="HOST/widget/v/abc123/src/site-chat.js"></script>'
    chat = '<div style="height: 500px; width: 500px"><site-chat site="harbour" id="placed"></site-chat></div>'
    script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=TAG.format("") + module, body=chat), {})
    page = profile.new_page()

    def asked(chat: str, question: str, count: int) -> None:
        box = page.locator(chat).get_by_role("textbox", name="Ask a question")
        box.fill(question)
        box.press("Enter")
        expect(page.locator(chat).locator(".acts")).to_have_count(count)

    page.goto(server.home + "/")
    asked("#placed", "First of all?", 1)
    page.reload()
    page.locator(".launcher").click()
    expect(page.locator("site-chat:not(#placed) .acts")).to_be_visible()
    asked("#placed", "And in the page?", 2)
    asked("site-chat:not(#placed)", "And in the corner?", 3)
    page.reload()
    expect(page.locator("#placed .you")).to_have_text(
        ["First of all?", "And in the page?", "And in the corner?"]
    )


def test_the_look_that_the_dashboard_chose_is_there_at_once_on_the_next_page(opened, script, server):
    script.configuration = {"look": {"accent": "#ffd54a", "position": "left"}, "greeting": "Ahoy!"}
    page = opened()
    expect(page.locator(".hello")).to_have_text("Ahoy!")
    launcher = page.locator(".launcher")
    expect(launcher).to_have_css("background-color", "rgb(255, 213, 74)")
    page.keyboard.press("Escape")
    page.goto(server.home + "/")
    expect(launcher).to_have_css("background-color", "rgb(255, 213, 74)")
    assert launcher.bounding_box()["x"] < 100


def test_attributes_of_the_tag_come_before_the_dashboard(opened, script):
    script.configuration = {"look": {"accent": "#ffd54a", "position": "left"}}
    page = opened(
        'data-accent="#102a6b" data-position="right" data-title="Ask the harbour" data-label="Ask us"'
    )
    expect(page.get_by_role("dialog", name="Ask the harbour")).to_be_visible()
    launcher = page.locator(".launcher")
    expect(launcher).to_have_css("background-color", "rgb(16, 42, 107)")
    expect(launcher).to_contain_text("Ask us")
    assert launcher.bounding_box()["x"] > 1000


def test_the_panel_stays_open_from_page_to_page(opened, server):
    page = opened()
    page.goto(server.home + "/")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate("document.activeElement.localName") == "body", "the focus stays with the page"
    page.locator(".launcher").click()
    page.goto(server.home + "/")
    expect(page.locator(".launcher")).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("placed_by", ["tag", "hand"])
def test_a_panel_that_opens_by_itself_stays_closed_once_the_visitor_has_closed_it(
    visit, profile, server, script, placed_by
):
    if placed_by == "tag":
        page = visit("data-open")
    else:
        module = '<script type="module" src="HOST/widget/v/abc123/src/site-chat.js"></script>'
        chat = '<site-chat site="harbour" mode="full" open></site-chat>'
        script.pages["/"] = (PLAIN_PAGE.format(lang="en", head=module, body=chat), {})
        page = profile.new_page()
        page.goto(server.home + "/")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.reload()
    page.wait_for_function("!!customElements.get('site-chat')")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_keys_typed_into_the_chat_do_nothing_on_the_page(opened):
    page = opened("data-shortcut=mod+k")
    # As Sphinx, mdBook and Read the Docs listen: inside a shadow root they see no field.
    page.evaluate(
        """() => { window.keys = [];
          for (const sign of ["keydown", "keypress", "keyup"])
            document.addEventListener(sign, ({ key, target }) => ["INPUT", "TEXTAREA"].includes(target.tagName) || keys.push(key)) }"""
    )
    box = page.get_by_role("textbox", name="Ask a question")
    box.press_sequentially("s/")
    box.press("ArrowLeft")
    page.get_by_role("log").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("keys") == []
    assert box.input_value() == "s/"
    page.keyboard.press("Control+p")
    assert "p" in page.evaluate("keys"), "the page's own shortcuts with Ctrl still work"
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_when_the_words_of_the_panel_cannot_be_fetched_the_launcher_offers_it_again(visit, profile):
    profile.route("**/src/texts/*", lambda route: route.abort())
    page = visit()
    page.wait_for_function("!!customElements.get('site-chat')")
    page.locator(".launcher").click()
    expect(page.get_by_role("alert")).to_have_text("Ask a question ↻")
    profile.unroute("**/src/texts/*")
    page.locator(".launcher").click()
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize(
    "talks", ['{"a": 1}', "[null]", '[{"started": NOW, "messages": [{"role": "answer"}]}]']
)
def test_kept_conversations_that_cannot_be_shown_do_not_keep_the_chat_closed(visit, server, talks):
    page = visit()
    page.evaluate(
        "(talks) => (localStorage['site-chat:harbour:talks'] = talks.replace('NOW', Date.now()))", talks
    )
    page.goto(server.home + "/")
    page.locator(".launcher").click()
    ask(page)
    answered(page)
    expect(page.locator("article")).to_have_count(2)


def test_the_launcher_speaks_the_language_of_the_panel(browser, server, script):
    """Where the widget does not speak the page's language, both take the browser's."""
    context = browser.new_context(locale="de-DE")
    script.pages["/"] = (PLAIN_PAGE.format(lang="nl", head=TAG.format(""), body=""), {})
    page = context.new_page()
    page.goto(server.home + "/")
    page.get_by_role("button", name="Frage stellen").click()
    expect(page.get_by_role("textbox", name="Frage stellen")).to_be_visible()
    context.close()
