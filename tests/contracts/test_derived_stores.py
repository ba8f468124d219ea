"""Derived indexes, model replies and page facts keep their promises on SQLite and on PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest

from server.domain.derived import PageFacts
from server.domain.site import Site
from server.storage.content.content import ContentStore
from server.storage.content.derived import DerivedStore, ModelReplies
from server.storage.content.page_facts import PageFactStore
from server.storage.content.reader import PageRecord
from server.storage.errors import UnknownSite
from server.storage.sites.sites import SiteStore


@pytest.fixture
def site(database):
    return SiteStore(database).create(Site("shop", "Shop", "Shop")).id


@pytest.fixture
def content(database, site):
    return ContentStore(database, site)


def crawl(content):
    """Writes something, so that there is a next generation."""
    page = PageRecord(
        f"https://shop.example/{content.next_generation()}", "", "", "", "", "", 0, datetime.now(UTC)
    )
    content.put_page(page, [], [])


class TestDerived:
    def test_a_state_is_read_from_the_moment_its_generation_is_live(self, database, content):
        store = DerivedStore(database, "shop")
        assert store.live("raptor.1") is None
        crawl(content)
        store.put("raptor.1", 1, "first", b"one", {"seconds": 1.5})
        assert store.live("raptor.1") is None
        assert store.newest("raptor.1").signature == "first"
        content.go_live()
        state = store.live("raptor.1")
        assert (state.generation, state.signature, state.figures) == (1, "first", {"seconds": 1.5})
        assert store.body(state) == b"one"
        crawl(content)
        store.put("raptor.1", 2, "second", b"two", {})
        assert store.body(store.live("raptor.1")) == b"one"
        content.go_live()
        assert store.body(store.live("raptor.1")) == b"two"

    def test_states_that_nobody_reads_any_more_go(self, database, content):
        store = DerivedStore(database, "shop")
        for generation in range(1, 4):
            crawl(content)
            store.put("raptor.1", generation, str(generation), b"x", {})
            content.go_live()
        crawl(content)
        store.put("raptor.1", 4, "4", b"x", {})
        assert [state.generation for state in store.states()] == [4, 3]

    def test_indexes_of_other_keys_and_sites_are_left_alone(self, database, content):
        SiteStore(database).create(Site("other", "Other", "Other"))
        store, other = DerivedStore(database, "shop"), DerivedStore(database, "other")
        store.put("a", 0, "s", b"a", {})
        store.put("b", 0, "s", b"b", {})
        other.put("a", 0, "s", b"other", {})
        store.drop("a")
        assert [state.key for state in store.states()] == ["b"]
        assert other.body(other.newest("a")) == b"other"

    def test_they_go_with_their_site(self, database, site):
        store = DerivedStore(database, site)
        state_of = store.newest
        store.put("a", 0, "s", b"a", {})
        state = state_of("a")
        SiteStore(database).delete(site)
        assert store.states() == []
        assert store.body(state) == b""
        with pytest.raises(UnknownSite):
            store.put("a", 0, "s", b"a", {})


class TestReplies:
    def test_what_was_said_is_known_by_its_key(self, database, site):
        store = ModelReplies(database, site)
        store.keep("k1", "summaries", "A\n'quote' 日本")
        store.keep("k2", "summaries", "B")
        store.keep("k2", "summaries", "B2")
        assert store.known(["k1", "k2", "k3"]) == {"k1": "A\n'quote' 日本", "k2": "B2"}
        assert store.known([]) == {}
        assert ModelReplies(database, "other").known(["k1"]) == {}

    def test_only_unused_replies_of_the_named_kinds_are_forgotten(self, database, site):
        store = ModelReplies(database, site)
        for key, kind in (("old", "a"), ("used", "a"), ("elsewhere", "b")):
            store.keep(key, kind, "x")
        since = datetime.now(UTC) + timedelta(milliseconds=1)
        while datetime.now(UTC) <= since:
            pass
        store.known(["used"])
        store.drop_unused(since, ["a"])
        assert set(store.known(["old", "used", "elsewhere"])) == {"used", "elsewhere"}

    def test_a_site_that_is_gone_keeps_nothing(self, database, site):
        with pytest.raises(UnknownSite):
            ModelReplies(database, "gone").keep("k", "a", "x")


class TestFacts:
    FACTS = PageFacts(
        "About lamps",
        ("Home", "Lamps"),
        (("https://shop.example/a", "all lamps"),),
        (("Is it brass?", "Yes."),),
    )

    def test_facts_come_back_as_they_were(self, database, site):
        store = PageFactStore(database, site)
        store.put({"https://shop.example/1": self.FACTS, "https://shop.example/2": PageFacts()})
        assert store.all() == {"https://shop.example/1": self.FACTS, "https://shop.example/2": PageFacts()}
        store.put({"https://shop.example/1": PageFacts("New")})
        assert store.all()["https://shop.example/1"] == PageFacts("New")
        store.put({})
        store.remove(["https://shop.example/1", "https://shop.example/none"])
        assert set(store.all()) == {"https://shop.example/2"}

    def test_a_site_that_is_gone_has_none(self, database, site):
        SiteStore(database).delete(site)
        with pytest.raises(UnknownSite):
            PageFactStore(database, site).put({"https://shop.example/1": PageFacts()})
        assert PageFactStore(database, site).all() == {}
