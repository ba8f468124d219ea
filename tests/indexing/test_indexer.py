"""A site's index follows its pages, over the real word index and content store."""

from dataclasses import replace

import pytest

from crawler.page import Block, Page, content_hash
from server.domain.derived import PageFacts
from server.domain.protocols import ModelError
from server.domain.site import Site
from server.indexes.words import SqlWordIndex
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import BATCH, Indexer
from server.storage.content.content import ContentStore
from server.storage.content.page_facts import PageFactStore
from server.storage.sites.sites import SiteStore

URL = "https://shop.example"


def page(path, *texts, title="Help", etag=""):
    blocks = tuple(Block(text, (f"Section {number}",)) for number, text in enumerate(texts))
    return Page(f"{URL}/{path}", title, "en", blocks, content_hash=content_hash(title, blocks), etag=etag)


class Recorder:
    """A strategy over the word index that also notes what it was given."""

    name = "recorder"

    def __init__(self, words):
        self.words = words
        self.added = []
        self.forgotten = []
        self.fail_at = None

    def index(self, changes):
        if self.fail_at is not None and len(self.added) >= self.fail_at:
            raise ModelError("unreachable", "the embedding model does not answer")
        self.added.append([chunk.text for chunk in changes.added])
        self.words.add(changes.added)

    def forget(self, ids):
        self.forgotten.extend(ids)
        self.words.remove(ids)

    @property
    def embedded(self):
        return [text for batch in self.added for text in batch]


class Shop:
    def __init__(self, database):
        SiteStore(database).create(Site("shop", "Shop", "Shop", (f"{URL}/",)))
        self.content = ContentStore(database, "shop")
        self.words = SqlWordIndex(database, "shop")
        self.words.drop()
        self.strategy = Recorder(self.words)
        self.facts = PageFactStore(database, "shop")
        self.indexer = Indexer(self.content, [self.strategy], ChunkSizes(200, 0), facts=self.facts)

    def crawl(self, *pages, unchanged=(), missing=()):
        self.strategy.added, self.strategy.forgotten = [], []
        self.indexer.begin()
        for found in pages:
            self.indexer.add(found)
        for path in unchanged:
            self.indexer.unchanged(f"{URL}/{path}")
        for path in missing:
            self.indexer.missing(f"{URL}/{path}")
        return self.indexer.finish()

    def live(self):
        return sorted(chunk.text for chunk in self.content.live.every_chunk())

    def found(self, text):
        hits = self.words.search(text, 10)
        chunks = self.content.live.load([chunk_id for chunk_id, _ in hits])
        return [chunks[chunk_id].text for chunk_id, _ in hits if chunk_id in chunks]


@pytest.fixture
def shop(database):
    return Shop(database)


LAMP, PARCEL, REFUND = "A lamp of brass.", "A parcel takes five days.", "Refunds take a week."


def test_the_first_crawl_goes_live_with_all_pages(shop):
    report = shop.crawl(page("a", LAMP, PARCEL), page("b", REFUND))
    assert shop.live() == sorted([LAMP, PARCEL, REFUND])
    assert shop.found("brass") == [LAMP]
    assert (report.pages_indexed, report.chunks_added, report.chunks_embedded, report.generation) == (
        2,
        3,
        3,
        1,
    )


def test_an_unchanged_site_is_not_embedded_again_and_keeps_its_generation(shop):
    shop.crawl(page("a", LAMP), page("b", REFUND))
    report = shop.crawl(page("a", LAMP, etag="new"), unchanged=["b"])
    assert shop.strategy.embedded == []
    assert (report.pages_indexed, report.pages_unchanged, report.chunks_added, report.generation) == (
        0,
        2,
        0,
        1,
    )
    assert shop.content.known_pages()[f"{URL}/a"].etag == "new"


def test_only_the_changed_part_of_a_page_is_embedded(shop):
    shop.crawl(page("a", LAMP, PARCEL))
    report = shop.crawl(page("a", LAMP, REFUND))
    assert shop.strategy.embedded == [REFUND]
    assert shop.live() == sorted([LAMP, REFUND])
    assert shop.found("parcel") == []
    assert (report.chunks_added, report.chunks_removed, report.generation) == (1, 1, 2)
    assert shop.words.count() == 2


