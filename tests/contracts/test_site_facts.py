"""The card of a site is kept on SQLite and on PostgreSQL."""

import pytest

from server.domain.derived import PageFacts
from server.domain.site import Site
from server.domain.site_fact import FactKind, SiteFact
from server.storage.content.page_facts import PageFactStore
from server.storage.content.site_facts import SiteFactStore
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.sites.sites import SiteStore

PHONE = SiteFact(
    "a", FactKind.PHONE, "", "020 7946 0000", "https://shop.example/", "Call 020 7946 0000.", "en", main=True
)
PRICE = SiteFact("b", FactKind.PRICE, "Lamp \0", "19 €", "https://shop.example/prices")
HOURS = SiteFact("c", FactKind.HOURS, "Opening hours", "Mon 9–17", "https://shop.example/")


@pytest.fixture
def store(database):
    SiteStore(database).create(Site("shop", "Shop", "Shop"))
    return SiteFactStore(database, "shop")


def values(store):
    return [(fact.id, fact.shown, fact.found) for fact in store.all()]


def test_facts_come_back_by_kind(store):
    store.put([PRICE, HOURS, PHONE])
    found = store.all()
    assert [fact.id for fact in found] == ["a", "c", "b"]
    assert (found[0].quote, found[0].main, found[0].language) == ("Call 020 7946 0000.", True, "en")
    assert found[0].seen_at is not None
    assert found[2].label == "Lamp \ufffd"


def test_what_a_crawl_no_longer_finds_goes(store):
    store.put([PHONE, PRICE])
    store.put([PRICE])
    assert values(store) == [("b", "19 €", True)]
    store.put([])
    assert store.all() == []


def test_what_operators_decided_survives_every_crawl(store):
    store.put([PHONE, PRICE, HOURS])
    store.correct("a", "020 7946 0009", "ada@example.com")
    store.hide("b", "ada@example.com", hidden=True)
    added = store.add(FactKind.EMAIL, "", "hi@shop.example", "", "ada@example.com")
    store.put([PHONE])
    assert values(store) == [
        ("a", "020 7946 0009", True), (added.id, "hi@shop.example", True), ("b", "19 €", False),
    ]  # fmt: skip
    store.put([PHONE, PRICE])
    assert (store.get("b").found, store.get("b").hidden) == (True, True)
    assert (store.get("a").edited_by, added.main) == ("ada@example.com", True)


def test_a_card_is_confirmed_only_by_what_it_was_made_from(store):
    assert not store.confirm("pages of May")
    store.put([PHONE], "pages of May")
    assert not store.confirm("pages of June")
    before = store.get("a").seen_at
    assert store.confirm("pages of May")
    assert store.get("a").seen_at > before
    store.put([PHONE])
    assert not store.confirm("pages of May")


def test_a_lost_fact_that_nobody_hides_any_more_goes_when_the_card_is_confirmed(store):
    store.put([PHONE, PRICE, HOURS])
    for lost in ("b", "c"):
        store.hide(lost, "ada", hidden=True)
    added = store.add(FactKind.EMAIL, "", "hi@shop.example", "", "ada")
    store.put([PHONE], "pages")
    store.hide("b", "ada", hidden=False)
    assert store.confirm("pages")
    assert [fact.id for fact in store.all()] == ["a", added.id, "c"]


def test_changed_facts_of_a_page_outdate_the_card(store, database):
    pages = PageFactStore(database, "shop")
    marked = {f"https://shop.example/{n}": PageFacts("a\0b", ("Home",), (("/", "x"),)) for n in range(3)}
    pages.put(marked)
    store.put([PHONE], "pages")
    pages.put(marked)
    assert store.confirm("pages")
    pages.put({**marked, "https://shop.example/1": PageFacts("New")})
    assert not store.confirm("pages")


def test_the_sites_value_comes_back(store):
    store.put([PHONE])
    store.correct("a", "1", "ada")
    store.correct("a", PHONE.value, "ada")
    assert store.get("a").own_value == ""


def test_only_added_and_lost_facts_are_removed(store):
    store.put([PHONE, PRICE])
    store.hide("b", "ada", hidden=True)
    store.put([PHONE])
    added = store.add(FactKind.PRICE, "Lamp", "5 €", "", "ada")
    assert [store.remove(id) for id in ("a", "b", added.id, "none")] == [False, True, True, False]
    assert values(store) == [("a", PHONE.value, True)]


def test_an_unknown_fact_and_an_unknown_site(store, database):
    for change in (
        lambda: store.get("x"),
        lambda: store.correct("x", "1", ""),
        lambda: store.hide("x", "", hidden=True),
    ):
        with pytest.raises(UnknownRecord):
            change()
    other = SiteFactStore(database, "other")
    with pytest.raises(UnknownSite):
        other.put([PHONE])
    with pytest.raises(UnknownSite):
        other.add(FactKind.PHONE, "", "1", "", "")


def test_each_site_has_its_own_and_they_go_with_it(store, database):
    SiteStore(database).create(Site("other", "Other", "Other"))
    store.put([PHONE])
    assert SiteFactStore(database, "other").all() == []
    SiteStore(database).delete("shop")
    assert store.all() == []
