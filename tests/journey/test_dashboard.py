"""The operator's way on a running server: from the link that it prints to a site that is read and answers."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from server.data_folder import DataFolder
from server.storage.database import Database
from server.storage.sites import SiteStore
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


def test_an_operator_adds_a_site_and_sees_it_answer(browser, docent, library):
    link = re.search(r"Dashboard\s+(http\S+/admin/setup\?token=\S+)", docent.log.read_text())[1]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        tab = context.new_page()
        tab.set_default_timeout(30_000)
        tab.goto(link)
        tab.get_by_label("E-mail").fill("ada@example.com")
        tab.get_by_label("Password", exact=True).fill("correct horse battery")
        tab.get_by_label("Password again").fill("correct horse battery")
        tab.get_by_role("button", name="Make the account").click()
        tab.get_by_role("link", name="Add a site").click()
        tab.get_by_label("Address").fill(library.url)
        tab.get_by_label("Name").fill("Town Library")
        tab.get_by_role("button", name="Add and read it").click()
        expect(tab.locator(".state .badge")).to_have_text("Read completely", timeout=60_000)
        expect(tab.locator(".figures dd").last).to_have_text("2")
        tab.get_by_role("link", name="Health").click()
        for part in ("Database", "Embedding model", "Vectors (Chroma)", "Index", "Queue worker"):
            expect(tab.locator(".parts li", has_text=part)).to_contain_text("Works")
    finally:
        context.close()
