"""An operator's way in a real browser, from the setup link to a site that is read."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from crawler.journal import JournalEntry
from server.domain.chunk import Chunk
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.crawls.journal import CrawlJournal
from tests.admin.conftest import EMAIL, PASSWORD
from tests.admin.tabs import opened
from tests.crawl_runs import begin_crawl

expect.set_options(timeout=20_000)


@pytest.fixture
def tab(browser, address):
    with opened(browser, address, "desk", "light") as tab:
        tab.set_default_timeout(20_000)
        yield tab


def figure(tab, label):
    return tab.locator(f".figures div:has(dt:text-is('{label}')) dd")


def test_from_the_setup_link_to_a_site_that_is_read(tab, runtime):
    tab.goto(f"/admin/setup#token={runtime.people.operators.setup_token()}")
    make_the_account(tab)
    add_a_site(tab)
    tab.goto("/admin/sites/lantern-example")
    follow_the_crawl(tab, runtime)
    tab.locator("#count-gone").click()
    expect(tab.get_by_role("row").filter(has_text="/old")).to_contain_text("not found")
    tab.get_by_role("link", name="Overview").click()
    tab.get_by_text("More figures").click()
    expect(tab.get_by_text("Answers visitors")).to_be_visible()
    tab.get_by_role("button", name="Account", exact=True).click()
    tab.get_by_role("button", name="Log out").click()
    expect(tab.get_by_text("You are logged out.")).to_be_visible()


def make_the_account(tab):
    tab.get_by_label("E-mail").fill(EMAIL)
    tab.get_by_label("Password", exact=True).fill(PASSWORD)
    tab.get_by_label("Password again").fill(PASSWORD)
    tab.keyboard.press("Enter")


def add_a_site(tab):
    tab.get_by_label("Address").fill("localhost:3000")
    tab.get_by_role("button", name="Add without a check").click()
    expect(tab.locator("#address-error")).to_contain_text("CRAWL_ALLOW_PRIVATE=1")
    tab.get_by_label("Address").fill("lantern.example")
    tab.get_by_label("Name").fill("Lantern Shop")
    tab.get_by_role("button", name="Add without a check").click()
    expect(tab.get_by_role("heading", name="Docent reads Lantern Shop")).to_be_visible()


def follow_the_crawl(tab, runtime):
    """What the worker does, step by step; the page follows without being loaded again."""
    expect(tab.locator(".state .badge")).to_have_text("Waiting to start")
    expect(tab.get_by_role("button", name="Crawl again")).to_have_count(0)
    expect(tab.get_by_role("button", name="Stop")).to_be_enabled()
    tab.evaluate("window.sameDocument = true")
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern-example")
    runtime.stores.crawls.progress(crawl_id, 12, 3, 1)
    gone = JournalEntry("https://lantern.example/old", 1, state="gone", reason="not found", status=404)
    CrawlJournal(runtime.database, crawl_id).write([gone])
    expect(figure(tab, "Pages found")).to_have_text("12")
    expect(figure(tab, "Indexed")).to_have_text("1")
    expect(tab.locator("#count-gone")).to_have_text("Gone 1")
    tab.locator("#count-gone").focus()
    index_a_page(runtime)
    runtime.stores.crawls.progress(crawl_id, 12, 11, 11)
    runtime.stores.crawls.finish(crawl_id, "done", "1 page indexed")
    expect(tab.locator(".state .badge")).to_have_text("Complete")
    expect(figure(tab, "Live for visitors")).to_have_text("1")
    expect(tab.get_by_role("button", name="Crawl again")).to_be_enabled()
    assert tab.evaluate("window.sameDocument && document.activeElement.id") == "count-gone", (
        "the focus stayed"
    )


def index_a_page(runtime):
    content = ContentStore(runtime.database, "lantern-example")
    page = PageRecord("https://lantern.example/", "Lantern Shop", "en", "1", "", "", 0, datetime.now(UTC))
    content.put_page(page, [Chunk("1", page.url, page.title, (), "Lamps.", 0, "en")], [])
    content.go_live()


@pytest.mark.parametrize(
    ("language", "copy", "copied"), [("en", "Copy", "Copied"), ("de", "Kopieren", "Kopiert")]
)
def test_the_embed_tag_is_copied(browser, address, cookie, site, language, copy, copied):
    with opened(browser, address, "desk", "light", [cookie], language=language) as tab:
        tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.goto("/admin/sites/lantern")
        tab.get_by_role("button", name=copy).click()
        expect(tab.get_by_role("button", name=copied)).to_be_visible(timeout=20_000)
        assert tab.evaluate("navigator.clipboard.readText()") == (
            f'<script src="{address}/widget/embed.js" data-site="lantern" async></script>'
        )


def test_a_lost_connection_is_said_and_mended_by_itself(browser, address, cookie, runtime, site):
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern")
    with opened(browser, address, "desk", "light", [cookie], ("Failed to load resource",)) as tab:
        tab.route("**/progress", lambda route: route.abort())
        tab.goto("/admin/sites/lantern")
        expect(tab.get_by_text("Docent does not answer at the moment.")).to_be_visible(timeout=20_000)
        tab.unroute("**/progress")
        runtime.stores.crawls.progress(crawl_id, 7, 0, 0)
        expect(figure(tab, "Pages found")).to_have_text("7", timeout=30_000)
        expect(tab.get_by_text("Docent does not answer at the moment.")).to_be_hidden()


def test_the_whole_way_works_by_keyboard_and_the_focus_is_seen(browser, address, cookie, site):
    with opened(browser, address, "desk", "light", [cookie]) as tab:
        tab.goto("/admin/sites")
        reached = []
        for _ in range(120):
            tab.keyboard.press("Tab")
            seen = tab.evaluate(
                """() => { const at = document.activeElement, style = getComputedStyle(at);
                return [at.textContent.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2]; }"""
            )
            reached.append(seen[0])
            if seen[0] == "Lantern Shop":
                break
            assert seen[1], f"no focus ring on {seen[0]}"
        menu = ["Overview", "Conversations", "Gaps", "Sites", "Playground", "Quality", "Health", "Settings"]
        assert reached[:10] == ["Skip to the content", "Docent", *menu]
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/admin/sites/lantern")
