"""Reads a site anew: crawl, index, go live. The job worker and the shell run the same code.

A crawl may be cut off at any moment, by kill -9 too: whoever takes it up next runs the same steps over
the same journal and the same content, and each step does what the one before it left to do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from crawler.crawl import crawl
from crawler.errors import CrawlError
from crawler.page import Page
from server.domain.derived import BuildStopped
from server.domain.protocols import Embedder, Incidents, ModelError, VectorIndex
from server.domain.site import Site
from server.indexes.errors import IndexFailure
from server.indexing.calibration import calibrate
from server.indexing.indexer import Indexer, IndexReport
from server.jobs.crawl_intake import CrawlIntake, ProgressCallback, report_so_far
from server.jobs.crawl_options import crawl_options
from server.jobs.crawl_past import Interruptions, known_addresses, problem
from server.jobs.crawl_watch import LOST, QUIT, BuildWatch, CrawlWatch, CutShort, Interrupt
from server.jobs.decided_pages import DecidedPages
from server.jobs.departures import see_off
from server.jobs.page_refresh import PageRefresh
from server.jobs.quote_check import check_quotes
from server.jobs.site_profile import profile
from server.settings import Settings
from server.storage.content import ContentStore
from server.storage.crawl_journal import CrawlJournal
from server.storage.crawl_runs import DONE, FAILED, PAUSE, STOP, STOPPED, WHOLE, CrawlRun
from server.storage.crawls import CrawlStore
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.holders import new_holder
from server.storage.page_moves import PageMoves
from server.storage.site_notes import SiteNotes
from server.storage.sites import SiteStore

__all__ = ["ProgressCallback", "SiteIndex", "SiteRefresh"]

log = logging.getLogger(__name__)

TEMPLATE = "template"
"""Note of a crawl, kept for the next one: what stands on most pages of the site."""
SourcePages = Callable[[Site], Iterable[Page]]
"""Pages of a site that come from elsewhere than its website."""


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """What the pages of a site are brought into."""

    indexer: Indexer
    embedder: Embedder
    vectors: VectorIndex | None
    """None when the strategy has none."""
    is_derived: bool = False
    """Whether the strategy derives something from the whole of the pages."""

    def signature(self, site: Site) -> str:
        """With what the site's chunks are indexed; a change of it makes every index stale."""
        return f"{site.strategy} {self.embedder.fingerprint}"


