"""Opens the indexes of a site, its strategy and its indexer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from server.answering.engine import AnswerSources, SiteParts, daily_limit, tuning_of
from server.answering.floors import site_floor
from server.answering.flows.graders import (
    CoverageUsefulness,
    EvidenceStrips,
    ModelDocuments,
    ModelGroundedness,
    ModelUsefulness,
    Reflection,
    VerifiedGroundedness,
)
from server.answering.flows.table import FLOWS, Flow
from server.answering.flows.transforming import ModelTransformer, QueryLadder
from server.answering.grading import EvidenceGrader
from server.answering.ranking import Comparer, compared_texts
from server.answering.shortcuts.answer_cache import AnswerCache
from server.answering.shortcuts.curated import CuratedAnswers
from server.answering.shortcuts.same_question import Likeness
from server.answering.steps import Steps
from server.domain.addresses import stored
from server.domain.derived import Calibration
from server.domain.protocols import (
    Cache,
    ChatModel,
    Embedder,
    Incidents,
    Shortcut,
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
from server.retrieval.rarity import Rarity
from server.retrieval.table import made_strategy
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.content.decisions import PageDecisions
from server.storage.content.derived import DerivedStore, ModelReplies
from server.storage.content.page_facts import PageFactStore, StoredText
from server.storage.content.reader import ContentReader
from server.storage.content.site_facts import SiteFactStore
from server.storage.data_folder import DataFolder
from server.storage.database import Database

if TYPE_CHECKING:
    from filelock import FileLock

    from server.indexes.vectors import Chroma


@dataclass(frozen=True, slots=True)
class VectorStore:
    """The Chroma of this process, with the folder's lock if it was opened as a folder."""

    chroma: Chroma
    lock: FileLock | None

    def close(self) -> None:
        """Close Chroma and release the folder for other commands."""
        self.chroma.close()
        if self.lock:
            self.lock.release()


def open_vector_store(settings: Settings, folder: DataFolder, database: Database) -> VectorStore:
    """Open the Chroma server of CHROMA_URL or of a running server, else the folder, locked for this process.

    Raises IndexUnavailable, StartError.
    """
    from server.indexes.vectors import open_chroma  # importing Chroma takes two seconds

    most = settings.retrieval.exact_search_chunks
    copies = VectorCopies(database, folder.path / "cache" / "vectors", most)
    address, files = settings.storage.chroma_url or folder.running_chroma(), folder.path / "chroma"
    if address:
        return VectorStore(open_chroma(address, copies, files), None)
    lock = folder.claim_chroma()
    return VectorStore(open_chroma(files, copies), lock)


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
        content, embedder, vectors, words, facts, deriving, decisions, SiteFactStore(database, site_id),
        sentences=sentences,
    )  # fmt: skip


def open_indexer(database: Database, parts: SiteParts, strategy: Strategy, settings: Settings) -> Indexer:
    """Return the indexer that writes the pages of a crawl to the indexes of `strategy`."""
    sizes = ChunkSizes(settings.retrieval.chunk_chars, settings.retrieval.chunk_overlap)
    content = ContentStore(database, parts.content.site_id)
    indexer = Indexer(
        content, [strategy.builder], sizes,
        text=lambda: StoredText(content.newest(), parts.facts), facts=parts.facts,
    )  # fmt: skip
    indexer.sentences = parts.sentences
    return indexer


