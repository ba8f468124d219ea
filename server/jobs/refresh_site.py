"""Reads a site anew: crawl, index, go live. The job worker and the shell run the same code."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product

from crawler.crawl import crawl
from crawler.errors import CrawlError
from crawler.fetcher import Validators
from crawler.options import CrawlOptions
from crawler.report import CrawlReport, Progress, UrlOutcome, UrlState
from server.domain.protocols import Embedder, Incidents, ModelError, VectorIndex
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.indexing.calibration import calibrate
from server.indexing.indexer import Indexer, IndexReport
from server.jobs.site_profile import profile
from server.settings import Settings
from server.storage.content import ContentStore
from server.storage.crawls import CrawlStore, UrlRow
from server.storage.errors import StorageError
from server.storage.sites import SiteStore

log = logging.getLogger(__name__)

ProgressCallback = Callable[[int, int, int], None]
"""Called with pages found, fetched and indexed."""

RECORD_EVERY_S = 0.5
"""Seconds between two writes of a crawl's progress."""

MISSING = frozenset({UrlState.GONE, UrlState.NOINDEX, UrlState.REDIRECTED, UrlState.DUPLICATE, UrlState.EMPTY,
                     UrlState.EXCLUDED, UrlState.DISALLOWED, UrlState.UNSUPPORTED})  # fmt: skip
"""States of an address that is no page of the site any more; an error or a limit says nothing."""


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """What the pages of a site are brought into."""

    indexer: Indexer
    embedder: Embedder
    vectors: VectorIndex | None
    """None when the strategy has none."""

    def signature(self, site: Site) -> str:
        """With what the site's chunks are indexed; a change of it makes every index stale."""
        return f"{site.strategy} {self.embedder.fingerprint}"


class SiteRefresh:
    """One crawl of one site, from its start address to the live index."""

    def __init__(
        self,
        sites: SiteStore,
        content: ContentStore,
        crawls: CrawlStore,
        incidents: Incidents,
        settings: Settings,
    ) -> None:
        self._sites = sites
        self._content = content
        self._crawls = crawls
        self._incidents = incidents
        self._settings = settings

    def run(self, site_id: str, crawl_id: int, index: SiteIndex, on_progress: ProgressCallback) -> None:
        """Leaves the outcome in the crawl's record; a failure leaves the live index as it was."""
        site = self._sites.find(site_id)
        if site is None:
            log.warning("site %s was deleted before its crawl %s began", site_id, crawl_id)
            return
        crawl_id = self._crawls.start(site_id)
        log.info("crawl %s of %s begins at %s", crawl_id, site_id, ", ".join(site.start_urls))
        try:
            message = self._refresh(site, crawl_id, index, on_progress)
        except (CrawlError, ModelError, IndexFailure, StorageError) as error:
            self._fail(site_id, crawl_id, str(error))
        else:
            self._crawls.finish(crawl_id, "done", message)
            log.info("crawl %s of %s is live: %s", crawl_id, site_id, message)

    def _fail(self, site_id: str, crawl_id: int, message: str) -> None:
        log.error("crawl %s of %s failed: %s", crawl_id, site_id, message)
        self._crawls.finish(crawl_id, "failed", message)
        self._incidents.record(site_id, "crawl_failed", message)

    def _refresh(self, site: Site, crawl_id: int, index: SiteIndex, on_progress: ProgressCallback) -> str:
        indexer = index.indexer
        options = crawl_options(site, self._settings)
        known = self._known(site.id, crawl_id)
        indexer.begin()
        record = _Record(self._crawls, crawl_id, indexer, on_progress)
        report = CrawlReport()
        with closing(crawl(options, known=known, on_progress=record.crawled)) as outcomes:
            for outcome in outcomes:
                report.add(outcome)
                record.add(outcome)
                _index(indexer, outcome, known)
        if problem := report.problem():
            record.flush()
            raise CrawlError(problem)
        indexed = indexer.finish()
        record.flush()
        summary = _summary(indexed)
        if self._is_stale(site, index):
            summary += f"; {indexer.reindex().chunks_embedded} chunks indexed anew"
        described = profile(self._sites.get(site.id), self._content)
        noted = {**described.options, "indexed_with": index.signature(site)}
        if index.vectors is not None:
            scale = calibrate(index.embedder, index.vectors, self._content.every_chunk())
            noted["calibration"] = scale.to_json(index.embedder.fingerprint)
        self._sites.update(replace(described, options=noted))
        return summary

    def _known(self, site_id: str, crawl_id: int) -> dict[str, Validators]:
        """The pages of the last crawl, and the addresses that it could not read or did not come to: a page
        that has not changed is not read for links again."""
        known: dict[str, Validators] = {}
        last = [run.id for run in self._crawls.history(site_id, 2) if run.id != crawl_id][:1]
        for number, state in product(last, (UrlState.ERROR, UrlState.OVER_LIMIT)):
            rows = self._crawls.urls(number, state, limit=self._settings.crawl_max_pages)
            known |= {row.url: Validators() for row in rows}
        for record in self._content.known_pages().values():
            known[record.url] = Validators(record.etag, record.last_modified, record.content_hash)
        return known

    def _is_stale(self, site: Site, index: SiteIndex) -> bool:
        """Whether unchanged chunks are missing from the indexes: another strategy or embedder than last
        time, or Chroma's folder was lost (the words lie in the database, beside the chunks)."""
        was = site.options.get("indexed_with")
        if was is not None and was != index.signature(site):
            return True
        if index.vectors is None:
            return False
        live = {chunk.id for chunk in self._content.every_chunk()}
        return not live <= index.vectors.ids()


