"""After an update no question is searched by other tokens than the index holds."""

import pytest

from crawler.page import Block, Page, content_hash
from server.domain.site import Site
from server.indexes.word_tables import note_version, outdated
from server.indexes.words import SqlWordIndex
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import Indexer
from server.retrieval.chunk_indexes import LEXICAL
from server.retrieval.parts import Parts
from server.runtime.renewal import renew_words
from server.storage.content.content import ContentStore
from server.storage.sites.sites import SiteStore

URL = "https://shop.example"


def page(path, text):
    blocks = (Block(text, ("Help",)),)
    return Page(f"{URL}/{path}", "Help", "en", blocks, content_hash=content_hash("Help", blocks))


@pytest.fixture
def shop(database):
    SiteStore(database).create(Site("shop", "Shop", "Shop", (f"{URL}/",)))
    words = SqlWordIndex(database, "shop")
    words.drop()
    content = ContentStore(database, "shop")
    # Only the word index is used by this strategy.
    strategy = LEXICAL.make(Parts(embedder=None, vectors=None, words=words, chunks=content))
    indexer = Indexer(content, [strategy.builder], ChunkSizes(200, 0))
    indexer.begin()
    indexer.add(page("lamp", "The lamp is made of brass."))
    indexer.finish()
    return words, indexer


def make_old(database):
    with database.begin() as connection:
        note_version(connection, "shop", 1)
        connection.exec_driver_sql(
            "UPDATE word_postings SET token = 'of another version' WHERE token = 'brass'"
        )


def test_an_index_of_this_version_is_left_alone(database, shop):
    assert renew_words(database) == []


def test_an_index_of_another_version_is_made_anew_from_the_stored_chunks(database, shop):
    words, _ = shop
    make_old(database)
    assert SqlWordIndex(database, "shop").search("brass", 5) == []
    assert "shop" in renew_words(database)
    assert len(words.search("brass", 5)) == words.count() == 1
    assert outdated(database) == []


def test_what_a_crawl_had_written_before_the_update_is_kept_for_when_it_goes_on(database, shop):
    words, indexer = shop
    indexer.begin()
    indexer.add(page("parcel", "A parcel takes five days."))
    indexer.flush()
    make_old(database)
    renew_words(database)
    assert words.count() == 2
    assert len(words.search("parcel", 5)) == 1
