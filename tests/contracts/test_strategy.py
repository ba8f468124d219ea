"""What every retrieval strategy promises, over all rows of the table."""

from datetime import UTC, datetime
from functools import cache

import pytest

from server.domain.chunk import Changes, Chunk
from server.domain.derived import Unwatched
from server.domain.protocols import ModelError
from server.domain.question import Query
from server.domain.site import Site
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.indexes.words import SqlWordIndex
from server.models.embedded import EmbeddedEmbedder
from server.retrieval.derived.kit import SideIndexes
from server.retrieval.parts import Deriving, Parts
from server.retrieval.table import STRATEGIES, made_strategy
from server.storage.content import ContentStore, PageRecord
from server.storage.database import Database
from server.storage.derived import DerivedStore
from server.storage.model_replies import ModelReplies
from server.storage.page_facts import PageFactStore
from server.storage.site_text import StoredText
from server.storage.sites import SiteStore

URL = "https://shop.example"


def chunk(id, text, *, title="Help", language="en", position=0):
    return Chunk(id, f"{URL}/{id}", title, (), text, position, language)


LAMPS = chunk("lamps", "The Glow Maxi is a lamp of brass with a dimmer.", title="Lamps")
DELIVERY = chunk("delivery", "Parcels to islands take five working days.", title="Delivery")
RETURNS = chunk("returns", "Put the lamp into its box and bring it to a post office.", title="Returns")
KOREAN = chunk("korean", "섬으로 보내는 소포는 영업일 기준 닷새가 걸립니다.", title="배송", language="ko")


class Shop:
    """A site with one strategy over real indexes."""

    def __init__(self, name, folder, models, model=None):
        self.database = database = Database(f"sqlite:///{folder}/docent.sqlite3")
        database.migrate()
        SiteStore(database).create(Site("shop", "Shop", "Shop", (f"{URL}/",)))
        self.content = ContentStore(database, "shop")
        self.chroma = open_chroma(folder / "chroma")
        self.embedder = EmbeddedEmbedder(models)
        self.vectors = ChromaVectorIndex(self.chroma, "shop", self.embedder.fingerprint)
        self.failures = []

        def failed(kind, message):
            self.failures.append(kind)

        words = SqlWordIndex(database, "shop")
        self.facts = PageFactStore(database, "shop")
        deriving = Deriving(DerivedStore(database, "shop"), cache(self.side), ModelReplies(database, "shop"))
        parts = Parts(
            self.embedder, self.vectors, words, self.content, failed, chat_model=model, deriving=deriving
        )
        self.strategy = made_strategy(name, parts)

    def side(self, kind):
        vectors = ChromaVectorIndex(self.chroma, "shop", self.embedder.fingerprint, kind)
        return SideIndexes(vectors, SqlWordIndex(self.database, "shop", kind))

    def change(self, *added, removed=()):
        """One complete crawl."""
        self.begin(*added, removed=removed)
        self.content.go_live()
        dead = self.content.dead()
        self.strategy.forget(dead)
        self.content.purge(dead)

    def begin(self, *added, removed=()):
        """A crawl up to the moment before it goes live."""
        self.strategy.index(Changes(tuple(added), tuple(removed)))
        for new in added:
            page = PageRecord(new.url, new.title, new.language, new.id, "", "", 0, datetime.now(UTC))
            self.content.put_page(page, [new], [])
        for gone in removed:
            self.content.remove_page(f"{URL}/{gone}")
        self.strategy.complete(StoredText(self.content, self.facts), Unwatched())

    def found(self, text, limit=5, language="en"):
        return self.strategy.retrieve(Query(text, language), limit)


@pytest.fixture(params=list(STRATEGIES))
def shop(request, tmp_path, model_cache):
    made = Shop(request.param, tmp_path, model_cache)
    yield made
    made.chroma.close()


def test_an_empty_site_finds_nothing(shop):
    assert shop.found("lamps") == []


