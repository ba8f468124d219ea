"""A site that shows something else than its pages for a while, and is back: no page of it is lost."""

from dataclasses import replace
from datetime import timedelta

import pytest

from server.jobs import after_crawl
from server.storage.content.content import ContentStore
from tests.jobs.conftest import SlowWebsite, installation_of
from tests.websites import page_html

NOTICE = "<p>We are improving our website for you and will be back soon. Thank you for your patience.</p>"
PAGES = 24


class Shop(SlowWebsite):
    """While it is `down`, a function of the path answers instead of the pages."""

    def __init__(self):
        super().__init__(PAGES)
        self.down = None

    def answer(self, path):
        found = super().answer(path)
        return self.down(path) if self.down and path != "/robots.txt" else found


@pytest.fixture
def shop(folder, nursery):
    with installation_of(folder, Shop(), nursery) as made:
        crawl(made)
        yield made


def crawl(shop):
    shop.runtime.crawling.refresh("shop", shop.runtime.stores.crawls.wait("shop"))
    return shop.run


def paths(shop):
    known = ContentStore(shop.runtime.database, "shop").known_pages()
    return {url.removeprefix(shop.website.url) for url in known}


def exclude(shop, patterns):
    sites = shop.runtime.stores.sites
    sites.change("shop", lambda site: replace(site, options={**site.options, "scope_exclude": patterns}))


EVERY = {"/", *(f"/p{number}" for number in range(1, PAGES))}


def notice(path):
    return 200, "text/html; charset=utf-8", page_html("Slow Shop", "Back soon", NOTICE).encode()


def welcome_of_the_host(path):
    return notice(path) if path == "/" else (404, "text/plain", b"not here")


@pytest.mark.parametrize("down", [notice, welcome_of_the_host])
def test_a_notice_instead_of_the_pages_removes_none_of_them(shop, down):
    for _ in range(3):
        shop.website.down = down
        run = crawl(shop)
        assert paths(shop) == EVERY
        assert "looks down" in run.message
    shop.website.down = None
    run = crawl(shop)
    assert paths(shop) == EVERY
    assert "looks down" not in run.message
    assert shop.moves() == {}
    shop.check_indexes()


def test_pages_that_all_redirect_to_one_address_have_not_moved_there(shop):
    shop.website.pages["/login"] = ("Log in", "<p>Please log in to read the pages of this shop.</p>")
    shop.website.redirects = {f"/p{number}": "/login" for number in range(1, 8)}
    crawl(shop)
    assert paths(shop) == EVERY | {"/login"}
    assert shop.moves() == {}
    shop.website.redirects = {}
    crawl(shop)
    assert paths(shop) == EVERY | {"/login"}


def test_after_a_week_the_pages_of_a_site_that_looks_down_count_as_missing(shop, monkeypatch):
    shop.website.down = notice
    crawl(shop)
    assert paths(shop) == EVERY
    monkeypatch.setattr(after_crawl, "PATIENCE", timedelta(0))
    crawl(shop)
    crawl(shop)
    assert paths(shop) == {"/"}


def test_a_new_website_replaces_the_pages_of_the_old_one_after_a_second_look(shop):
    for number in range(1, PAGES):
        del shop.website.pages[f"/p{number}"]
    links = "".join(f"<a href='/new/{number}'>Lamp {number}</a> " for number in range(8))
    shop.website.pages["/"] = ("New", f"<p>Our new website has all lamps in one place: {links}</p>")
    for number in range(8):
        shop.website.pages[f"/new/{number}"] = (f"Lamp {number}", f"<p>Lamp {number} has {number} bulbs.</p>")
    crawl(shop)
    crawl(shop)
    assert paths(shop) == {"/", *(f"/new/{number}" for number in range(8))}


def test_pages_that_the_operator_excludes_leave_although_only_a_few_are_left(shop):
    exclude(shop, ["/p*"])
    crawl(shop)
    crawl(shop)
    assert paths(shop) == {"/"}
