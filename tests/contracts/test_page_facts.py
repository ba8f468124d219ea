"""What pages say beside their text is kept on SQLite and on PostgreSQL."""

import pytest

from server.domain.derived import PageFacts
from server.domain.site import Site
from server.storage.content.page_facts import PageFactStore
from server.storage.errors import UnknownSite
from server.storage.sites.sites import SiteStore

A, B = "https://shop.example/a", "https://shop.example/b"
FACTS = PageFacts(
    "Lamps & more",
    ("Home", "Lamps"),
    ((B, "our “best” lamps"), (B, "灯")),
    (("Do you deliver?", "Yes.\nAlways."),),
    (("phone", "Sales", "020 7946 0000"),),
)


@pytest.fixture
def store(database):
    SiteStore(database).create(Site("shop", "Shop", "Shop"))
    return PageFactStore(database, "shop")


def test_facts_come_back_as_they_were_put(store):
    store.put({A: FACTS, B: PageFacts()})
    assert store.all() == {A: FACTS, B: PageFacts()}
    assert store.urls() == {A, B}
    assert (store.get(A), store.get("https://shop.example/never")) == (FACTS, PageFacts())


def test_the_facts_of_a_page_are_replaced_as_a_whole(store):
    store.put({A: FACTS, B: FACTS})
    store.put({A: PageFacts("New")})
    assert store.all() == {A: PageFacts("New"), B: FACTS}


def test_any_character_may_stand_in_them(store):
    store.put({A: PageFacts("a\0b", (), ((B, "\ud800x 😀"),))})
    assert store.all()[A].description == "a\0b"
    assert store.all()[A].links[0][1].endswith("x 😀")


def test_facts_are_removed_by_address_and_unknown_ones_are_no_error(store):
    store.put({A: FACTS, B: FACTS})
    store.remove([A, "https://shop.example/never"])
    store.remove([])
    assert store.urls() == {B}


def test_each_site_has_its_own_and_they_go_with_it(database, store):
    SiteStore(database).create(Site("other", "Other", "Other"))
    store.put({A: FACTS})
    assert PageFactStore(database, "other").all() == {}
    SiteStore(database).delete("shop")
    assert store.all() == {}
    with pytest.raises(UnknownSite, match="shop"):
        store.put({A: FACTS})
