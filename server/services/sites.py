"""Which parts answer for a site, and which index it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from server.answering.grading import DEFAULT_FLOOR, EvidenceGrader
from server.answering.model_writer import ModelWriter
from server.answering.pipeline import Pipeline, Steps
from server.answering.quoting import QuotingWriter
from server.answering.rewriting import HistoryRewriter, ModelRewriter
from server.data_folder import DataFolder
from server.domain.addresses import absolute, stored
from server.domain.calibration import Calibration
from server.domain.protocols import (
    ChatModel,
    Embedder,
    Incidents,
    Rewriter,
    Strategy,
    VectorIndex,
    WordIndex,
    Writer,
)
from server.domain.site import Site
from server.guards.table import GUARDS
from server.indexes.words import SqlWordIndex
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import Indexer
from server.retrieval.parts import Parts
from server.retrieval.rarity import Rarity
from server.retrieval.table import STRATEGIES
from server.settings import Settings
from server.storage.content import ContentStore
from server.storage.database import Database

if TYPE_CHECKING:
    from filelock import FileLock

    from server.indexes.vectors import Chroma


class VectorStore:
    """The Chroma of this process, with the folder's lock when it was opened as a folder."""

    def __init__(self, chroma: Chroma, lock: FileLock | None) -> None:
        self.chroma = chroma
        self._lock = lock

    def ping(self) -> None:
        """Raises IndexUnavailable."""
        self.chroma.ping()

    def close(self) -> None:
        """Gives the folder back for other commands."""
        self.chroma.close()
        if self._lock:
            self._lock.release()


def open_vector_store(settings: Settings, folder: DataFolder) -> VectorStore:
    """The Chroma server of CHROMA_URL or of a running server, else the folder, locked for this process.

    Raises IndexUnavailable, StartError.
    """
    from server.indexes.vectors import open_chroma  # importing Chroma takes two seconds

    address = settings.chroma_url or folder.running_chroma()
    if address:
        return VectorStore(open_chroma(address), None)
    lock = folder.claim_chroma()
    return VectorStore(open_chroma(folder.path / "chroma"), lock)


@dataclass(frozen=True, slots=True)
class SiteParts:
    """What a site's strategies and answers are made from."""

    content: ContentStore
    embedder: Embedder
    vectors: VectorIndex
    words: WordIndex


def open_parts(
    store: VectorStore, database: Database, content: ContentStore, embedder: Embedder, site_id: str
) -> SiteParts:
    """The indexes of a site; made at the first use."""
    from server.indexes.vectors import ChromaVectorIndex

    vectors = ChromaVectorIndex(store.chroma, site_id, embedder.fingerprint)
    return SiteParts(content, embedder, vectors, SqlWordIndex(database, site_id))


def open_indexer(parts: SiteParts, strategy: Strategy, settings: Settings) -> Indexer:
    """What brings the pages of a crawl into the indexes of `strategy`."""
    sizes = ChunkSizes(settings.chunk_chars, settings.chunk_overlap)
    return Indexer(parts.content, [strategy], sizes)


def open_strategy(site: Site, parts: SiteParts, incidents: Incidents) -> Strategy:
    """What indexes and searches the site. Raises UnknownName."""

    def report(kind: str, message: str) -> None:
        incidents.record(site.id, kind, message)

    made = Parts(parts.embedder, parts.vectors, parts.words, parts.content, report)
    strategy: Strategy = STRATEGIES.load(site.strategy)(made)
    return strategy


def open_pipeline(
    site: Site, parts: SiteParts, model: ChatModel | None, incidents: Incidents, settings: Settings
) -> Pipeline:
    """What answers the site's questions: with `model` when there is one, by quotation otherwise."""
    rarity = Rarity(parts.words)
    calibration = Calibration.from_json(site.options.get("calibration"), parts.embedder.fingerprint)
    title, base = site.title or site.name, settings.base_url
    quoting = QuotingWriter(rarity, parts.embedder)
    plain = HistoryRewriter(title)
    rewriter: Rewriter = ModelRewriter(model, plain, incidents) if model else plain
    writers: list[Writer] = [ModelWriter(model, title), quoting] if model else [quoting]
    steps = Steps(
        guards=[GUARDS.load(name)() for name in GUARDS],
        rewriter=rewriter,
        strategy=open_strategy(site, parts, incidents),
        grader=EvidenceGrader(rarity, parts.embedder, calibration, _floor(site, settings)),
        writers=writers,
        page_text=lambda url: "\n\n".join(chunk.text for chunk in parts.content.page(stored(url, base))),
        incidents=incidents,
        retrieve_limit=settings.retrieve_limit,
        address=partial(absolute, base=base),
    )
    own = urlsplit(base)  # where uploaded files are served
    return Pipeline(site, steps, site.allowed_origins | {f"{own.scheme}://{own.netloc}"})


def _floor(site: Site, settings: Settings) -> float:
    own = site.options.get("relevance_floor")
    if isinstance(own, int | float):
        return float(own)
    return settings.relevance_floor if settings.relevance_floor >= 0 else DEFAULT_FLOOR
