"""What a crawl after the first one costs, and what becomes of pages that changed, moved or went."""

from dataclasses import replace

import pytest
from sqlalchemy import event

from server.jobs import crawl_intake, refresh_site
from server.jobs.site_profile import with_address
from server.models.embedded import EmbeddedEmbedder
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.content.site_facts import SiteFactStore
from tests.jobs.conftest import SlowWebsite, installation_of
from tests.websites import serve


class Shop(SlowWebsite):
    """Twelve pages."""

    def __init__(self):
        super().__init__(12)


@pytest.fixture
def shop(folder, nursery):
    with installation_of(folder, Shop(), nursery) as made:
        yield made


@pytest.fixture
def embedded(monkeypatch):
    """How many chunks were embedded; the questions of the calibration are not counted."""
    counted = []
    real = EmbeddedEmbedder.embed

    def embed(self, texts):
        counted.extend(text for text in texts if "Part " in text and "\n\n" in text)
        return real(self, texts)

    monkeypatch.setattr(EmbeddedEmbedder, "embed", embed)
    return counted


def crawl(shop):
    shop.website.requests.clear()
    shop.runtime.crawling.refresh("shop", shop.runtime.stores.crawls.wait("shop"))
    assert shop.run.state == "done", shop.run.message
    return shop.run


def page_of(shop, path):
    return ContentStore(shop.runtime.database, "shop").known_pages().get(f"{shop.website.url}{path}")


def move(shop, number, to):
    """The page stands at another address now, and every link leads there."""
    website = shop.website
    old = website.path(number)
    website.pages[to] = website.pages.pop(old)
    for path, (title, content) in website.pages.items():
        website.pages[path] = (title, content.replace(f"href='{old}'", f"href='{to}'"))
    return old


def exclude(shop, patterns):
    sites = shop.runtime.stores.sites
    sites.change("shop", lambda site: replace(site, options={**site.options, "scope_exclude": patterns}))


def test_an_unchanged_site_costs_one_short_answer_a_page_and_no_embedding(shop, embedded):
    crawl(shop)
    assert len(embedded) == 12 * 3
    embedded.clear()
    shop.website.etags = True
    crawl(shop)
    embedded.clear()
    before = shop.runtime.stores.content("shop").live_generation()
    run = crawl(shop)
    assert run.counts["unchanged"] == 12
    assert shop.website.not_modified == 12
    assert embedded == []
    assert shop.runtime.stores.content("shop").live_generation() == before


def test_after_an_upgrade_that_reads_pages_better_unchanged_pages_are_read_once_again(shop, monkeypatch):
    shop.website.etags = True
    crawl(shop)
    monkeypatch.setattr(refresh_site, "READING", refresh_site.READING + 1)
    crawl(shop)
    assert shop.website.not_modified == 0
    crawl(shop)
    assert shop.website.not_modified == 12


def test_unchanged_pages_are_cut_by_a_new_length_of_chunks(shop):
    def longest():
        return max(len(chunk.text) for chunk in shop.runtime.stores.content("shop").every_chunk())

    shop.website.etags = True
    shop.website.pages["/p1"] = (
        "Lamps",
        f"<h1>Lamps</h1><p>{'Each lamp is made by hand in our workshop. ' * 12}",
    )
    crawl(shop)
    assert longest() > 200
    shop.runtime.close()
    changed = Settings.of(
        data_dir=shop.folder, crawl_allow_private=True, crawl_concurrency=2, chunk_chars=200, chunk_overlap=0
    )
    shop.runtime = open_runtime(changed)
    crawl(shop)
    assert longest() <= 200


def test_a_crawl_that_finds_every_page_as_it_was_keeps_the_card(shop):
    contact = "<h1>Contact</h1><p>Phone: 020 7946 0000</p>"
    shop.website.pages["/p1"] = ("Contact", contact + shop.website.pages["/p1"][1])
    crawl(shop)
    crawl(shop)  # now that the template of its pages is known
    card = SiteFactStore(shop.runtime.database, "shop")
    before = {fact.value: fact.seen_at for fact in card.all()}
    assert "020 7946 0000" in before
    statements = []

    def note(_connection, _cursor, statement, *_rest):
        statements.append(statement)

    event.listen(shop.runtime.database._engine, "before_cursor_execute", note)
    assert crawl(shop).counts["unchanged"] == 12
    event.remove(shop.runtime.database._engine, "before_cursor_execute", note)
    assert not [one for one in statements if "SELECT page_facts.facts" in one]
    after = {fact.value: fact.seen_at for fact in card.all()}
    assert after.keys() == before.keys()
    assert all(after[value] > before[value] for value in before)


def test_a_page_that_redirects_keeps_its_history_at_the_new_address_and_its_embeddings(shop, embedded):
    crawl(shop)
    first = page_of(shop, "/p11").first_seen_at
    old = move(shop, 11, "/moved-here")
    shop.website.redirects[old] = "/moved-here"
    embedded.clear()
    crawl(shop)
    assert page_of(shop, old) is None, "it is known where it went: no second look is needed"
    assert page_of(shop, "/moved-here").first_seen_at == first
    assert shop.moves() == {old: "/moved-here"}
    assert not [text for text in embedded if "of 11" in text]
    shop.check_indexes()


