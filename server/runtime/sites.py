"""Opens the indexes of a site, its strategy and its indexer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from server.answering.engine import SiteParts, daily_limit, tuning_of
from server.answering.grading import compared_texts
from server.domain.protocols import (
    ChatModel,
    Embedder,
    Incidents,
    Strategy,
)
from server.domain.site import Site
from server.domain.spending import Spending
from server.indexes.sentence_vectors import SentenceVectors
from server.indexes.vector_copies import VectorCopies
from server.indexes.words import SqlWordIndex
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import Indexer
from server.models.metered import estimate_tokens, read_prices
from server.retrieval.options import CHOSEN, read_choices
from server.retrieval.parts import Deriving, Parts, SideIndexes
from server.retrieval.table import made_strategy
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.content.decisions import PageDecisions
from server.storage.content.derived import DerivedStore, ModelReplies
from server.storage.content.page_facts import PageFactStore, StoredText
from server.storage.content.reader import ContentReader
from server.storage.data_folder import DataFolder
from server.storage.database import Database

if TYPE_CHECKING:
    from filelock import FileLock

    from server.indexes.vectors import Chroma


class VectorStore:
    """The Chroma of this process, with the folder's lock if it was opened as a folder."""

    def __init__(self, chroma: Chroma, lock: FileLock | None) -> None:
        self.chroma = chroma
        self._lock = lock

    def ping(self) -> None:
        """Raise IndexUnavailable if Chroma does not answer."""
        self.chroma.ping()

    def close(self) -> None:
        """Close Chroma and release the folder for other commands."""
        self.chroma.close()
        if self._lock:
            self._lock.release()


def open_vector_store(settings: Settings, folder: DataFolder, database: Database) -> VectorStore:
    """Open the Chroma server of CHROMA_URL or of a running server, else the folder, locked for this process.

    Raises IndexUnavailable, StartError.
    """
    from server.indexes.vectors import open_chroma  # importing Chroma takes two seconds

    most = settings.retrieval.exact_search_chunks
    copies = VectorCopies(database, folder.path / "cache" / "vectors", most)
    address = settings.storage.chroma_url or folder.running_chroma()
    if address:
        return VectorStore(open_chroma(address, copies), None)
    lock = folder.claim_chroma()
    return VectorStore(open_chroma(folder.path / "chroma", copies), lock)


def open_parts(
    store: VectorStore, database: Database, content: ContentReader, embedder: Embedder, site_id: str
) -> SiteParts:
    """Return the content and indexes of a site. Missing indexes are created on first use."""
    from server.indexes.vectors import ChromaVectorIndex

    def side(kind: str) -> SideIndexes:
        return SideIndexes(
            ChromaVectorIndex(store.chroma, site_id, embedder.fingerprint, kind),
            SqlWordIndex(database, site_id, kind),
        )

    vectors = ChromaVectorIndex(store.chroma, site_id, embedder.fingerprint)
    replies = ModelReplies(database, site_id)
    deriving = Deriving(DerivedStore(database, site_id), cache(side), replies, estimate_tokens)
    words, facts = SqlWordIndex(database, site_id), PageFactStore(database, site_id)
    decisions = PageDecisions(database, site_id)
    sentences = SentenceVectors(database, site_id, embedder, compared_texts)
    return SiteParts(
        content, embedder, vectors, words, facts, deriving, decisions=decisions, sentences=sentences
    )


def open_indexer(database: Database, parts: SiteParts, strategy: Strategy, settings: Settings) -> Indexer:
    """Return the indexer that writes the pages of a crawl to the indexes of `strategy`."""
    sizes = ChunkSizes(settings.retrieval.chunk_chars, settings.retrieval.chunk_overlap)
    content = ContentStore(database, parts.content.site_id)

    def text() -> StoredText:
        return StoredText(content.newest(), parts.facts)

    indexer = Indexer(content, [strategy.builder], sizes, text=text, facts=parts.facts)
    indexer.sentences = parts.sentences
    return indexer


def open_strategy(
    site: Site, parts: SiteParts, incidents: Incidents, settings: Settings, model: ChatModel | None = None
) -> Strategy:
    """Return the strategy that indexes and searches the site; `model` may derive texts and rerank results.
    Raises UnknownName."""

    def report(kind: str, message: str) -> None:
        incidents.record(site.id, kind, message)

    made = Parts(
        parts.embedder,
        parts.vectors,
        parts.words,
        parts.content,
        report,
        tuning_of(site, settings),
        model,
        parts.relevance_model,
        replace(
            parts.deriving,
            price=read_prices(settings.models.prices).get(settings.models.chat_model_name, (0.0, 0.0)),
            charge=partial(Spending, site.id, daily_limit(site, settings)),
        ),
        read_choices(site.options.get(CHOSEN)),
    )
    return made_strategy(site.strategy, made)