class SiteRefresh:
    """One crawl of one site, from its start address to the live index."""

    def __init__(
        self, database: Database, incidents: Incidents, settings: Settings, sources: SourcePages | None = None
    ) -> None:
        self._db = database
        self._sites = SiteStore(database)
        self._crawls = CrawlStore(database)
        self._notes = SiteNotes(database)
        self._incidents = incidents
        self._settings = settings
        self._sources = sources or (lambda site: ())

    def run(
        self,
        crawl_id: int,
        open_index: Callable[[Site], SiteIndex],
        on_progress: ProgressCallback,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Begins a crawl, or goes on with it; false when it is not to be had, for somebody works on the
        site already or the crawl has ended. Leaves the outcome in the crawl's record."""
        holder = new_holder()
        run = self._crawls.claim(crawl_id, holder)
        if run is None:
            return False
        with CrawlWatch(self._crawls, crawl_id, holder, interrupt or Interrupt()) as watch:
            try:
                site = self._sites.get(run.site_id)
                begins = run.url or ", ".join(site.start_urls)
                log.info("crawl %s of %s begins at %s", crawl_id, site.id, begins)
                index = open_index(site)
                if run.kind == WHOLE:
                    state, message = _Refresh(self, run, site, index, watch).run(on_progress)
                else:
                    one = PageRefresh(self._db, self._settings, run, site, index.indexer, watch)
                    state, message = one.run(self._notes.get(site.id, TEMPLATE))
            except CutShort:
                self._set_aside(run, watch)
            except (CrawlError, ModelError, IndexFailure, StorageError) as error:
                self._fail(run, watch, str(error))
            except Exception as error:
                # Anything else is a fault of ours: on record too, or the crawl would be taken up for ever.
                self._fail(run, watch, f"{type(error).__name__}: {error}")
                raise
            else:
                self._crawls.finish(crawl_id, state, message)
                log.info("crawl %s of %s is live: %s", crawl_id, run.site_id, message)
        return True

    def _set_aside(self, run: CrawlRun, watch: CrawlWatch) -> None:
        if watch.reason == LOST:
            log.warning("crawl %s of %s was taken over by another worker", run.id, run.site_id)
        elif (
            watch.reason == QUIT
            or run.kind != WHOLE
            or (not watch.pauses_here and not self._crawls.get(run.id).wanted)
        ):
            self._crawls.release(run)  # or it was resumed before it was paused
            log.info("crawl %s of %s is left to the next worker", run.id, run.site_id)
        else:
            self._crawls.set_aside(run)
            log.info("crawl %s of %s is paused", run.id, run.site_id)

    def _fail(self, run: CrawlRun, watch: CrawlWatch, message: str) -> None:
        if watch.is_lost or self._sites.find(run.site_id) is None:
            log.warning("crawl %s of %s ends: %s", run.id, run.site_id, message)
            return
        log.error("crawl %s of %s failed: %s", run.id, run.site_id, message)
        self._crawls.finish(run.id, FAILED, message)
        self._incidents.record(run.site_id, "crawl_failed", message)


class _Refresh:
    """The steps of one run over a crawl."""

    def __init__(
        self, job: SiteRefresh, run: CrawlRun, site: Site, index: SiteIndex, watch: CrawlWatch
    ) -> None:
        self._job = job
        self._db = job._db
        self._crawls = job._crawls
        self._run = run
        self._site = site
        self._index = index
        self._indexer = index.indexer
        self._watch = watch
        self._content = ContentStore(self._db, site.id)
        self._journal = CrawlJournal(self._db, run.id)
        self._decided = DecidedPages(self._db, site.id)

    def run(self, on_progress: ProgressCallback) -> tuple[str, str]:
        """(state in which the crawl ended, what it brought). Raises CutShort."""
        interruptions = Interruptions(self._journal, self._crawls, self._run)
        interruptions.check()
        self._indexer.begin(resume=interruptions.before, report=report_so_far(self._journal))
        # A first crawl goes live as a whole: nobody shall see half a site.
        # What is derived from all pages can only be brought live with all of them.
        bit_by_bit = self._content.live_generation() and not self._index.is_derived
        publish_s = self._job._settings.index_publish_s if bit_by_bit else 0.0
        intake = CrawlIntake(
            self._crawls, self._run.id, self._journal, self._indexer, publish_s, on_progress, self._decided
        )
        try:
            self._crawl(intake)
        except CutShort:
            interruptions.forgive()
            raise
        state = DONE
        trouble = problem(self._crawls, self._run.id) if self._site.start_urls else ""
        if self._watch.reason == STOP:
            state = STOPPED
            if trouble and not self._content.live_generation():
                return STOPPED, "stopped before a page was read"
        elif trouble:
            raise CrawlError(trouble)
        return state, self._bring_live(intake)

    def _crawl(self, intake: CrawlIntake) -> None:
        if not self._site.start_urls:
            return  # it is made of sources alone
        outcomes = crawl(
            crawl_options(self._site, self._job._settings),
            known_addresses(
                self._indexer.known,
                self._crawls,
                self._run,
                self._indexer.without_facts(),
                self._decided.site_hashes(),
            ),
            self._watch.stop,
            intake.crawled,
            journal=self._journal,
            template=self._job._notes.get(self._site.id, TEMPLATE),
        )
        with closing(outcomes):
            for outcome in outcomes:
                intake.take(outcome)
                if self._watch.reason in (QUIT, LOST):
                    break  # what was handed out and not settled is handed out again
        if self._watch.reason in (QUIT, LOST):
            raise CutShort
        self._indexer.flush()
        intake.record()
        if self._watch.reason == PAUSE:
            raise CutShort

    def _bring_live(self, intake: CrawlIntake) -> str:
        moves = PageMoves(self._db, self._site.id)
        see_off(self._run, self._crawls, self._indexer, intake.moves, moves, self._decided)
        self._add_sources()
        self._indexer.monitor = BuildWatch(self._watch, partial(log.info, "crawl %s: %s", self._run.id))
        try:
            report = self._indexer.finish()
            intake.record()
            summary = _summary(report)
            if self._is_stale():
                summary += f"; {self._indexer.reindex().chunks_embedded} chunks indexed anew"
        except BuildStopped as stopped:
            if self._watch.reason == STOP:
                raise CrawlError(f"stopped while the index was built: {stopped}") from stopped
            raise CutShort from stopped
        self._keep_what_was_learned()
        intake.settle_all()
        check_quotes(self._db, self._site.id, self._job._settings.base_url)
        return summary

    def _add_sources(self) -> None:
        """Pages from elsewhere than the website; one that is not there any more goes at once."""
        there = set()
        for page in self._job._sources(self._site):
            taken = self._decided.taken(page, "source")
            if taken is not None:
                there.add(page.url)
                self._indexer.add(taken, source="source")
        for url in [url for url, page in self._indexer.known.items() if page.source and url not in there]:
            self._indexer.remove(url)

    def _keep_what_was_learned(self) -> None:
        """For the answers, and for the next crawl."""
        noted: dict[str, object] = {"indexed_with": self._index.signature(self._site)}
        if self._index.vectors is not None:
            scale = calibrate(self._index.embedder, self._content.every_chunk())
            noted["calibration"] = scale.to_json(self._index.embedder.fingerprint)
        # Read last: what operators changed meanwhile stays.
        described = profile(self._job._sites.get(self._site.id), self._content)
        self._job._sites.update(replace(described, options={**described.options, **noted}))
        if template := self._journal.notes().get(TEMPLATE, ""):
            self._job._notes.set(self._site.id, TEMPLATE, template)

    def _is_stale(self) -> bool:
        """Whether unchanged chunks are missing from the indexes: another strategy or embedder than last
        time, or Chroma's folder was lost (the words lie in the database, beside the chunks)."""
        was = self._site.options.get("indexed_with")
        if was is not None and was != self._index.signature(self._site):
            return True
        if self._index.vectors is None:
            return False
        live = {chunk.id for chunk in self._content.every_chunk()}
        return not live <= self._index.vectors.ids()


def _summary(report: IndexReport) -> str:
    return (
        f"{report.pages_indexed} pages indexed, {report.pages_unchanged} unchanged, "
        f"{report.pages_removed} removed; "
        f"{report.chunks_added} chunks new, {report.chunks_removed} gone"
    )