def open_strategy(
    site: Site, parts: SiteParts, incidents: Incidents, settings: Settings, model: ChatModel | None = None
) -> Strategy:
    """Return the strategy that indexes and searches the site; `model` may derive texts and rerank results.
    Raises UnknownName."""
    made = Parts(
        parts.embedder,
        parts.vectors,
        parts.words,
        parts.content,
        partial(incidents.record, site.id),
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


def open_comparer(site: Site, parts: SiteParts) -> Comparer:
    """Return what compares questions with the site's sections in meaning."""
    calibration = Calibration.from_json(site.options.get("calibration"), parts.embedder.fingerprint)
    return Comparer(parts.embedder, calibration, parts.sentences)


def open_flow(
    site: Site,
    parts: SiteParts,
    evidence: EvidenceGrader,
    model: ChatModel | None,
    incidents: Incidents,
    settings: Settings,
) -> Callable[[Steps], Flow]:
    """Makes the site's flow: its graders ask `model` when there is one. Raises UnknownName."""
    rarity = Rarity(parts.words)
    plain = Reflection(
        documents=evidence,
        groundedness=VerifiedGroundedness(),
        usefulness=CoverageUsefulness(rarity),
        transformer=QueryLadder(rarity),
        strips=EvidenceStrips(rarity),
        confidence=evidence.answerability,
        compared=open_comparer(site, parts).compared,
        max_count=settings.retrieval.self_rag_max_count,
        max_retries=settings.retrieval.self_rag_max_retries,
    )
    reflection = _with_model(plain, site, model, incidents, rarity) if model else plain
    return partial(FLOWS.load(site.flow), reflection=reflection)


def _with_model(
    plain: Reflection, site: Site, model: ChatModel, incidents: Incidents, rarity: Rarity
) -> Reflection:
    """The same graders with the model before them: each falls back on the plain one."""
    return replace(
        plain,
        documents=ModelDocuments(model, plain.documents, incidents, site.id),
        groundedness=ModelGroundedness(model, VerifiedGroundedness(), incidents),
        usefulness=ModelUsefulness(model, CoverageUsefulness(rarity), incidents),
        transformer=ModelTransformer(model, QueryLadder(rarity), incidents),
        strips=ModelDocuments(model, plain.strips, incidents, site.id),
    )


def with_known_answers(
    steps: Steps,
    site: Site,
    parts: SiteParts,
    model: ChatModel | None,
    settings: Settings,
    sources: AnswerSources,
) -> Steps:
    """The steps with the operator's own answers before all other shortcuts, remembered ones after them."""
    curated = open_curated(site, parts, sources, settings)
    known: list[Shortcut] = [curated, *steps.shortcuts]
    steps = replace(
        steps,
        shortcuts=known,
        daily_limit=daily_limit(site, settings),
        visitor_tokens=settings.models.visitor_daily_tokens,
    )
    remembered = open_answer_cache(site, parts, sources.cache, model, settings)
    if remembered is None:
        return steps
    return replace(
        steps, shortcuts=[*known, remembered], remember=remembered.remember, forget=remembered.forget
    )


def open_curated(site: Site, parts: SiteParts, sources: AnswerSources, settings: Settings) -> CuratedAnswers:
    """The curated answers of a site."""

    def title(url: str) -> str:
        page = parts.content.page(stored(url, settings.serving.base_url))
        return page[0].title if page and page[0].title else url

    likeness = Likeness(Rarity(parts.words), parts.embedder)
    made = CuratedAnswers(
        partial(sources.curated, site.id), likeness, settings.retrieval.curated_threshold, title
    )
    made.prepare()
    return made


def open_answer_cache(
    site: Site, parts: SiteParts, cache: Cache, model: ChatModel | None, settings: Settings
) -> AnswerCache | None:
    """None when the site's tuning has it off. Answers are forgotten when anything that they depend on
    changes: index, site, options, models, or Docent itself."""
    tuning = tuning_of(site, settings)
    if not tuning.answer_cache:
        return None
    name = model.name if model else "embedded"
    limits = (
        settings.retrieval.retrieve_limit,
        site_floor(site, settings, parts.embedder.fingerprint),
        settings.retrieval.self_rag_max_count,
    )
    options = sorted(site.options.items(), key=lambda item: item[0])
    made_from = (
        site.id, site.generation, site.title, site.strategy, site.flow, tuning, options, *limits,
        settings.retrieval.self_rag_max_retries, name, parts.embedder.fingerprint,
        settings.serving.base_url, _newest_code(),
    )  # fmt: skip

    def kept_out(urls: Collection[str]) -> set[str]:
        pages = {stored(url, settings.serving.base_url) for url in urls}
        return parts.decisions.for_search(pages)[0] & pages

    return AnswerCache(cache, made_from, name, settings.retrieval.answer_cache_hours * 3600, kept_out)


@cache
def _newest_code() -> int:
    """When Docent itself last changed: other code may answer otherwise."""
    return max(path.stat().st_mtime_ns for path in Path(__file__).parents[1].rglob("*.py"))
