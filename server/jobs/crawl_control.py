"""What operators do with crawls and sites, from the dashboard and from the shell."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from server.quality.gate_store import RELEASING, Check, GateStore
from server.storage.crawls.runs import (
    FAILED,
    PAUSE,
    PAUSED,
    RUNNING,
    STOP,
    STOPPED,
    WAITING,
    CrawlRun,
    CrawlStore,
)
from server.storage.database import Database
from server.storage.errors import WrongState
from server.storage.sites.sites import SiteStore, remove_site_rows

TRIES = 5
"""A crawl goes on while it is looked at: then it is looked at again."""


class CrawlControl:
    """Always of a site's newest crawl. `queue` wakes a worker. Raises WrongState, UnknownSite."""

    def __init__(self, crawls: CrawlStore, queue: Callable[[str, int], None]) -> None:
        self._crawls = crawls
        self._queue = queue

    def start(self, site_id: str) -> int:
        """Queues a crawl; returns its number. A site that has one waiting gets no second."""
        crawl_id = self._crawls.wait(site_id)
        self._queue(site_id, crawl_id)
        return crawl_id

    def pause(self, site_id: str) -> CrawlRun:
        """Ends the work on a crawl and keeps all of it. One that runs goes on for a moment."""
        return self._change(site_id, self._try_pause)

    def resume(self, site_id: str) -> CrawlRun:
        """Lets a crawl that was paused, or that failed, go on."""
        return self._change(site_id, self._try_resume)

    def stop(self, site_id: str) -> CrawlRun:
        """Ends a crawl: what it has read goes live."""
        return self._change(site_id, self._try_stop)

    def give_up(self, site_id: str) -> None:
        """Ends a crawl that no process works on, without what it read, for a new one is to begin."""
        run = self._crawls.latest(site_id)
        if run is not None and (run.state in (PAUSED, WAITING) or self._crawls.is_left(run)):
            self._crawls.finish(run.id, STOPPED, "a new crawl was begun instead")

    def start_over(self, site_id: str) -> int:
        """Queue a new crawl whatever the state of the last one, as the site begins at another address now;
        return its number."""
        self.give_up(site_id)
        run = self._crawls.latest(site_id)
        if run is not None and run.state == RUNNING:
            self._crawls.want(run, STOP)
        return self.start(site_id)

    def decide(self, gates: GateStore, check: Check, state: str, by: str) -> bool:
        """Lets what the gate holds back go live, or drops it; false while a crawl is under way, or when it
        was decided meanwhile, or another crawl wrote to it since."""
        run = self._crawls.latest(check.site_id)
        is_its_own = run is not None and run.id == check.crawl_id
        if run is None or run.is_open or (state == RELEASING and not is_its_own):
            return False
        if not gates.decide(check, state, by):
            return False
        if is_its_own:
            self._crawls.release(run, wanted="")
            self._queue(run.site_id, run.id)
        else:
            self.start(check.site_id)
        return True

    def _change(self, site_id: str, change: Callable[[CrawlRun], bool]) -> CrawlRun:
        for _ in range(TRIES):
            run = self._crawls.latest(site_id)
            if run is None:
                raise WrongState(f"{site_id} was never crawled")
            if change(run):
                return self._crawls.get(run.id)
        raise WrongState(f"the crawl of {site_id} changes too fast; try again")

    def _try_pause(self, run: CrawlRun) -> bool:
        if run.state == PAUSED:
            return True
        if run.state == WAITING or self._crawls.is_left(run):
            return self._crawls.set_aside(run)
        _require(run.state == RUNNING, run, "paused")
        return self._crawls.want(run, PAUSE)

    def _try_resume(self, run: CrawlRun) -> bool:
        if run.state == RUNNING and not self._crawls.is_left(run):
            return self._crawls.want(run, "")
        _require(run.state in (PAUSED, FAILED, WAITING, RUNNING), run, "resumed")
        return self._release(run, "")

    def _try_stop(self, run: CrawlRun) -> bool:
        if run.state == WAITING and run.beat_at is None:
            self._crawls.finish(run.id, STOPPED, "stopped before it began")
            return True
        if run.state in (PAUSED, WAITING) or self._crawls.is_left(run):
            return self._release(run, STOP)
        _require(run.state == RUNNING, run, "stopped")
        return self._crawls.want(run, STOP)

    def _release(self, run: CrawlRun, wanted: str) -> bool:
        is_released = self._crawls.release(run, wanted=wanted)
        if is_released:
            self._queue(run.site_id, run.id)
        return is_released


def _require(possible: bool, run: CrawlRun, done: str) -> None:
    if not possible:
        raise WrongState(f"the last crawl of {run.site_id} has ended ({run.state}), so it cannot be {done}")


log = logging.getLogger(__name__)

LONGEST_WAIT_S = 60.0
"""For a crawl of the site to leave off; it looks for what is wanted of it every second."""
LOOK_S = 0.2


@dataclass(eq=False)
class SiteRemoval:
    """Removes sites marked as leaving: nobody finds them any more, so nothing new begins for them."""

    _db: Database
    _crawling: CrawlControl
    _drop_indexes: Callable[[str], None]
    """Removes a site's words and vectors."""
    _forget: Callable[[str], None]
    """Removes what files and caches hold."""

    def __post_init__(self) -> None:
        self._sites = SiteStore(self._db)
        self._crawls = CrawlStore(self._db)

    def begin(self, site_id: str) -> None:
        """Takes the site from visitors and operators at once. Raises UnknownSite."""
        self._sites.leave(site_id)
        try:
            self._crawling.pause(site_id)
        except WrongState:
            return  # it was never crawled, or its last crawl has ended

    def run(self, site_id: str) -> None:
        """Removes all of a site that `begin` took away; one that is gone already is no error. Raises
        StorageError, IndexFailure: then the next run goes on."""
        if site_id not in self._sites.leaving():
            return
        self._wait_for_crawl(site_id)
        self._drop_indexes(site_id)
        self._forget(site_id)
        remove_site_rows(self._db, site_id)
        log.info("the site %s is removed with everything that belonged to it", site_id)

    def _wait_for_crawl(self, site_id: str) -> None:
        deadline = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < deadline:
            run = self._crawls.latest(site_id)
            if run is None or run.state != RUNNING or self._crawls.is_left(run):
                return
            time.sleep(LOOK_S)