def test_a_page_that_is_gone_and_whose_text_appears_elsewhere_has_moved(shop, embedded):
    crawl(shop)
    first = page_of(shop, "/p11").first_seen_at
    old = move(shop, 11, "/renamed")
    embedded.clear()
    crawl(shop)
    assert page_of(shop, old) is None
    assert page_of(shop, "/renamed").first_seen_at == first
    assert shop.moves() == {old: "/renamed"}
    assert not [text for text in embedded if "of 11" in text]
    shop.check_indexes()


def test_a_page_that_is_gone_waits_for_a_second_look(shop):
    crawl(shop)
    del shop.website.pages["/p11"]
    crawl(shop)
    assert page_of(shop, "/p11").missed == 1
    crawl(shop)
    assert page_of(shop, "/p11") is None
    assert shop.moves() == {}
    shop.check_indexes()


def test_a_redirect_to_what_is_no_page_is_no_move(shop):
    crawl(shop)
    del shop.website.pages["/p11"]
    shop.website.redirects["/p11"] = "/nowhere"
    crawl(shop)
    assert page_of(shop, "/p11").missed == 1
    assert shop.moves() == {}


def test_a_changed_page_is_live_before_a_long_crawl_ends(shop, monkeypatch):
    crawl(shop)
    content = shop.runtime.stores.content("shop")
    before = content.live_generation()
    shop.runtime.configuration.live._current = replace_settings(shop, index_publish_s=0.01)
    shop.website.set_page(0, "Fresh words")
    seen = []

    def watch(found, fetched, indexed):
        texts = [chunk.text for chunk in content.page(f"{shop.website.url}/")]
        seen.append((fetched, any("Fresh words" in text for text in texts)))

    monkeypatch.setattr(crawl_intake, "RECORD_EVERY_S", 0.0)
    shop.runtime.crawling.refresh("shop", shop.runtime.stores.crawls.wait("shop"), on_progress=watch)
    assert shop.run.state == "done"
    assert any(fresh and fetched < 12 for fetched, fresh in seen), seen
    assert content.live_generation() > before
    shop.check_indexes()


def test_a_first_crawl_goes_live_as_a_whole(shop, monkeypatch):
    content = shop.runtime.stores.content("shop")
    shop.runtime.configuration.live._current = replace_settings(shop, index_publish_s=0.01)
    monkeypatch.setattr(crawl_intake, "RECORD_EVERY_S", 0.0)
    seen = set()
    shop.runtime.crawling.refresh(
        "shop", shop.runtime.stores.crawls.wait("shop"), on_progress=lambda *_: seen.add(content.counts()[0])
    )
    assert seen <= {0, 12}
    assert content.live_generation() == 1


def replace_settings(shop, **changes):
    return shop.runtime.configuration.settings.with_values(changes)


def test_an_address_that_was_no_page_is_visited_again_though_the_page_that_links_to_it_is_unchanged(shop):
    shop.website.etags = True
    shop.website.pages["/p3"] = ("Page 3", "<p>Read on <a href='/later'>in a new guide</a> about lamps.</p>")
    crawl(shop)
    crawl(shop)
    assert "/later" in shop.website.requests
    shop.website.pages["/later"] = ("Later", "<p>The guide about lamps was written a month later.</p>")
    crawl(shop)
    assert page_of(shop, "/later") is not None
    assert shop.website.not_modified > 12


def test_an_address_that_nothing_links_to_any_more_is_not_asked_for_for_ever(shop):
    shop.website.etags = True
    shop.website.pages["/p3"] = ("Page 3", "<p>Read on <a href='/later'>in a new guide</a> about lamps.</p>")
    crawl(shop)
    shop.website.pages["/p3"] = ("Page 3", "<p>There is no guide about lamps any more.</p>")
    crawl(shop)
    crawl(shop)
    assert "/later" not in shop.website.requests


def test_a_wider_scope_reaches_pages_that_unchanged_pages_link_to(shop):
    shop.website.etags = True
    exclude(shop, ["/p11"])
    crawl(shop)
    crawl(shop)
    assert page_of(shop, "/p11") is None
    exclude(shop, [])
    crawl(shop)
    assert page_of(shop, "/p11") is not None


def test_a_site_that_moves_to_another_host_leaves_the_old_one(shop):
    crawl(shop)
    first = page_of(shop, "/p5").first_seen_at
    old = shop.website.url
    with serve(Shop()) as moved:
        del moved.pages["/p11"]
        sites = shop.runtime.stores.sites
        sites.change("shop", lambda site: with_address(site, f"{moved.url}/"))
        crawl(shop)
        known = ContentStore(shop.runtime.database, "shop").known_pages()
        assert {url for url in known if url.startswith(old)} == {f"{old}/p11"}, "it waits for a second look"
        assert known[f"{moved.url}/p5"].first_seen_at == first
        crawl(shop)
        known = ContentStore(shop.runtime.database, "shop").known_pages()
        assert known.keys() == {f"{moved.url}{path}" for path in moved.pages}
    shop.check_indexes()
