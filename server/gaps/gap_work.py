"""Keeps gaps up to date: takes in new questions, finds what is missing, and rechecks gaps after crawls."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from threading import Event
from time import monotonic
from typing import Any

from server.answering.engine import Engine
from server.domain.events import EventKind
from server.domain.gap import OPEN, Gap, GapKind, Solved
from server.domain.protocols import ModelError
from server.domain.site import Site
from server.gaps.clusters import Weights
from server.gaps.gap_recheck import GapRecheck
from server.gaps.growth import Growth
from server.gaps.intake import GapIntake
from server.gaps.own_answers import OwnAnswers
from server.gaps.store import GapStore
from server.indexes.errors import IndexFailure
from server.indexes.words import SqlWordIndex
from server.retrieval.rarity import Rarity
from server.storage.database import Database
from server.storage.delivery.events import EventStore
from server.storage.errors import StorageError
from server.storage.sites.sites import SiteNotes, SiteStore

log = logging.getLogger(__name__)

EVERY_S = 10.0
LEASE_S = 120.0
"""Seconds for which a process that was killed in its look blocks others."""
RECHECK_LEASE_S = 3600.0
"""The longest recheck with a chat model, in seconds."""
DESCRIBED = 500
"""Gaps that one look describes at most."""
_LOCK = "gaps:look"
_DUE = "gaps_due"
_RECHECKED = "gaps_reasked"


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of a look."""

    taken_in: int
    more: bool
    """Whether there is more to do."""
    busy: bool = False
    """Another process is at it."""


@dataclass(frozen=True, slots=True)
class RecheckResult:
    """The result of rechecking the gaps of a site."""

    crawl: int
    asked: int
    closed: int
    left: int
    """Open ones that were not asked."""
    spent: bool
    """Whether today's budget of models was spent before all were asked."""
    at: str


