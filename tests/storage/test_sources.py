"""Sources and their pages on SQLite and on PostgreSQL."""

import pytest

from server.domain.site import Site
from server.storage.columns import now
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.content.source_pages import PageVersion, SourceItem, SourcePages
from server.storage.content.sources import SourceKind, SourceStore
from server.storage.errors import SourceTooLarge, UnknownRecord, UnknownSite
from server.storage.sites.sites import SiteStore

MOST = 1000
URL = "/sources/shop/1"


@pytest.fixture
def store(database):
    for id in ("shop", "other"):
        SiteStore(database).create(Site(id, id, ""))
    return SourceStore(database)


def put(store, name="a.md", body=b"text", site="shop", kind=SourceKind.FILE, most=MOST, **options):
    return store.put(site, kind, name, body, options=options, most_bytes=most)


def go_live(database, url, content_hash):
    content = ContentStore(database, "shop")
    content.put_page(PageRecord(url, "T", "", content_hash, "", "", 0, now()), (), ())
    content.go_live()


def version(content_hash, digest="", text="Grüße \0 ∑"):
    return PageVersion(URL, content_hash, {"title": text}, digest, "a.md")


def test_a_source_comes_back_as_it_was_given(store):
    body = bytes(range(256))
    given = put(store, "Ordner/ü.md", body, base="https://example.com/", include=["/a/*"])
    assert store.get("shop", given.id) == given
    assert store.all("shop") == [given]
    assert store.body("shop", given.digest) == body
    assert store.all("other") == []
    assert store.body("other", given.digest) is None


def test_what_is_given_again_under_a_name_replaces_what_had_it(store):
    first, second = put(store, body=b"one"), put(store, body=b"two")
    assert first.id == second.id
    assert [source.digest for source in store.all("shop")] == [second.digest]
    assert put(store, kind=SourceKind.PAIRS).id != first.id


def test_a_site_may_take_only_so_much(store):
    put(store, "a.md", b"a" * 600)
    with pytest.raises(SourceTooLarge, match="SOURCES_SITE_BYTES"):
        put(store, "b.md", b"b" * 600)
    put(store, "c.md", b"a" * 600)  # the same bytes are stored once
    put(store, "b.md", b"b" * 600, site="other")
    assert (store.size("shop"), store.size("other")) == (600, 600)
    assert [source.name for source in store.all("shop")] == ["a.md", "c.md"]


def test_unknown_ones_say_so(store):
    with pytest.raises(UnknownSite):
        put(store, site="nobody")
    with pytest.raises(UnknownRecord):
        store.get("shop", "x")
    with pytest.raises(UnknownRecord):
        store.remove("shop", "x")


def test_the_parts_of_a_source_are_counted_by_state(database, store):
    source = put(store)
    pages = SourcePages(database, "shop")
    pages.replace_items(source.id, [SourceItem("u1", "a", "fetched"), SourceItem("u2", "b", "error", "why")])
    pages.replace_items(source.id, [SourceItem(f"u{n}", "a", "fetched", content_hash="h") for n in range(3)])
    assert store.counts("shop") == {source.id: {"fetched": 3}}
    assert pages.items(source.id)["u0"] == SourceItem("u0", "a", "fetched", content_hash="h")
    store.was_read(source, "a word", {"reader": 1})
    read = store.get("shop", source.id)
    assert (read.message, read.options) == ("a word", {"reader": 1})
    assert read.read_at is not None


def test_the_live_version_is_that_of_the_index(database, store):
    pages = SourcePages(database, "shop")
    for content_hash in ("old", "new"):
        pages.put(version(content_hash))
    assert pages.live(URL) is None
    go_live(database, URL, "old")
    assert pages.live(URL).content_hash == "old"
    go_live(database, URL, "new")
    assert pages.live(URL).content_hash == "new"
    assert pages.live(URL).page == {"title": "Grüße \0 ∑"}
    content = ContentStore(database, "shop")
    content.remove_page(URL)
    content.go_live()
    assert pages.live(URL) is None


def test_tidying_keeps_what_is_current_or_live_and_nothing_else(database, store):
    source = put(store, body=b"current")
    pages = SourcePages(database, "shop")
    digests = {name: store.keep("shop", name.encode(), most_bytes=MOST) for name in ("live", "older")}
    for name, digest in (*digests.items(), ("current", source.digest)):
        pages.put(version(name, digest))
    go_live(database, URL, "live")
    pages.replace_items(source.id, [SourceItem(URL, "a.md", "fetched", content_hash="current")])
    pages.tidy()
    assert pages.version(URL, "older") is None
    assert pages.version(URL, "live") is not None
    assert pages.version(URL, "current") is not None
    assert store.body("shop", digests["older"]) is None
    assert store.size("shop") == len(b"current") + len(b"live")
    store.remove("shop", source.id)
    pages.tidy()
    assert pages.version(URL, "live") is None
    assert store.size("shop") == 0


def test_all_of_it_goes_with_the_site(database, store):
    source = put(store)
    pages = SourcePages(database, "shop")
    pages.put(version("h", source.digest))
    pages.replace_items(source.id, [SourceItem(URL, "a.md", "fetched")])
    SiteStore(database).delete("shop")
    assert (store.all("shop"), store.size("shop"), pages.items(source.id)) == ([], 0, {})
    assert pages.version(URL, "h") is None
    pages.replace_items(source.id, [SourceItem(URL, "a.md", "fetched")])
    assert pages.items(source.id) == {}
