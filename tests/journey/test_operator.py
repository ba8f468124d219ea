"""The operator's way on a running server: from the link that it prints, over a site that is read and answers, to
gaps that are closed by an own answer and by a new page, and to the removal of the site."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from tests.websites import Website, serve

LIBRARY = {
    "/": (
        "Town Library",
        '<p>The town library lends books and games.</p><p><a href="/hours">Opening hours</a></p>',
    ),
    "/hours": (
        "Opening hours",
        "<p>The library is open from nine to six on weekdays. It is closed on Sundays.</p>",
    ),
}
CARDS = (
    "Lost cards",
    "<p>A lost library card costs 5 EUR. The desk prints a new one at once.</p>",
)
DRILLS = "Do you lend power drills and other tools?"
LOST = "How much is a new card when mine is lost?"
LONG_MS = 90_000
"""For what the job worker does."""


@pytest.fixture
def library(docent):
    """A second website; the server forgets it afterwards, for other tests know one site only."""
    with serve(Website("Town Library", LIBRARY)) as website:
        yield website
    database = Database(DataFolder(Path(docent.settings["DATA_DIR"])).database_url())
    sites = SiteStore(database)
    for site in sites.all():
        if website.url in " ".join(site.start_urls):
            sites.delete(site.id)
    database.close()


@contextmanager
def page_of(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.set_default_timeout(30_000)
        yield page
    finally:
        context.close()


@pytest.fixture
def tab(browser):
    """The operator's."""
    with page_of(browser) as page:
        yield page


def ask(browser, library, question):
    """What a visitor of the library gets in the widget on its page."""
    with page_of(browser) as page:
        page.goto(library.url + "/")
        page.get_by_role("button", name=re.compile("chat|ask|question", re.I)).first.click()
        page.get_by_role("textbox").fill(question)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Helpful", exact=True).or_(
            page.get_by_role("button", name="Write to us")
        ).first.wait_for()
        return page.get_by_role("article", name="Answer").last.inner_text()


def reload_until(tab, locator, text):
    """The page is asked for again until it says so: what it shows is the job worker's to do."""
    for _ in range(LONG_MS // 1000):
        if text in locator.first.inner_text():
            return
        tab.wait_for_timeout(1000)
        tab.reload()
    expect(locator.first).to_contain_text(text)


def make_account(tab, docent):
    tab.goto((Path(docent.settings["DATA_DIR"]) / "setup-link.txt").read_text().strip())
    tab.get_by_label("E-mail").fill("ada@example.com")
    tab.get_by_label("Password", exact=True).fill("correct horse battery")
    tab.get_by_label("Password again").fill("correct horse battery")
    tab.get_by_role("button", name="Create account").click()


def add_the_library(tab, library):
    """With a look at what would be read first."""
    tab.get_by_role("link", name="Overview").click()
    tab.get_by_role("link", name="Add a site").first.click()
    tab.get_by_label("Address").fill(library.url)
    tab.get_by_label("Name").fill("Town Library")
    tab.get_by_role("button", name="Check the address").click()
    expect(tab.locator(".state .badge")).to_have_text("Done")
    tab.get_by_text("Pages that were opened").click()
    expect(tab.get_by_role("table", name="Pages that would be crawled")).to_contain_text("Opening hours")
    tab.get_by_role("button", name="Add the site and crawl it").click()
    expect(tab.get_by_text("2 pages are ready for questions.")).to_be_visible(timeout=LONG_MS)
    tab.goto(tab.url.removesuffix("/start/crawl"))
    expect(tab.locator("#live-pages")).to_have_text("2")


def embed_it(tab, library):
    """Copies the tag into the website's pages, and has it checked."""
    library.head = tab.locator("#tag").inner_text()
    tab.get_by_role("link", name="Steps for WordPress, Shopify and others, and a check").click()
    tab.get_by_role("button", name="Check this page").click()
    steps = tab.get_by_role("list", name="What the check found")
    expect(steps).to_contain_text("Visitors on")
    expect(steps.get_by_text("Wrong")).to_have_count(0)


def open_gap(tab, question):
    """In the list of what is not about the site: a library has nothing to do with drills, and this one says nothing
    about cards yet."""
    tab.get_by_role("navigation", name="Main").get_by_role("link", name="Gaps").click()
    tab.get_by_role("link", name="Not about your site").click()
    reload_until(tab, tab.locator("main"), question)
    tab.get_by_role("link", name=question).click()


def test_an_operator_comes_from_nothing_to_gaps_that_are_closed(browser, tab, docent, library):
    make_account(tab, docent)
    add_the_library(tab, library)
    embed_it(tab, library)
    site_page = tab.url.rpartition("/")[0]
    assert "library is open" in ask(browser, library, "When is the library open?")
    for question in (DRILLS, LOST):
        assert "5 EUR" not in ask(browser, library, question)

    # What it cannot answer is shown, and an own answer closes it.
    open_gap(tab, DRILLS)
    gap = tab.url
    tab.get_by_role("link", name="Write an answer").click()
    expect(tab.get_by_label("Question", exact=True)).to_have_value(DRILLS)
    tab.get_by_label("Answer", exact=True).fill("We lend drills for three days. Ask at the desk.")
    tab.get_by_role("button", name="Save").click()
    tab.goto(gap)
    reload_until(tab, tab.locator(".badge"), "Solved by your own answer")
    assert "Ask at the desk" in ask(browser, library, DRILLS)

    # A new page closes the other one by itself.
    library.pages["/cards"] = CARDS
    library.pages["/"] = (LIBRARY["/"][0], LIBRARY["/"][1] + '<p><a href="/cards">Lost cards</a></p>')
    open_gap(tab, LOST)
    gap = tab.url
    tab.goto(site_page)
    tab.get_by_role("button", name="Crawl again").click()
    expect(tab.locator("#live-pages")).to_have_text("3", timeout=LONG_MS)
    tab.goto(gap)
    reload_until(tab, tab.locator(".badge"), "Solved by a page")
    expect(tab.locator("main")).to_contain_text("card costs 5 EUR")
    assert "5 EUR" in ask(browser, library, LOST)

    check_it(tab, site_page)

    # Every part works, and what was done stands in the audit log.
    tab.get_by_role("link", name="Health", exact=True).click()
    for part in ("Database", "Embedding model", "Vectors (Chroma)", "Index", "Queue worker"):
        expect(tab.locator(".parts li", has_text=part)).to_contain_text("Works")
    remove_the_library(tab, site_page)
    assert "library is open" not in answer_after_removal(browser, library)


def check_it(tab, site_page):
    """Questions made from the three pages are asked, and three sentences say how it went."""
    tab.goto(f"{site_page}/quality")
    tab.get_by_role("button", name="Check my site").click()
    expect(tab.locator("main")).to_contain_text("from the site’s own pages", timeout=LONG_MS)
    sentences = tab.get_by_role("region", name="Check my site").get_by_role("listitem")
    expect(sentences).to_have_count(3)
    expect(sentences.filter(has_text="Docent")).not_to_have_count(0)


def remove_the_library(tab, site_page):
    tab.goto(f"{site_page}/remove")
    site_id = site_page.rpartition("/")[2]
    tab.get_by_label("Id of the site").fill(site_id)
    tab.get_by_role("button", name="Remove it for good").click()
    expect(tab.locator(".notice.done")).to_contain_text("Town Library is removed")
    expect(tab.get_by_role("table")).not_to_contain_text("Town Library")


def answer_after_removal(browser, library):
    with page_of(browser) as page:
        page.goto(library.url + "/")
        page.wait_for_timeout(1500)
        return page.locator("body").inner_text()