class GapWork:
    """Any process may do it; one at a time does."""

    def __init__(
        self,
        database: Database,
        engine: Engine,
        sites: SiteStore,
        gaps: GapStore,
        events: EventStore,
        own_answers: OwnAnswers,
    ) -> None:
        self._database = database
        self._engine = engine
        self._sites = sites
        self._gaps = gaps
        self._events = events
        self._own_answers = own_answers
        self._notes = SiteNotes(database)

    def run(self, ending: Event) -> None:
        """Until `ending` is set: the job worker does it in addition to its jobs."""
        while not ending.wait(EVERY_S):
            try:
                while (looked := self.look(60.0, ending.is_set)).more and not looked.busy:
                    if ending.is_set():
                        return
                self.after_crawls(ending.is_set)
            except (StorageError, IndexFailure, ModelError) as error:
                log.warning("gaps are looked at again in %g s: %s", EVERY_S, error)
            except Exception:  # what is wrong with one question must not end this for all others
                log.exception("gaps are looked at again in %g s", EVERY_S)

    def look(self, seconds: float = 5.0, is_ending: Callable[[], bool] = lambda: False) -> Looked:
        """Takes in what was asked since the last look, for so long at most. Raises StorageError."""
        with self._alone() as alone:
            if not alone:
                return Looked(0, True, busy=True)
            until = monotonic() + seconds
            settings = self._engine.settings
            intake = GapIntake(self._database, settings.gaps.support)
            intake.tidy()

            def weights_of(site_id: str) -> Weights:
                return Rarity(SqlWordIndex(self._database, site_id)).weights

            growth = Growth(intake, self._engine.query_embedder, weights_of, settings.gaps.likeness)
            taken_in, more = 0, True
            while more and monotonic() < until and not is_ending():
                count, more = growth.step()
                taken_in += count
                self._keep_lease()
            described = self._describe(until, is_ending)
            self._tell(intake.opened)
            return Looked(taken_in, more or not described)

    def _tell(self, opened: list[str]) -> None:
        """Other systems of new gaps, without those that were joined to others meanwhile, and without wishes
        for a person, which have messages of their own."""
        for gap in filter(None, map(self._gaps.find, opened)):
            if gap.kind is GapKind.PERSON:
                continue
            page = f"{self._engine.settings.serving.base_url}/admin/gaps/{gap.id}"
            data = {"gap": gap.id, "question": gap.typed, "visitors": gap.visitors, "page": page}
            self._events.emit(EventKind.GAP_OPENED, gap.site_id, data, f"gap.opened:{gap.id}")

    def crawled(self, site_id: str, crawl_id: int) -> None:
        """Notes that a crawl has ended, so that the worker rechecks the site's gaps. Never fails for a site
        that was removed."""
        try:
            self._notes.set(site_id, _DUE, str(crawl_id))
        except StorageError as error:
            log.info("the gaps of %s are not rechecked: %s", site_id, error)

    def after_crawls(self, is_ending: Callable[[], bool] = lambda: False) -> list[RecheckResult]:
        """Rechecks the gaps of every site that was crawled since, and compares its own answers with the
        pages. Raises StorageError, IndexFailure."""
        done = []
        for site in self._sites.all():
            due = self._notes.get(site.id, _DUE)
            if due and site.generation and not is_ending():
                with self._alone(f"gaps:reask:{site.id}", RECHECK_LEASE_S) as alone:
                    if alone:
                        done.append(self.recheck(site, int(due), is_ending))
                    if alone and not is_ending():
                        self._notes.set(site.id, _DUE, "")
        return done

    def recheck(
        self, site: Site, crawl_id: int, is_ending: Callable[[], bool] = lambda: False
    ) -> RecheckResult:
        """Rechecks the open gaps of a site that pages could answer, the most frequent first."""
        limit = self._engine.settings.gaps.reasked
        wanted: dict[str, Any] = {
            "site_ids": [site.id],
            "statuses": OPEN,
            "kinds": (GapKind.MISSING, GapKind.OFF_TOPIC),
        }
        found = self._gaps.all(**wanted, limit=limit) if limit else []
        asked, closed, spent = self._recheck(site).all(found, crawl_id, is_ending)
        left = max(0, sum(self._gaps.counts(**wanted).values()) + closed - asked)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        checked = RecheckResult(crawl_id, asked, closed, left, spent, at)
        self._own_answers.check_all(site, limit, lambda: not is_ending())
        self._notes.set(site.id, _RECHECKED, json.dumps(asdict(checked)))
        return checked

    def recheck_one(self, gap: Gap, by: str) -> Solved | None:
        """Rechecks one gap; returns what answers it now. Raises UnknownSite, StorageError, IndexFailure."""
        site = self._sites.get(gap.site_id)
        return self._recheck(site).one(gap, 0, by)

    def curated_saved(self, site: Site, curated_id: int) -> list[Gap]:
        """Closes the open gaps that one of the operator's own answers meets now; none where the site's
        index cannot be read: they are rechecked after the next crawl."""
        try:
            return self._recheck(site).met_by(curated_id)
        except (IndexFailure, ModelError) as error:
            log.warning("the gaps of %s are rechecked after its next crawl: %s", site.id, error)
            return []

    def _describe(self, until: float, is_ending: Callable[[], bool]) -> bool:
        """Looks what is missing, for gaps where nobody did; false when some are left for which it can."""
        left = self._gaps.undescribed(DESCRIBED)
        described = 0
        sites: dict[str, GapRecheck | None] = {}
        for gap in left:
            if monotonic() > until or is_ending():
                return False
            if gap.site_id not in sites:
                site = self._sites.find(gap.site_id)
                sites[gap.site_id] = self._recheck(site) if site and site.generation else None
                self._keep_lease()
            recheck = sites[gap.site_id]
            if recheck:
                recheck.describe(gap)
                described += 1
        return len(left) < DESCRIBED or not described

    def _recheck(self, site: Site) -> GapRecheck:
        return GapRecheck(self._database, self._engine, self._gaps, self._own_answers, site)

    @contextmanager
    def _alone(self, name: str = _LOCK, seconds: float = LEASE_S) -> Iterator[bool]:
        """Return whether no other process is at it."""
        got = self._engine.sources.cache.add(name, "1", seconds)
        try:
            yield got
        finally:
            if got:
                self._engine.sources.cache.delete(name)

    def _keep_lease(self) -> None:
        self._engine.sources.cache.set(_LOCK, "1", LEASE_S)


def last_recheck(database: Database, site_id: str) -> RecheckResult | None:
    """The result of the recheck after the last crawl."""
    noted = SiteNotes(database).get(site_id, _RECHECKED)
    return RecheckResult(**json.loads(noted)) if noted else None