def test_a_chunk_that_moved_is_not_embedded_again(shop):
    first = page("a", LAMP, PARCEL)
    shop.crawl(first)
    swapped = replace(first, blocks=first.blocks[::-1], content_hash="other")
    shop.crawl(swapped)
    assert shop.strategy.embedded == []
    assert [chunk.text for chunk in shop.content.live.page(first.url)] == [PARCEL, LAMP]


def test_a_new_title_is_embedded_with_every_chunk(shop):
    shop.crawl(page("a", LAMP, PARCEL))
    report = shop.crawl(page("a", LAMP, PARCEL, title="Delivery"))
    assert shop.strategy.embedded == [LAMP, PARCEL]
    assert (report.chunks_added, report.chunks_embedded) == (0, 2)
    assert set(shop.found("delivery")) == {LAMP, PARCEL}


def test_a_page_gone_once_stays(shop):
    shop.crawl(page("a", LAMP), page("b", REFUND))
    shop.crawl(unchanged=["a"], missing=["b"])
    assert shop.found("refund") == [REFUND]


def test_a_page_gone_twice_leaves_the_index(shop):
    shop.crawl(page("a", LAMP), page("b", REFUND))
    shop.crawl(unchanged=["a"], missing=["b"])
    report = shop.crawl(unchanged=["a"], missing=["b"])
    assert report.pages_removed == report.chunks_removed == 1
    assert shop.live() == [LAMP]
    assert shop.words.count() == 1
    assert len(shop.strategy.forgotten) == 1


def test_a_page_that_comes_back_between_is_counted_anew(shop):
    shop.crawl(page("a", LAMP), page("b", REFUND))
    shop.crawl(unchanged=["a"], missing=["b"])
    shop.crawl(unchanged=["a", "b"])
    shop.crawl(unchanged=["a"], missing=["b"])
    assert shop.found("refund") == [REFUND]


def test_a_removed_page_can_return(shop):
    shop.crawl(page("b", REFUND), page("a", LAMP))
    shop.crawl(unchanged=["a"], missing=["b"])
    shop.crawl(unchanged=["a"], missing=["b"])
    shop.crawl(page("b", REFUND), unchanged=["a"])
    assert shop.found("refund") == [REFUND]


def test_addresses_that_were_never_known_are_ignored(shop):
    report = shop.crawl(page("a", LAMP), unchanged=["x"], missing=["y"])
    assert (report.pages_unchanged, report.pages_removed) == (0, 0)


def test_a_page_without_text_is_known_and_has_no_chunks(shop):
    shop.crawl(page("a", LAMP))
    report = shop.crawl(page("a"))
    assert report.chunks_removed == 1
    assert shop.live() == []
    assert f"{URL}/a" in shop.content.known_pages()


def test_nobody_sees_a_build_before_it_is_finished(shop):
    shop.crawl(page("a", LAMP))
    shop.indexer.begin()
    shop.indexer.add(page("a", *[f"Curtain number {i}" for i in range(BATCH)]))
    assert shop.strategy.embedded != []
    assert shop.live() == [LAMP]
    assert shop.found("lamp curtain") == [LAMP]
    shop.indexer.finish()
    assert len(shop.live()) == BATCH


def test_a_build_that_was_cut_off_leaves_no_trace(shop):
    shop.crawl(page("a", LAMP), page("b", REFUND))
    shop.indexer.begin()
    shop.indexer.add(page("a", *[f"Curtain number {i}" for i in range(BATCH)]))
    shop.indexer.missing(f"{URL}/b")
    report = shop.crawl(unchanged=["a", "b"])  # the next process
    assert shop.live() == sorted([LAMP, REFUND])
    assert shop.words.count() == 2
    assert report.generation == 1


def test_a_failing_model_leaves_the_live_index_as_it_was(shop):
    shop.crawl(page("a", LAMP))
    shop.strategy.added, shop.strategy.fail_at = [], 1
    shop.indexer.begin()
    with pytest.raises(ModelError):
        shop.indexer.add(page("a", *[f"Curtain number {i}" for i in range(3 * BATCH)]))
    assert shop.live() == [LAMP]
    shop.strategy.fail_at = None
    shop.crawl(page("a", LAMP, PARCEL))
    assert shop.live() == sorted([LAMP, PARCEL])
    assert shop.words.count() == 2


