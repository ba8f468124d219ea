"""Pages in a real browser: readable on a phone and a desk, light and dark, without findings of axe. Those of
a dashboard with something to show are opened by test_seeded.py, on half a year of questions."""

import os
import re
from pathlib import Path

from admin.blueprint import FOLDER as STATIC
from server.storage.content.sources import source_id
from tests import axe
from tests.admin import (
    samples_content,
    samples_conversations,
    samples_gaps,
    samples_people,
    samples_playground,
    samples_quality,
    samples_sites,
)
from tests.admin.tabs import opened

PAGES = {
    "overview": "/admin/",
    "sites": "/admin/sites",
    "site_new": "/admin/new-site",
    "site": "/admin/sites/lantern",
    "site_failed": "/admin/sites/docs",
    "site_address": "/admin/sites/lantern/address",
    "start_crawl": "/admin/sites/lantern/start/crawl",
    "start_crawl_running": "/admin/sites/atlas/start/crawl",
    "start_crawl_failed": "/admin/sites/docs/start/crawl",
    "start_questions": "/admin/sites/lantern/start/questions",
    "start_look": "/admin/sites/lantern/start/look",
    "start_messages": "/admin/sites/lantern/start/messages",
    "start_model": "/admin/sites/lantern/start/model",
    "scope": "/admin/sites/lantern/scope?url=mailto:somebody",
    "site_settings": "/admin/sites/lantern/settings",
    "site_removal": "/admin/sites/lantern/remove",
    "site_export": "/admin/sites/lantern/export",
    "site_import": "/admin/new-site/import",
    "embed_check": "/admin/sites/lantern/embed-check",
    "dry_run": f"/admin/dry-runs/{samples_sites.RUN}?address=https://lantern.example/",
    "crawl": "/admin/sites/lantern/crawls/{c1}",
    "site_running": "/admin/sites/atlas",
    "crawl_running": "/admin/sites/atlas/crawls/{c4}",
    "content": "/admin/sites/lantern/pages",
    "sources": "/admin/sites/lantern/sources",
    "source": f"/admin/sites/lantern/sources/{source_id('file', 'guide.md')}",
    "curated": "/admin/sites/lantern/answers?try=Do+you+deliver",
    "widget": "/admin/sites/lantern/widget",
    "curated_new": "/admin/sites/lantern/answers/new",
    "conversations": "/admin/conversations",
    "conversation": "/admin/conversations/{conversation_id}",
    "messages": "/admin/messages",
    "message": "/admin/messages/{message_id}",
    **samples_content.PAGES,
    **samples_gaps.PAGES,
    **samples_people.PAGES,
    **samples_conversations.PAGES,
    **samples_playground.PAGES,
    **samples_quality.PAGES,
    "health": "/admin/health",
    "not_found": "/admin/nothing",
}
EMPTY_PAGES = {
    "empty_overview": "/admin/",
    "empty_sites": "/admin/sites",
    "empty_conversations": "/admin/conversations",
    "empty_messages": "/admin/messages",
    "empty_gaps": "/admin/gaps",
    "empty_health": "/admin/health",
}
EVERY_RULE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Of all rules only these depend on size and colours; the others are checked once, on the phone in light.
RULES = {("desk", "dark"): ["color-contrast"], ("phone", "light"): EVERY_RULE}


def check(tab, name, size, scheme):
    check_layout(tab, name, size, scheme)
    assert axe.findings(tab, RULES[size, scheme]) == []


def check_layout(tab, name, size, scheme):
    tab.wait_for_load_state()  # a click that sends a form returns when the next page has only begun
    fits, small = tab.evaluate(LAYOUT)
    assert fits, f"{name} scrolls sideways"
    assert small == []
    if folder := os.environ.get("DOCENT_SCREENSHOTS"):
        tab.screenshot(path=Path(folder) / f"{name}-{size}-{scheme}.png", full_page=True)


# Links inside a sentence may be smaller: WCAG 2.2, success criterion 2.5.8.
LAYOUT = """() => [
    document.documentElement.scrollWidth <= innerWidth,
    [...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")]
        .filter((target) => !target.closest("p, .skip, blockquote") && !target.matches(".skip"))
        .map((target) => [target, target.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0 && (box.width < 23.5 || box.height < 23.5))
        .map(([target, box]) => `${target.outerHTML.slice(0, 120)} ${box.width}x${box.height}`),
]"""


def test_the_dark_look_changes_only_colours():
    """So nothing has another place or size in it."""
    sheets = [file.read_text(encoding="utf-8") for file in STATIC.glob("*.css")]
    dark = [
        rule
        for sheet in sheets
        for rule in re.findall(r"prefers-color-scheme: dark\) \{\n(.*?)\n\}", sheet, re.S)
    ]
    assert len(dark) == sum(sheet.count("prefers-color-scheme") for sheet in sheets) > 1
    values = re.findall(r"([\w-]+): ([^;]+);", "".join(dark))
    assert [pair for pair in values if not re.fullmatch("#[0-9a-f]{6}", pair[1])] == []
    assert {name for name, _ in values if not name.startswith("--")} == {"fill"}


