"""Makes ordered test sets and carries out runs, one at a time in the installation, at low priority."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from functools import partial

from server.answering.engine import Engine
from server.domain.derived import BuildStopped
from server.errors import DocentError
from server.evaluation.testsets import TestSetOptions
from server.quality import run_store as quality_runs
from server.quality import testset_store as testsets
from server.quality.questions import questions_of_pages, shortcomings, written_cases
from server.quality.runs import ASKED, FOLDER, QUIT, RunStores, Watch, carry_out, run_folder, summary_of
from server.storage.columns import now
from server.storage.errors import StorageError
from server.storage.leases import WAITING, new_holder

log = logging.getLogger(__name__)

EVERY_S = 2.0


class QualityWorker:
    """Any number of processes may have one: the database decides who does what."""

    def __init__(self, engine: Engine, stores: RunStores) -> None:
        self._engine = engine
        self._stores = stores

    def run(self, ending: threading.Event) -> None:
        """Work until `ending` is set. Call it in a thread of its own: it lowers the thread's priority."""
        stand_back(self._engine.settings.quality.nice)
        while not ending.wait(EVERY_S):
            try:
                while self.work_once(ending) and not ending.is_set():
                    pass
            except StorageError as error:
                log.warning("quality work is looked for again in %g s: %s", EVERY_S, error)

    def work_once(self, ending: threading.Event) -> bool:
        """Whether there was anything to do."""
        return self._make_one(ending) or self._run_one(ending)

    def _make_one(self, ending: threading.Event) -> bool:
        store, holder = self._stores.testsets, new_holder()
        id = store.work.claim(holder)
        if id is None:
            return False

        def tell(name: str, done: int, total: int) -> bool:
            return store.work.beat(id, holder)

        with Watch(tell, lambda: False, ending) as watch:
            try:
                self._make(id, holder)
            except DocentError as error:
                store.work.end(id, holder, testsets.FAILED, message=str(error))
            except Exception as error:
                # A fault of ours: on record, or the set would be made again and again.
                store.work.end(id, holder, testsets.FAILED, message=f"{type(error).__name__}: {error}")
                log.exception("the test set %s could not be made", id)
        return watch.reason != QUIT

    def _make(self, id: int, holder: str) -> None:
        use = self._stores
        ordered = use.testsets.find(id)
        if ordered is None:
            return
        chosen = ordered.chosen
        wanted = TestSetOptions(
            int(chosen["count"]), tuple(chosen["kinds"]), int(chosen["unanswerable"]), int(chosen["seed"])
        )
        made = questions_of_pages(self._engine, use.sites.get(ordered.site_id), wanted)
        if not made.cases:
            message = "these pages give no question of these kinds: choose other kinds"
            use.testsets.work.end(id, holder, testsets.FAILED, message=message)
            return
        missing = ". ".join(shortcomings(made, wanted))
        use.testsets.fill(id, holder, written_cases(made.cases, self._engine.settings), missing)

    def _run_one(self, ending: threading.Event) -> bool:
        store, holder = self._stores.runs, new_holder()
        id = store.work.claim(holder)
        run = store.find(id) if id is not None else None
        if run is None:
            return False
        tell = partial(_tell, store, run.id, holder)
        store.work.beat(run.id, holder, started_at=run.started_at or now())
        with Watch(tell, lambda: store.wanted(run.id) == quality_runs.STOP, ending) as watch:
            try:
                self._carry_out(run, holder, watch)
            except BuildStopped:
                self._leave(run, holder, watch)
            except DocentError as error:
                self._end(run, holder, quality_runs.FAILED, message=str(error))
            except Exception as error:
                # A fault of ours: on record, or the run would be taken up for ever.
                self._end(run, holder, quality_runs.FAILED, message=f"{type(error).__name__}: {error}")
                log.exception("run %s failed", run.id)
        self._tidy()
        return watch.reason != QUIT

    def _carry_out(self, run: quality_runs.QualityRun, holder: str, watch: Watch) -> None:
        log.info("run %s of %s begins", run.id, run.site_id)
        costs = carry_out(self._engine, self._stores, run, watch)
        if costs is not None:
            self._end(run, holder, quality_runs.ASKS, summary=[], chosen={**run.chosen, "costs": costs})
            return
        report = self._stores.runs.report_head(run.id)
        if report is None:
            return  # the run was deleted at this moment
        site = self._stores.sites.find(run.site_id)
        self._end(
            run,
            holder,
            quality_runs.DONE,
            summary=summary_of(report),
            questions=int(report["questions"].get("count", 0)),
            generation=site.generation if site else 0,
            message="",
        )
        log.info("run %s of %s is done", run.id, run.site_id)

    def _leave(self, run: quality_runs.QualityRun, holder: str, watch: Watch) -> None:
        work = self._stores.runs.work
        if watch.reason == QUIT:
            work.end(run.id, holder, WAITING)
            log.info("run %s is left to the next worker", run.id)
        elif watch.reason == ASKED:
            self._end(run, holder, quality_runs.STOPPED)

    def _end(self, run: quality_runs.QualityRun, holder: str, state: str, **values: object) -> None:
        work = self._stores.runs.work
        work.end(run.id, holder, state, finished_at=now(), wanted="", **values)

    def _tidy(self) -> None:
        """Removes the folders of runs that were deleted."""
        folder = self._stores.folder / FOLDER
        known = {run_folder(id, moment) for id, moment in self._stores.runs.queued().items()}
        for place in folder.iterdir() if folder.is_dir() else ():
            if re.fullmatch(r"\d+-\d+", place.name) and place.name not in known:
                shutil.rmtree(place, ignore_errors=True)


def stand_back(nice: int) -> None:
    """Lower the priority of this thread and of those that it starts."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
    except (AttributeError, OSError) as error:  # not on every system; then its priority stays
        log.info("the priority of quality runs cannot be lowered here: %s", error)


def _tell(
    store: quality_runs.QualityRunStore, id: int, holder: str, name: str, done: int, total: int
) -> bool:
    return store.work.beat(id, holder, step=name, done=done, total=total)