def test_chunks_reach_the_strategy_in_batches(shop):
    shop.crawl(page("a", *[f"Text {i}" for i in range(2 * BATCH + 1)]), page("b", LAMP))
    assert [len(batch) for batch in shop.strategy.added] == [BATCH, BATCH, 1, 1]


def test_a_build_does_not_go_live_without_what_a_model_refused(shop):
    shop.indexer.begin()
    shop.strategy.fail_at = 0
    with pytest.raises(ModelError):
        shop.indexer.add(page("a", *[f"Curtain number {i}" for i in range(BATCH)]))
    with pytest.raises(ModelError):
        shop.indexer.finish()
    assert shop.live() == []


def test_progress_is_reported_as_pages_are_written(shop):
    seen = []
    shop.indexer = Indexer(
        shop.content, [shop.strategy], on_progress=lambda report: seen.append(report.pages_indexed)
    )
    shop.crawl(page("a", LAMP), page("b", REFUND))
    assert seen == sorted(seen)
    assert seen[-1] == 2
    assert shop.indexer.pages_done == 2


def test_a_new_strategy_is_given_every_live_chunk(shop):
    shop.crawl(page("a", LAMP, PARCEL), page("b", REFUND))
    shop.strategy.added = []
    report = shop.indexer.reindex()
    assert sorted(shop.strategy.embedded) == sorted([LAMP, PARCEL, REFUND])
    assert (report.chunks_embedded, report.generation) == (3, 1)


def test_pages_that_change_again_and_again_equal_a_fresh_index(shop, database):
    words = ["lamp", "parcel", "refund", "garden", "brass"]
    state = {}
    for step in range(8):
        path = f"p{step % 3}"
        state[path] = page(path, *[f"The {words[(step + i) % 5]} of {i}." for i in range(1 + step % 4)])
        shop.crawl(*state.values())
    SiteStore(database).create(Site("fresh", "Fresh", "Fresh", (f"{URL}/",)))
    fresh_words = SqlWordIndex(database, "fresh")
    fresh_words.drop()
    fresh = Indexer(ContentStore(database, "fresh"), [Recorder(fresh_words)], ChunkSizes(200, 0))
    fresh.begin()
    for found in state.values():
        fresh.add(found)
    fresh.finish()
    assert shop.live() == sorted(chunk.text for chunk in ContentStore(database, "fresh").live.every_chunk())
    for word in words:
        assert dict(shop.words.search(word, 50)) == pytest.approx(dict(fresh_words.search(word, 50)))


def test_what_a_page_says_beside_its_text_is_kept_also_when_the_text_stays(shop):
    first = replace(page("a", "one"), description="Old", link_texts=((f"{URL}/b", "our lamps"),))
    shop.crawl(first, page("b", "two"))
    assert shop.facts.all() == {
        f"{URL}/a": PageFacts("Old", (), ((f"{URL}/b", "our lamps"),)),
        f"{URL}/b": PageFacts(),
    }
    shop.crawl(replace(first, description="New", questions=(("Why?", "So."),)), unchanged=["b"])
    assert shop.facts.all()[f"{URL}/a"] == PageFacts("New", (), first.link_texts, (("Why?", "So."),))


def test_what_a_page_said_goes_with_the_page(shop):
    shop.crawl(page("a", "one"), page("b", "two"))
    for _ in range(2):
        shop.crawl(page("a", "one"), missing=["b"])
    assert shop.facts.urls() == {f"{URL}/a"}


def test_a_build_that_is_taken_back_costs_no_facts_of_live_pages(shop):
    shop.crawl(page("a", "one"), page("b", "two"))
    shop.indexer.begin()
    shop.indexer.remove(f"{URL}/b")
    shop.indexer.begin()
    assert shop.facts.urls() == {f"{URL}/a", f"{URL}/b"}


def test_pages_without_known_facts_are_told_and_sources_have_none(shop):
    shop.indexer.begin()
    shop.indexer.add(page("upload", "three"), source="source")
    shop.indexer.add(page("a", "one"))
    shop.indexer.finish()
    assert shop.facts.urls() == {f"{URL}/a"}
    shop.facts.remove([f"{URL}/a"])
    assert shop.indexer.without_facts() == {f"{URL}/a", f"{URL}/upload"}
