"""Content has generations: readers see a whole build or none of it."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from server.domain.chunk import Chunk
from server.domain.site import Site
from server.storage.content import reader
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.errors import UnknownSite
from server.storage.sites.sites import SiteStore

A, B = "https://shop.example/a", "https://shop.example/b"


def page(url=A, content_hash="1", **changes):
    fetched_at = datetime(2026, 1, 2, 3, 4, 5, 678, UTC)
    return replace(PageRecord(url, "Title", "en", content_hash, "etag", "Monday", 0, fetched_at), **changes)


def chunk(id, url=A, position=0, text="Some text."):
    return Chunk(id, url, "Title", ("Head", "Ünder"), text, position, "en", "anchor")


@pytest.fixture
def content(database, site):
    return ContentStore(database, site.id)


@pytest.fixture
def live(content):
    """Content with two live pages: a1 and a2 on A, b1 on B."""
    content.put_page(page(A), [chunk("a1"), chunk("a2", position=1)], [])
    content.put_page(page(B), [chunk("b1", B)], [])
    content.go_live()
    return content


def visible(content):
    return {chunk.id for chunk in content.live.every_chunk()}


def test_a_site_without_content_is_empty_and_not_an_error(content):
    assert content.live.live_generation() == 0
    assert content.next_generation() == 1
    assert content.live.load(["x"]) == {}
    assert content.live.load([]) == {}
    assert content.live.page(A) == content.live.pages() == content.dead() == content.chunk_ids(A) == []
    assert content.live.counts() == (0, 0)
    assert content.known_pages() == {}
    assert list(content.live.every_chunk()) == []


def test_a_build_is_seen_only_once_it_is_live(content):
    content.put_page(page(), [chunk("a1")], [])
    assert content.live.load(["a1"]) == {}
    assert content.live.page(A) == content.live.pages() == []
    assert content.live.counts() == (0, 0)
    assert content.known_pages() == {A: page()}
    assert content.chunk_ids(A) == ["a1"]
    assert content.go_live() == 1
    assert content.live.load(["a1", "zzz"]) == {"a1": chunk("a1")}
    assert content.live.pages() == [page()]
    assert content.live.counts() == (1, 1)


def test_the_newest_pages_of_a_kind_are_those_of_a_language_until_a_day(content):
    def put(name, dated, language="en", kind="post"):
        url = f"https://shop.example/{name}"
        posted = replace(chunk(name, url), kind=kind, dated=dated, language=language)
        content.put_page(page(url), [posted, replace(posted, id=f"{name}2", position=1)], [])

    for name, *rest in (
        ("old", "2025-01-02"), ("new", "2025-03-04"), ("soon", "2025-06-01"), ("neu", "2025-05-01", "de"),
        ("undated", ""), ("about", "2025-05-02", "en", ""),
    ):  # fmt: skip
        put(name, *rest)
    for number in range(6):
        put(f"built{number}", "2025-05-03")
    put("last", "2025-05-04")
    content.go_live()

    def newest(language, limit=9):
        return [one.id for one in content.live.newest("post", language, date(2025, 5, 31), limit)]

    assert newest("en") == ["last", "new", "old"]
    assert newest("en", 1) == ["last"]
    assert newest("de") == ["neu"]
    assert newest("fr") == ["last", "neu", "new", "old"]


def test_chunks_are_loaded_in_the_order_asked_for(live):
    assert list(live.live.load(["b1", "a2", "a1", "b1"])) == ["b1", "a2", "a1"]


def test_a_chunk_is_the_same_object_however_it_is_read(live):
    (alone,) = live.live.load(["a1"]).values()
    assert live.live.page(A)[0] is alone, "what is derived from it is found again"
    assert live.live.load(["a2"])["a2"] is live.live.page(A)[1]


def test_more_chunks_than_are_kept_are_read_all_the_same(live, monkeypatch):
    monkeypatch.setattr("server.storage.content.reader.MOST_KEPT", 1)
    for _ in range(3):
        assert list(live.live.load(["b1", "a1"])) == ["b1", "a1"]
        assert [one.id for one in live.live.page(A)] == ["a1", "a2"]
    assert sum(len(one.chunks) for one in live.live._kept._of.values()) <= 4


def test_thousands_of_chunks_can_be_asked_for(live):
    assert set(live.live.load([*map(str, range(70_000)), "a1"])) == {"a1"}


def test_a_page_has_its_chunks_in_page_order(content):
    content.put_page(page(), [chunk("z", position=0), chunk("a", position=10), chunk("m", position=9)], [])
    content.go_live()
    assert [found.id for found in content.live.page(A)] == ["z", "m", "a"] == content.chunk_ids(A)


def test_a_changed_page_is_read_as_it_was_until_the_build_is_live(live):
    live.put_page(page(A, "2"), [chunk("a3", position=1)], ["a2"])
    assert [found.id for found in live.live.page(A)] == ["a1", "a2"]
    assert live.chunk_ids(A) == ["a1", "a3"]
    assert live.live.pages()[0].content_hash == "1"
    assert live.known_pages()[A].content_hash == "2"
    assert live.live.counts() == (2, 3)
    live.go_live()
    assert [found.id for found in live.live.page(A)] == ["a1", "a3"]
    assert live.live.load(["a2"]) == {}
    assert live.live.pages()[0].content_hash == "2"
    assert live.live.counts() == (2, 3)


def test_a_removed_page_leaves_with_the_next_generation(live):
    assert sorted(live.remove_page(A)) == ["a1", "a2"]
    assert visible(live) == {"a1", "a2", "b1"}
    assert set(live.known_pages()) == {B}
    live.go_live()
    assert visible(live) == {"b1"}
    assert [found.url for found in live.live.pages()] == [B]
    assert live.remove_page("https://shop.example/unknown") == []


def test_putting_a_page_twice_is_putting_it_once(live):
    for _ in range(2):
        live.put_page(page(A, "2"), [chunk("a3", position=1)], ["a2"])
    assert live.chunk_ids(A) == ["a1", "a3"]
    live.go_live()
    live.put_page(page(A, "2"), [], [])
    assert visible(live) == {"a1", "a3", "b1"}
    assert live.dead() == ["a2"]


def test_text_that_moved_away_and_came_back_in_one_build_stays_alive(live):
    live.put_page(page(A, "2"), [], ["a1"])
    live.put_page(page(A, "3"), [chunk("a1")], [])
    assert "a1" in visible(live)
    live.go_live()
    assert visible(live) == {"a1", "a2", "b1"}
    assert live.dead() == []


def test_a_page_that_was_removed_and_came_back_in_one_build_stays(live):
    live.remove_page(A)
    live.put_page(page(A, "1"), [chunk("a1"), chunk("a2", position=1)], [])
    assert live.live.counts() == (2, 3)
    live.go_live()
    assert live.live.counts() == (2, 3)
    assert visible(live) == {"a1", "a2", "b1"}


def test_text_that_comes_back_before_it_was_purged_is_not_seen_early(live):
    live.put_page(page(A, "2"), [], ["a1"])
    live.go_live()
    live.put_page(page(A, "3"), [chunk("a1")], [])
    assert live.live.load(["a1"]) == {}
    assert live.dead() == []
    live.go_live()
    assert set(live.live.load(["a1"])) == {"a1"}


def test_a_chunk_that_moved_on_its_page_gets_its_new_place(live):
    live.put_page(
        page(A, "2"), [chunk("a0", position=0), chunk("a1", position=1), chunk("a2", position=2)], []
    )
    live.go_live()
    assert [found.id for found in live.live.page(A)] == ["a0", "a1", "a2"]


def test_an_unfinished_build_can_be_taken_back(live):
    before = (live.known_pages(), live.live.pages(), visible(live), live.chunk_ids(A))
    live.put_page(page(A, "2"), [chunk("a3")], ["a1"])
    live.put_page(page("https://shop.example/new"), [chunk("n1", "https://shop.example/new")], [])
    live.remove_page(B)
    assert sorted(live.discard_unfinished()) == ["a3", "n1"]
    assert (live.known_pages(), live.live.pages(), visible(live), live.chunk_ids(A)) == before
    assert live.discard_unfinished() == []
    live.go_live()
    assert visible(live) == {"a1", "a2", "b1"}


def test_an_unfinished_first_build_leaves_nothing(content):
    content.put_page(page(), [chunk("a1")], [])
    content.remove_page(A)
    assert content.discard_unfinished() == ["a1"]
    assert content.known_pages() == {}


def test_text_that_was_dead_before_the_build_is_taken_back_to_death(live):
    live.put_page(page(A, "2"), [], ["a1"])
    live.go_live()
    live.put_page(page(A, "3"), [chunk("a1")], [])
    assert live.discard_unfinished() == ["a1"]
    live.go_live()
    assert "a1" not in visible(live)


def test_only_dead_chunks_are_purged(live):
    live.put_page(page(A, "2"), [chunk("a3", position=2)], ["a2"])
    live.purge(["a1", "a2", "a3", "none"])
    assert live.chunk_ids(A) == ["a1", "a3"]
    live.go_live()
    assert live.dead() == ["a2"]
    live.purge(["a1", "a2", "none"])
    assert live.dead() == []
    assert visible(live) == {"a1", "a3", "b1"}


def test_a_page_counts_the_crawls_that_missed_it_until_it_is_found(live):
    assert [live.miss_page(A), live.miss_page(A)] == [1, 2]
    assert live.known_pages()[A].missed == 2
    live.touch_page(A, etag="new", last_modified="Tuesday")
    touched = live.known_pages()[A]
    assert (touched.missed, touched.etag, touched.last_modified) == (0, "new", "Tuesday")
    assert touched.fetched_at > page().fetched_at
    live.miss_page(A)
    live.put_page(page(A, "2", missed=5), [], [])
    assert live.known_pages()[A].missed == 0
    assert live.miss_page("https://shop.example/unknown") == 0


def test_live_pages_are_listed_by_address(content):
    for number in (2, 1, 3):
        content.put_page(page(f"https://shop.example/{number}"), [], [])
    content.go_live()
    assert [found.url[-1] for found in content.live.pages(limit=2)] == ["1", "2"]


def test_every_chunk_is_streamed_once_across_batches(content, monkeypatch):
    monkeypatch.setattr(reader, "BATCH", 3)
    chunks = [chunk(f"{n}", f"https://shop.example/{n % 3}", n // 6) for n in range(20)]
    for url in {each.url for each in chunks}:
        content.put_page(page(url), [each for each in chunks if each.url == url], [])
    content.go_live()
    streamed = list(content.live.every_chunk())
    assert sorted(streamed, key=lambda c: int(c.id)) == chunks
    assert streamed == sorted(streamed, key=lambda c: (c.url, c.position, c.id))


def test_a_stream_that_began_is_not_disturbed_by_a_new_generation(content, monkeypatch):
    monkeypatch.setattr(reader, "BATCH", 1)
    content.put_page(page(), [chunk("a1"), chunk("a2", position=1), chunk("a3", position=2)], [])
    content.go_live()
    stream = content.live.every_chunk()
    seen = [next(stream).id]
    content.put_page(page(A, "2"), [chunk("a4", position=3)], ["a2"])
    content.go_live()
    assert seen + [found.id for found in stream] == ["a1", "a2", "a3"]


def test_sites_do_not_see_each_other(database, live):
    SiteStore(database).create(Site("other", "Other", "Other", ("https://other.example/",)))
    other = ContentStore(database, "other")
    other.put_page(page(A, "9"), [chunk("a1", text="Other text.")], [])
    assert other.go_live() == 1
    other.remove_page(A)
    other.go_live()
    other.purge(other.dead())
    assert visible(live) == {"a1", "a2", "b1"}
    assert live.live.load(["a1"])["a1"].text == "Some text."
    assert live.live.live_generation() == 1


def test_writing_to_an_unknown_site_says_so(database):
    content = ContentStore(database, "gone")
    for write in (
        lambda: content.put_page(page(), [], []),
        content.go_live,
        content.discard_unfinished,
        lambda: content.remove_page(A),
    ):
        with pytest.raises(UnknownSite, match="'gone'"):
            write()
    assert content.live.counts() == (0, 0)


def test_text_of_any_script_and_odd_characters_is_kept(content):
    odd = chunk("a1", text="汉字 é \t\n``` \\ % 😀")
    content.put_page(page(), [odd, chunk("a2", text="nul \0 \ud800")], [])
    content.go_live()
    assert content.live.load(["a1"]) == {"a1": odd}
    assert content.live.load(["a2"])["a2"].text == "nul � ?"
