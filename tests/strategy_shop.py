"""A small site with one strategy over real indexes."""

import atexit
import shutil
import sqlite3
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from server.domain.chunk import Changes, Chunk
from server.domain.derived import BuildStopped, Unwatched
from server.domain.question import Query
from server.domain.site import Site
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.indexes.words import SqlWordIndex
from server.models.embedded import EmbeddedEmbedder
from server.models.metered import estimate_tokens
from server.models.openai import OpenAIChat
from server.retrieval.parts import Deriving, Parts, SideIndexes
from server.retrieval.table import made_strategy
from server.storage.content.content import ContentStore
from server.storage.content.derived import DerivedStore, ModelReplies
from server.storage.content.page_facts import PageFactStore, StoredText
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from tests.servers import HERE

URL = "https://shop.example"


def chunk(id, text, *, title="Help", language="en", position=0):
    return Chunk(id, f"{URL}/{id}", title, (), text, position, language)


class StopsAfter(Unwatched):
    """Ends a build after a number of calls of the model."""

    def __init__(self, calls):
        self.left = calls

    def spent(self, used):
        self.left -= used.calls
        if self.left <= 0:
            raise BuildStopped("enough")


@cache
def _embedder(models):
    """One for all shops: opening it takes longer than a test."""
    return EmbeddedEmbedder(models)


@cache
def _empty():
    """A database with the site in it, to be copied."""
    file = Path(tempfile.mkdtemp()) / "empty.sqlite3"
    atexit.register(shutil.rmtree, file.parent)
    database = Database(f"sqlite:///{file}")
    database.migrate()
    SiteStore(database).create(Site("shop", "Shop", "Shop", (f"{URL}/",)))
    database.close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return file


def chat(server, name="test"):
    """The chat model that a server of the tests has."""
    return OpenAIChat(name, base_url=server.base_url, guard=HERE)


class Shop:
    """A site with one strategy over real indexes."""

    def __init__(self, name, folder, models, model=None, **parts_given):
        """`name` is the spec of a strategy, or what makes one of Parts; `parts_given` are further fields of Parts."""
        shutil.copy(_empty(), folder / "docent.sqlite3")
        self.database = database = Database(f"sqlite:///{folder}/docent.sqlite3")
        self.content = ContentStore(database, "shop")
        self.chroma = open_chroma(folder / "chroma")
        self.embedder = _embedder(models)
        self.vectors = ChromaVectorIndex(self.chroma, "shop", self.embedder.fingerprint)
        self.failures = []

        def failed(kind, message):
            self.failures.append(kind)

        words = SqlWordIndex(database, "shop")
        self.facts = PageFactStore(database, "shop")
        self.monitor = Unwatched()
        self.replies = ModelReplies(database, "shop")
        self.derived = DerivedStore(database, "shop")
        deriving = Deriving(self.derived, cache(self.side), self.replies, estimate_tokens, (1.0, 2.0))
        self.parts = Parts(
            self.embedder,
            self.vectors,
            words,
            self.content.live,
            failed,
            chat_model=model,
            deriving=deriving,
            **parts_given,
        )
        self.strategy = made_strategy(name, self.parts) if isinstance(name, str) else name(self.parts)

    @property
    def index(self):
        """The derived index of a strategy that has one."""
        return self.strategy.retriever.index

    def side(self, kind):
        vectors = ChromaVectorIndex(self.chroma, "shop", self.embedder.fingerprint, kind)
        return SideIndexes(vectors, SqlWordIndex(self.database, "shop", kind))

    def change(self, *added, removed=()):
        """One complete crawl."""
        self.begin(*added, removed=removed)
        self._go_live()

    def _go_live(self):
        self.content.go_live()
        dead = self.content.dead()
        self.strategy.builder.forget(dead)
        self.content.purge(dead)

    def put(self, *pages, removed=(), facts=None):
        """One complete crawl of pages of several chunks; `facts` are those of each page."""
        self.strategy.builder.index(Changes(tuple(one for of_page in pages for one in of_page), ()))
        for of_page in pages:
            first = of_page[0]
            texts = "".join(one.text for one in of_page)
            record = PageRecord(first.url, first.title, "en", texts, "", "", 0, datetime.now(UTC))
            gone = {one.id for one in self.content.live.page(first.url)} - {one.id for one in of_page}
            self.content.put_page(record, of_page, sorted(gone))
            if facts:
                self.facts.put({first.url: facts})
        for name in removed:
            self.content.remove_page(f"{URL}/{name}")
        self.strategy.builder.complete(self.text(), self.monitor)
        self._go_live()

    def text(self):
        """What strategies derive from."""
        return StoredText(self.content.newest(), self.facts)

    def begin(self, *added, removed=()):
        """A crawl up to the moment before it goes live."""
        self.strategy.builder.index(Changes(tuple(added), tuple(removed)))
        for new in added:
            page = PageRecord(new.url, new.title, new.language, new.id, "", "", 0, datetime.now(UTC))
            self.content.put_page(page, [new], [])
        for gone in removed:
            self.content.remove_page(f"{URL}/{gone}")
        self.strategy.builder.complete(self.text(), self.monitor)

    def found(self, text, limit=5, language="en"):
        return self.strategy.retriever.retrieve(Query(text, language), limit)
