"""Pages in a real browser: readable on a phone and a desk, light and dark, without findings of axe. Those of
a dashboard with something to show are opened by test_seeded.py, on half a year of questions."""

import os
from pathlib import Path

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
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls sideways"
    assert tab.evaluate(SMALL_TARGETS) == []
    if folder := os.environ.get("DOCENT_SCREENSHOTS"):
        tab.screenshot(path=Path(folder) / f"{name}-{size}-{scheme}.png", full_page=True)


# Links inside a sentence may be smaller: WCAG 2.2, success criterion 2.5.8.
SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary")]
    .filter((target) => !target.closest("p, .skip, blockquote") && !target.matches(".skip"))
    .map((target) => [target, target.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.width < 23.5 || box.height < 23.5))
    .map(([target, box]) => `${target.outerHTML.slice(0, 120)} ${box.width}x${box.height}`)"""


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
