"""One page is read again by the rules of any crawl, and says what came of it."""

import pytest

from server.storage.content.content import ContentStore


def read_again(shop, path):
    crawl_id = shop.runtime.crawling.pages.read_again("shop", shop.url(path))
    assert [run.id for run in shop.work()] == [crawl_id]
    return shop.runtime.stores.crawls.get(crawl_id)


def test_a_changed_page_is_live_without_a_crawl_of_the_site(shop):
    title, content = shop.website.pages["/returns"]
    shop.set_page("/returns", title, content.replace("14 days", "20 days"))
    shop.website.requests.clear()
    run = read_again(shop, "/returns")
    assert (run.kind, run.state) == ("page", "done")
    assert run.message.startswith("changed; ")
    assert run.counts == {"fetched": 1}
    assert "20 days" in shop.answer("When are refunds paid?").text
    assert not {"/", "/delivery", "/prices", "/install"} & set(shop.website.requests)
    assert shop.runtime.stores.crawls.latest("shop").kind == "site", "the site's last crawl is another one"
    shop.check_indexes()


@pytest.mark.parametrize(
    ("path", "prepare", "state", "says"),
    [
        ("/returns", lambda site: None, "done", "unchanged"),
        ("/returns", lambda site: site.pages.pop("/returns"), "done", "gone: the server says it is gone"),
        ("/nowhere", lambda site: None, "done", "gone: "),
        (
            "/returns",
            lambda site: site.redirects.update({"/returns": "/prices"}),
            "done",
            "redirected: to http",
        ),
        ("/photo.jpg", lambda site: None, "done", "no page: a .jpg file"),
    ],
)
def test_what_came_of_it_is_said(shop, path, prepare, state, says):
    prepare(shop.website)
    run = read_again(shop, path)
    assert run.state == state
    assert run.message.startswith(says), run.message
    shop.check_indexes()


def test_a_page_that_robots_txt_closed_is_not_fetched(shop):
    shop.website.robots = "User-agent: *\nDisallow: /returns\n"
    shop.website.requests.clear()
    run = read_again(shop, "/returns")
    assert run.message.startswith("refused by the site: robots.txt line ")
    assert "/returns" not in shop.website.requests


def test_an_address_of_another_website_is_refused(shop):
    crawl_id = shop.runtime.crawling.pages.read_again("shop", "https://elsewhere.example/")
    shop.work()
    run = shop.runtime.stores.crawls.get(crawl_id)
    assert run.message == "outside of what is read: it is on another host than the site"


def test_a_page_that_was_not_known_is_added(shop):
    shop.set_page("/warranty", "Warranty", "<p>The warranty lasts three years.</p>")
    run = read_again(shop, "/warranty")
    assert run.message.startswith("changed; sections: 1 new")
    assert "three years" in shop.answer("How long is the warranty?").text


def test_a_page_that_is_not_found_twice_leaves(shop):
    shop.website.pages.pop("/prices")
    assert "leaves the index when it is not found again" in read_again(shop, "/prices").message
    assert "/prices" in shop.paths()
    read_again(shop, "/prices")
    assert "/prices" not in shop.paths()


def test_a_corrected_page_stays_corrected_and_hears_of_news(shop):
    pages = shop.runtime.crawling.pages
    texts = pages.texts("shop", shop.url("/returns"))
    pages.edit("shop", shop.url("/returns"), texts.title, texts.text.replace("14 days", "30 days"), "", "ada")
    shop.work()
    title, content = shop.website.pages["/returns"]
    shop.set_page("/returns", title, content.replace("14 days", "20 days"))
    read_again(shop, "/returns")
    assert "30 days" in shop.text("/returns")
    assert "20 days" in pages.texts("shop", shop.url("/returns")).site_text


def test_a_site_without_a_live_page_is_crawled_first(shop):
    shop.runtime.stores.sites.create(
        shop.runtime.stores.sites.get("shop").__class__("new", "New", "", (shop.url("/"),))
    )
    crawl_id = shop.runtime.crawling.pages.read_again("new", shop.url("/returns"))
    assert shop.runtime.crawling.refresh("new", crawl_id)
    run = shop.runtime.stores.crawls.get(crawl_id)
    assert (run.state, run.message) == ("failed", "no page of the site is live yet: crawl the site first")
    assert ContentStore(shop.runtime.database, "new").live.live_generation() == 0
