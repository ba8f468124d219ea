"""Refreshes a site: crawl, index, go live. The job worker and the shell run the same code.

A crawl may be cut off at any moment, by kill -9 too: whoever takes it up next runs the same steps over
the same journal and the same content, and each step does what the one before it left to do.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from crawler.crawl import crawl
from crawler.errors import CrawlError
from crawler.page import READING, Page
from crawler.recorder import TEMPLATE
from server.domain.derived import BuildStopped
from server.domain.protocols import Incidents, ModelError
from server.domain.site import Site
from server.facts.collecting import keep_card
from server.indexes.errors import IndexFailure, IndexUnavailable
from server.indexing.indexer import IndexReport, SiteIndex
from server.jobs.after_crawl import check_quotes
from server.jobs.crawl_intake import (
    CrawlIntake,
    Interruptions,
    ProgressCallback,
    known_addresses,
    problem,
    report_so_far,
)
from server.jobs.crawl_options import crawl_options
from server.jobs.crawl_watch import FULL, LOST, QUIT, CrawlCutShort, CrawlWatch, Interrupt
from server.jobs.gate import CrawlGate, HeldBackIndex, Measure
from server.jobs.page_refresh import CrawlWork, PageRefresh
from server.jobs.site_profile import keep_what_was_learned
from server.quality.gate_store import DROPPING, RELEASING
from server.settings import Settings
from server.storage.crawls.frontier import HostTurns, SharedFrontier
from server.storage.crawls.runs import DONE, FAILED, HELD, PAUSE, STOP, STOPPED, WHOLE, CrawlRun, CrawlStore
from server.storage.data_folder import lacking_space
from server.storage.database import Database
from server.storage.errors import StorageError, StorageUnavailable
from server.storage.leases import new_holder
from server.storage.sites.sites import SiteNotes, SiteStore

log = logging.getLogger(__name__)

OUTAGE_S = 10.0
"""Seconds between two tries of a crawl for which the database or Chroma is out of reach."""
READ_AS = "read_as"
"""Name of the note of a site that says by which rules its pages were read and cut when a crawl last ended."""
LOOKS_DOWN = "the site looks down: {} pages that were not found stay for up to a week"
SourcePages = Callable[[Site], Iterable[Page]]
"""Pages of a site that come from elsewhere than its website."""


@dataclass(eq=False)
class SiteRefresh:
    """One crawl of one site, from its start address to the live index."""

    _db: Database
    _incidents: Incidents
    _settings: Settings
    _sources: SourcePages
    _measure: Measure
    """Compares a new index with the live one for the quality gate."""

    def __post_init__(self) -> None:
        self._sites = SiteStore(self._db)
        self._crawls = CrawlStore(self._db)
        self._notes = SiteNotes(self._db)

    def run(
        self,
        crawl_id: int,
        open_index: Callable[[Site], SiteIndex],
        on_progress: ProgressCallback,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Begins a crawl, or goes on with it; false when another worker has the site or the crawl has ended.
        Leaves the outcome in the crawl's record."""
        holder = new_holder()
        run = self._crawls.claim(crawl_id, holder)
        if run is None:
            return False
        storage = self._settings.storage
        no_room = partial(lacking_space, storage.data_dir, storage.disk_free_mb)
        with CrawlWatch(self._crawls, crawl_id, holder, interrupt or Interrupt(), no_room) as watch:
            try:
                if watch.reason == FULL:
                    raise CrawlCutShort
                site = self._sites.get(run.site_id)
                begins = run.url or ", ".join(site.start_urls)
                log.info("crawl %s of %s begins at %s", crawl_id, site.id, begins)
                gate = CrawlGate(self._db, self._incidents, self._measure, site, run.id)
                state, message = self._work(run, site, open_index(site), watch, gate, on_progress)
            except HeldBackIndex as held:
                log.warning("crawl %s of %s is held back: %s", crawl_id, run.site_id, held)
                self._crawls.finish(crawl_id, HELD, str(held), holder)
            except CrawlCutShort:
                if watch.reason == FULL:
                    self._fail(run, watch, watch.says)
                else:
                    self._set_aside(run, watch)
            except (IndexUnavailable, StorageUnavailable) as error:
                self._wait_for(run, watch, str(error))
            except (CrawlError, ModelError, IndexFailure, StorageError) as error:
                self._fail(run, watch, str(error))
            except Exception as error:
                # Anything else is a fault of ours: on record too, or the crawl would be taken up for ever.
                self._fail(run, watch, f"{type(error).__name__}: {error}")
                raise
            else:
                self._succeed(run, state, message)
        return True

    def _work(
        self,
        run: CrawlRun,
        site: Site,
        index: SiteIndex,
        watch: CrawlWatch,
        gate: CrawlGate,
        on_progress: ProgressCallback,
    ) -> tuple[str, str]:
        """(state in which the crawl ends, what it brought). Raises CrawlCutShort, HeldBackIndex."""
        whole = WholeCrawl(self._db, self._settings, run, site, index, watch)
        held = gate.held
        if held is not None and held.state == DROPPING:
            index.indexer.discard()
            gate.dropped(held)
            if held.crawl_id == run.id:
                return STOPPED, f"dropped by {held.decided_by}: visitors keep the previous index"
        elif held is not None and held.state == RELEASING and held.crawl_id == run.id:
            message = whole.release()
            gate.released(held)
            return DONE, f"{message}; let go live by {held.decided_by}, though {held.metric} fell"
        measuring = gate if gate.is_on else None
        if run.kind == WHOLE:
            return whole.run(measuring, on_progress, self._sources(site), goes_on=gate.held is not None)
        one = PageRefresh(self._db, self._settings, run, site, index, watch)
        return one.run(measuring, self._notes.get(run.site_id, TEMPLATE))

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

    def _succeed(self, run: CrawlRun, state: str, message: str) -> None:
        if self._crawls.finish(run.id, state, message, run.holder):
            log.info("crawl %s of %s is live: %s", run.id, run.site_id, message)

    def _wait_for(self, run: CrawlRun, watch: CrawlWatch, reason: str) -> None:
        """Leave the crawl to the next worker after a moment: the database or Chroma may only restart."""
        log.warning("crawl %s of %s is taken up again soon: %s", run.id, run.site_id, reason)
        watch.stop.wait(OUTAGE_S)
        try:
            self._crawls.release(run, message=reason)
        except StorageError as error:
            log.warning("crawl %s of %s goes on when the database answers: %s", run.id, run.site_id, error)

    def _fail(self, run: CrawlRun, watch: CrawlWatch, message: str) -> None:
        if watch.reason == LOST or self._sites.find(run.site_id) is None:
            log.warning("crawl %s of %s ends: %s", run.id, run.site_id, message)
            return
        if not self._crawls.finish(run.id, FAILED, message, run.holder):
            return
        log.error("crawl %s of %s failed: %s", run.id, run.site_id, message)
        self._incidents.record(run.site_id, "crawl_failed", message)


