"""While a site is crawled for the first time nothing is live, and a question does not search for long."""

import pytest

from server.domain.chunk import Chunk
from server.domain.question import Query
from server.domain.site import Site
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.indexes.words import SqlWordIndex
from server.models.embedded import EmbeddedEmbedder
from server.retrieval.parts import Parts
from server.retrieval.table import made_strategy
from server.settings.tuning import Tuning
from server.storage.columns import now
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

CHUNKS = [
    Chunk(f"c{n}", f"https://shop.example/{n}", "Help", (), f"Parcels number {n} go to islands.", 0, "en")
    for n in range(300)
]


@pytest.mark.parametrize("strategy", ["lexical", "hybrid"])
def test_nothing_is_searched_twice_before_the_first_pages_are_live(
    tmp_path, model_cache, monkeypatch, strategy
):
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    database.migrate()
    SiteStore(database).create(Site("shop", "Shop", "Shop", ("https://shop.example/",)))
    content, words = ContentStore(database, "shop"), SqlWordIndex(database, "shop")
    words.add(CHUNKS)
    searched = []
    search = SqlWordIndex.search
    monkeypatch.setattr(
        SqlWordIndex, "search", lambda self, text, limit: searched.append(limit) or search(self, text, limit)
    )
    chroma, embedder = open_chroma(tmp_path / "chroma"), EmbeddedEmbedder(model_cache)
    vectors = ChromaVectorIndex(chroma, "shop", embedder.fingerprint)
    parts = Parts(embedder, vectors, words, content.live, lambda kind, message: None, Tuning())
    retriever = made_strategy(strategy, parts).retriever
    asked = Query("parcels to islands", "en")
    assert retriever.retrieve(asked, 5) == []
    assert len(searched) == 1
    last = CHUNKS[-1]
    content.put_page(PageRecord(last.url, last.title, "en", last.id, "", "", 0, now()), [last], [])
    content.go_live()
    assert [hit.chunk.id for hit in retriever.retrieve(asked, 5)] == [last.id], "it is looked for far down"
    chroma.close()
    database.close()