def _index(indexer: Indexer, outcome: UrlOutcome, known: dict[str, Validators]) -> None:
    if outcome.page is not None:
        indexer.add(outcome.page)
    elif outcome.state is UrlState.UNCHANGED:
        indexer.unchanged(outcome.url)
    elif outcome.state in MISSING and outcome.url in known:
        indexer.missing(outcome.url)


class _Record:
    """Writes the crawl's progress and each address's outcome, not more often than needed."""

    def __init__(
        self, crawls: CrawlStore, crawl_id: int, indexer: Indexer, on_progress: ProgressCallback
    ) -> None:
        self._crawls = crawls
        self._crawl_id = crawl_id
        self._indexer = indexer
        self._on_progress = on_progress
        self._rows: list[UrlRow] = []
        self._found = self._fetched = 0
        self._written = 0.0

    def crawled(self, progress: Progress) -> None:
        self._found, self._fetched = progress.discovered, progress.pages

    def add(self, outcome: UrlOutcome) -> None:
        self._rows.append(UrlRow(outcome.url, outcome.state, outcome.reason, outcome.status))
        if time.monotonic() - self._written >= RECORD_EVERY_S:
            self.flush()

    def flush(self) -> None:
        self._written = time.monotonic()
        rows, self._rows = self._rows, []
        indexed = self._indexer.pages_done
        self._crawls.record(self._crawl_id, rows)
        self._crawls.progress(self._crawl_id, self._found, self._fetched, indexed)
        self._on_progress(self._found, self._fetched, indexed)


def crawl_options(site: Site, settings: Settings) -> CrawlOptions:
    """Limits of the settings, scope of the site. Raises BadStart."""
    return CrawlOptions(
        start_urls=site.start_urls,
        path_prefix=str(site.options.get("scope_path", "")),
        max_pages=settings.crawl_max_pages,
        max_depth=settings.crawl_max_depth,
        concurrency=settings.crawl_concurrency,
        delay_s=settings.crawl_delay_s,
        timeout_s=settings.crawl_timeout_s,
        page_time_s=settings.crawl_page_s,
        max_bytes=settings.crawl_max_bytes,
        contact=settings.crawl_contact,
        allow_private=site.allow_private or settings.crawl_allow_private,
    )


def _summary(report: IndexReport) -> str:
    return (
        f"{report.pages_indexed} pages indexed, {report.pages_unchanged} unchanged, "
        f"{report.pages_removed} removed; "
        f"{report.chunks_added} chunks new, {report.chunks_removed} gone"
    )