class WholeCrawl(CrawlWork):
    """The steps of one run over a crawl of a whole site."""

    def run(
        self,
        gate: CrawlGate | None,
        on_progress: ProgressCallback,
        source_pages: Iterable[Page],
        *,
        goes_on: bool,
    ) -> tuple[str, str]:
        """(state in which the crawl ended, what it brought). With a gate nothing goes live piece by piece,
        and the whole only once it is measured. `goes_on` keeps what a gate held back before: it is measured
        again with what this crawl brings. Raises CrawlCutShort, HeldBackIndex."""
        interruptions = Interruptions(self._journal, self._crawls, self._run)
        interruptions.check()
        notes = SiteNotes(self._db)
        sizes = self._settings.retrieval
        read_as = f"{READING}/{sizes.chunk_chars}/{sizes.chunk_overlap}"
        reads_again = notes.get(self._site.id, READ_AS) != read_as
        self._indexer.begin(
            resume=interruptions.before or goes_on,
            report=report_so_far(self._journal),
            cuts_again=reads_again,
        )
        # A first crawl goes live as a whole: nobody shall see half a site.
        # What is derived from all pages can only be brought live with all of them.
        bit_by_bit = self._content.live.live_generation() and not self._index.is_derived
        publish_s = self._settings.retrieval.index_publish_s if bit_by_bit else 0.0
        intake = CrawlIntake(
            self._crawls, self._run.id, self._journal, self._indexer, publish_s, gate is not None,
            on_progress, self._decided,
        )  # fmt: skip
        try:
            self._crawl(intake, reads_again=reads_again)
        except CrawlCutShort:
            interruptions.forgive()
            raise
        state = DONE
        trouble = problem(self._crawls, self._run.id) if self._site.start_urls else ""
        if self._watch.reason == STOP:
            state = STOPPED
            if trouble and not self._content.live.live_generation():
                return STOPPED, "stopped before a page was read"
        elif trouble:
            raise CrawlError(trouble)
        summary = self._bring_live(intake, gate, source_pages)
        if state == DONE:
            notes.set(self._site.id, READ_AS, read_as)
        return state, summary

    def _crawl(self, intake: CrawlIntake, *, reads_again: bool) -> None:
        if not self._site.start_urls:
            return  # it is made of sources alone
        known = known_addresses(
            self._indexer.known,
            self._crawls,
            self._run,
            self._indexer.known if reads_again else self._indexer.without_facts(),
            self._decided.decisions.site_hashes(),
        )
        shared = SharedFrontier(self._db, self._run.id, known)
        outcomes = crawl(
            crawl_options(self._site, self._settings),
            known,
            self._watch.stop,
            intake.crawled,
            journal=self._journal,
            template=SiteNotes(self._db).get(self._site.id, TEMPLATE),
            shared=shared,
            turns=HostTurns(self._db),
        )
        with closing(outcomes):
            for outcome in outcomes:
                intake.take(outcome)
                if self._watch.reason in (QUIT, LOST, FULL):
                    break  # what was handed out and not settled is handed out again
        if self._watch.reason in (QUIT, LOST, FULL):
            raise CrawlCutShort
        shared.clear()
        self._indexer.flush()
        intake.record()
        if self._watch.reason == PAUSE:
            raise CrawlCutShort

    def _bring_live(self, intake: CrawlIntake, gate: CrawlGate | None, source_pages: Iterable[Page]) -> str:
        kept = self._remove_missing_pages(intake.moves)
        self._add_sources(source_pages)
        try:
            summary = self._go_live(gate)
        finally:
            # Also of an index that is held back: it is all written.
            intake.record()
        intake.settle_all()
        return f"{summary}; {LOOKS_DOWN.format(kept)}" if kept else summary

    def release(self) -> str:
        """Brings live what the gate held back; returns what that is. Raises CrawlCutShort."""
        self._indexer.begin(resume=True, report=report_so_far(self._journal))
        return self._go_live(None)

    def _go_live(self, gate: CrawlGate | None) -> str:
        try:
            summary = _summary(self._made_live(gate))
            if self._index.is_stale(self._site, self._content):
                summary += f"; {self._indexer.reindex().chunks_embedded} sections indexed again"
        except BuildStopped as stopped:
            if self._watch.reason == STOP:
                raise CrawlError(f"stopped while the index was built: {stopped}") from stopped
            raise CrawlCutShort from stopped
        keep_what_was_learned(self._db, self._site, self._index, self._journal)
        keep_card(self._db, self._site.id, self._settings.serving.base_url)
        check_quotes(self._db, self._site.id, self._settings.serving.base_url)
        return summary

    def _add_sources(self, pages: Iterable[Page]) -> None:
        """Adds the pages of sources; one that is gone is removed at once."""
        there = set()
        for page in pages:
            taken = self._decided.taken(page, "source")
            if taken is not None:
                there.add(page.url)
                self._indexer.add(taken, source="source")
        for url in [url for url, page in self._indexer.known.items() if page.source and url not in there]:
            self._indexer.remove(url)


def _summary(report: IndexReport) -> str:
    return (
        f"pages: {report.pages_indexed} indexed, {report.pages_unchanged} unchanged, "
        f"{report.pages_removed} removed; "
        f"sections: {report.chunks_added} new, {report.chunks_removed} removed"
    )