def test_the_best_chunk_comes_first_and_scores_are_shares(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    hits = shop.found("How long do parcels to islands take?")
    assert hits[0].chunk == DELIVERY
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_no_more_than_the_limit_is_returned(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    assert len(shop.found("lamp box parcels", limit=1)) == 1


@pytest.mark.parametrize("text", ["", "   ", '"', "AND OR NOT (", "*", "\x00", "lamp " * 2000])
def test_any_text_is_a_valid_query(shop, text):
    shop.change(LAMPS)
    shop.found(text)


def test_what_is_being_built_is_not_seen_before_it_is_live(shop):
    shop.change(LAMPS)
    shop.begin(DELIVERY, removed=["lamps"])
    assert [hit.chunk for hit in shop.found("parcels to islands, brass lamp")] == [LAMPS]


def test_after_additions_changes_and_removals_it_finds_what_a_fresh_index_finds(shop, tmp_path, model_cache):
    changed = chunk("lamps2", "The Glow Maxi is a lamp of steel.", title="Lamps")
    shop.change(LAMPS, RETURNS)
    shop.change(DELIVERY)
    shop.change(changed, removed=["lamps"])
    shop.change(removed=["delivery"])
    folder = tmp_path / "fresh"
    folder.mkdir()
    fresh = Shop(shop.strategy.name, folder, model_cache)
    fresh.change(RETURNS, changed)
    for text in ("steel lamp", "parcels to islands", "post office box"):
        now, anew = shop.found(text), fresh.found(text)
        assert [hit.chunk.id for hit in now] == [hit.chunk.id for hit in anew]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in anew], abs=0.02)
    fresh.chroma.close()


@pytest.mark.parametrize("shop", ["lexical", "hybrid"], indirect=True)
def test_words_find_a_page_that_the_embedder_cannot_read(shop):
    shop.change(LAMPS, DELIVERY, KOREAN)
    assert shop.found("섬 소포 며칠", language="ko")[0].chunk == KOREAN


def test_the_same_question_finds_the_same_again(shop):
    shop.change(LAMPS, DELIVERY, RETURNS, KOREAN)
    first, second = shop.found("lamp parcels box"), shop.found("lamp parcels box")
    assert first == second


def test_equal_chunks_come_in_the_order_of_their_pages(shop):
    shop.change(*(chunk(name, "Put the lamp into its box.", title="Returns") for name in "cab"))
    hits = shop.found("lamp box")
    assert [hit.chunk.id for hit in hits] == ["a", "b", "c"]


@pytest.mark.parametrize("shop", ["dense", "hybrid"], indirect=True)
def test_the_cosine_is_told_of_what_was_found_by_meaning(shop):
    shop.change(LAMPS, DELIVERY)
    hits = shop.found("How long do parcels to islands take?")
    assert 0.3 < hits[0].scores["dense"] <= 1
    assert all(-1 <= hit.scores["dense"] <= 1 for hit in hits)


@pytest.mark.parametrize("shop", ["hybrid"], indirect=True)
def test_an_earlier_question_helps_a_follow_up_and_gives_way_to_a_new_topic(shop):
    shop.change(LAMPS, DELIVERY, RETURNS)
    earlier = ("How long do parcels to islands take?",)
    follow_up = shop.strategy.retrieve(Query("how long exactly?", "en", previous=earlier), 3)
    new_topic = shop.strategy.retrieve(Query("Is the Glow Maxi made of brass?", "en", previous=earlier), 3)
    assert (follow_up[0].chunk, new_topic[0].chunk) == (DELIVERY, LAMPS)
    assert all(0 <= hit.score <= 1 for hit in (*follow_up, *new_topic))


@pytest.mark.parametrize("shop", ["hybrid"], indirect=True)
def test_the_words_answer_alone_when_the_embedder_fails(shop, monkeypatch):
    shop.change(LAMPS, DELIVERY)

    def fail(texts):
        raise ModelError("unreachable", "no network")

    monkeypatch.setattr(shop.embedder, "embed", fail)
    assert shop.found("parcels to islands")[0].chunk == DELIVERY
    assert shop.failures == ["unreachable"]
