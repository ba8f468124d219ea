"""Corpora in BEIR form as sites of the installation: indexed once, without a crawl."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

from server.answering.engine import Engine
from server.domain.derived import Monitor
from server.domain.site import Site
from server.evaluation.corpus import CORPUS, Corpus
from server.indexing.calibration import calibrate
from server.indexing.chunker import ChunkSizes
from server.indexing.indexer import Indexer, IndexReport
from server.jobs.refresh_site import SiteIndex
from server.jobs.site_profile import profile
from server.settings import Settings
from server.storage.content.content import ContentStore
from server.storage.database import Database
from server.storage.sites.sites import SiteStore


def corpus_site_id(corpus: Corpus, settings: Settings) -> str:
    """Made from the folder's name, the documents, and how they are cut: another one for each."""
    cut = f"{corpus.digest} {settings.retrieval.chunk_chars} {settings.retrieval.chunk_overlap}"
    return f"corpus-{corpus.name}-{hashlib.sha256(cut.encode()).hexdigest()[:10]}"


def install_corpus(
    engine: Engine, database: Database, sites: SiteStore, corpus: Corpus, monitor: Monitor
) -> Site:
    """The site of a corpus, indexed now if it was not; what was cut off goes on. Raises BadQuestionFile,
    ModelError, IndexFailure, StorageError, BuildStopped."""
    site_id = corpus_site_id(corpus, engine.settings)
    site = sites.find(site_id) or sites.create(_new_site(site_id, corpus, engine.settings.retrieval.flow))
    if site.generation and site.options.get(CORPUS):
        return site
    parts = engine.parts(site_id, engine.document_embedder)
    strategy = engine.strategy(site, parts)
    pages = list(corpus.pages())
    sizes = ChunkSizes(engine.settings.retrieval.chunk_chars, engine.settings.retrieval.chunk_overlap)
    indexer = Indexer(ContentStore(database, site_id), [strategy.builder], sizes, _told(monitor, len(pages)))
    indexer.begin(resume=True)
    for page in pages:
        indexer.add(page)
    report = indexer.finish()
    described = profile(sites.get(site_id), parts.content)
    index = SiteIndex(indexer, parts.embedder, parts.vectors)
    made_of = {"folder": corpus.folder.resolve().name, "documents": len(pages), "seconds": report.seconds}
    noted = {
        **described.options,
        "indexed_with": index.signature(site),
        "calibration": calibrate(parts.embedder, parts.content.every_chunk()).to_json(
            parts.embedder.fingerprint
        ),
        CORPUS: made_of,
    }
    sites.update(replace(described, options=noted))
    return sites.get(site_id)


def _new_site(site_id: str, corpus: Corpus, flow: str) -> Site:
    # It has no title: nothing is to be added to a question, as a site's own name is.
    return Site(
        id=site_id,
        name=f"Corpus {corpus.folder.resolve().name}",
        title="",
        origins=(corpus.origin,),
        strategy="hybrid",
        flow=flow,
        options={"tuning": {"title": "never"}},
    )


def _told(monitor: Monitor, pages: int) -> Callable[[IndexReport], None]:
    def tell(report: IndexReport) -> None:
        monitor.step("documents", report.pages_indexed + report.pages_unchanged, pages)

    return tell