def test_empty_pages_say_what_to_do_next(browser, address, cookie):
    with opened(browser, address, "phone", "light", [cookie]) as tab:
        for name, path in EMPTY_PAGES.items():
            tab.goto(path)
            check(tab, name, "phone", "light")
            assert tab.locator(".empty h2, .empty h3").is_visible()


def test_forms_show_what_is_wrong_beside_the_field(browser, address, runtime):
    token = runtime.people.operators.setup_token()
    with opened(browser, address, "phone", "light") as tab:
        tab.goto(f"/admin/setup#token={token}")
        check(tab, "setup", "phone", "light")
        tab.get_by_role("button", name="Create account").click()
        check(tab, "setup_wrong", "phone", "light")
        field = tab.get_by_label("E-mail")
        assert field.evaluate("field => field === document.activeElement")
        assert field.evaluate(
            "field => document.getElementById(field.getAttribute('aria-describedby').split(' ')[1]).textContent"
        ) == ("Write your e-mail address. You log in with it.")
        tab.goto("/admin/login")
        check(tab, "login", "phone", "light")


NARROW = (
    "overview",
    "sites",
    "conversation",
    "crawl",
    "gaps",
    "settings_models",
    "widget",
    "quality_run",
    "fact_long",
)
SPACING = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
    p { margin-bottom: 2em !important; }"""
BARE = """() => [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea")]
    .filter((one) => one.getClientRects().length && !one.matches(".link, [type=checkbox]"))
    .filter((one) => parseFloat(getComputedStyle(one).borderTopWidth) === 0).map((one) => one.outerHTML.slice(0, 100))"""
CUT = """() => [...document.querySelectorAll("main *")]
    .filter((one) => one.getClientRects().length && !one.closest(".unseen, svg, iframe, .window, .chips, thead"))
    .filter((one) => getComputedStyle(one).overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 100))"""
FAINT = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).map((one) => one / 255)
        .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
        .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = (one) => { const colour = getComputedStyle(one).backgroundColor;
        return parts(colour)[3] === 0 && one.parentElement ? ground(one.parentElement) : colour; };
    return [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
        .filter((one) => one.getClientRects().length && !one.matches(":focus, [type=checkbox], [type=color]"))
        .map((one) => [one, light(getComputedStyle(one).borderTopColor), light(ground(one.parentElement))])
        .filter(([, edge, under]) => (Math.max(edge, under) + 0.05) / (Math.min(edge, under) + 0.05) < 3)
        .map(([one]) => one.outerHTML.slice(0, 100));
}"""


def test_zoom_spacing_forced_colours_and_reduced_motion_are_followed(browser, address, cookie, busy):
    """At 320 px (1280 px at 400 %) nothing scrolls sideways, also with the text spacing of WCAG 1.4.12."""
    wrong = []
    with opened(browser, address, "phone", "light", [cookie]) as tab:
        tab.set_viewport_size({"width": 320, "height": 256})
        for name in NARROW:
            tab.goto(PAGES[name].format(**vars(busy)))
            for what in ("zoom", "spacing"):
                if what == "spacing":
                    tab.evaluate(
                        "(css) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css);"
                        " document.adoptedStyleSheets = [sheet]; }",
                        SPACING,
                    )
                if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    wrong.append((name, what, "scrolls sideways"))
                wrong += [(name, what, one) for one in tab.evaluate(CUT)]
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                wrong += [(name, scheme, "faint", one) for one in tab.evaluate(FAINT)]
            tab.emulate_media(color_scheme="light", forced_colors="active", reduced_motion="reduce")
            wrong += [(name, "forced", one) for one in tab.evaluate(BARE)]
            wrong += [(name, "moves", one) for one in tab.evaluate(MOVES)]
            tab.emulate_media(forced_colors="none", reduced_motion="no-preference")
    assert wrong == []


MOVES = "() => document.getAnimations().filter((one) => one.playState === 'running').map(String)"


def test_the_menu_of_the_account_names_the_person_and_closes_with_escape(browser, address, cookie):
    with opened(browser, address, "phone", "light", [cookie]) as tab:
        tab.goto("/admin/sites")
        button = tab.get_by_role("button", name="Account", exact=True)
        button.click()
        shown = tab.get_by_text("ada@example.com")
        assert shown.is_visible()
        assert shown.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        assert tab.get_by_role("link", name="My account").is_visible()
        check(tab, "account_menu", "phone", "light")
        tab.keyboard.press("Escape")
        assert not shown.is_visible()
        assert button.evaluate("(one) => one === document.activeElement")
