"""One run of a test set, as the worker carries it out."""

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import orjson

from server.answering.engine import Engine
from server.domain.derived import BuildStopped
from server.domain.spending import Used
from server.errors import DocentError, StartError
from server.evaluation.report import ANSWERS
from server.evaluation.testsets import TestSetOptions
from server.quality import run_store as quality_runs
from server.quality import testset_store as testsets
from server.quality.evaluating import Evaluating, EvaluationOrder, costs_of
from server.quality.questions import questions_of_pages, run_file_of, shortcomings, written_cases
from server.quality.run_store import QualityRun, QualityRunStore
from server.quality.testset_store import TestSetStore
from server.storage.columns import now
from server.storage.data_folder import replace_file
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.leases import WAITING, new_holder
from server.storage.sites.sites import SiteStore

log = logging.getLogger(__name__)

BEAT_EVERY_S = 1.0
QUIT, LOST, ASKED = "quit", "lost", "asked"


class Watch:
    """Implements Monitor: while a piece of quality work runs, it reports that it lives and how far it is.
    `reason` says why the work shall end: QUIT (this process ends), LOST (it is somebody else's now, or was
    deleted) or ASKED (by its operator)."""

    def __init__(
        self, tell: Callable[[str, int, int], bool], is_asked: Callable[[], bool], ending: threading.Event
    ) -> None:
        """`tell` says that the work goes on, with name, done and total of its step; false when it is lost."""
        self._tell = tell
        self._is_asked = is_asked
        self._ending = ending
        self._over = threading.Event()
        self._step = ("", 0, 0)
        self._thread = threading.Thread(target=self._run, name="quality-watch", daemon=True)
        self.reason = ""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join(timeout=5)

    def step(self, name: str, done: int, total: int) -> None:
        """As Monitor."""
        self._step = (name, done, total)
        if self._ending.is_set() and not self.reason:
            self.reason = QUIT
        if self.reason:
            raise BuildStopped(f"ended at {name}, {done} of {total}")

    def spent(self, used: Used) -> None:
        """Counted by the models themselves."""

    def _run(self) -> None:
        while not self._over.wait(BEAT_EVERY_S):
            try:
                if not self._tell(*self._step):
                    self.reason = self.reason or LOST
                elif self._is_asked():
                    self.reason = self.reason or ASKED
            except StorageError as error:
                log.warning("quality work cannot say that it lives: %s", error)


FOLDER = "evaluations"
QUESTIONS = "questions.jsonl"
AGREED = "agreed"
RUN = "run"
"""Among the options of a test set: those of a run that is queued as soon as the set has questions."""
SHOWN = (
    "hit@1", "hit@5", "recall@5", "mrr@10", "ndcg@10", "citation_correct", "refused_answerable",
    "refused_unanswerable", "p50_ms", "p95_ms", "search_p50_ms", "calls", "cost",
)  # fmt: skip
"""Figures of a variant that lists and the chart over time show."""
JUDGED = ("context_relevance", "groundedness", "answer_relevance", "faithfulness")


def run_folder(id: int, queued_at: datetime) -> str:
    """Name of the folder of the journal and the report. A number may be given again; with the moment it is
    unique."""
    return f"{id}-{queued_at:%Y%m%d%H%M%S%f}"


@dataclass(frozen=True, slots=True)
class RunStores:
    """What a run is read from and kept in."""

    database: Database
    folder: Path
    """The data folder."""
    sites: SiteStore
    testsets: TestSetStore
    runs: QualityRunStore


def carry_out(engine: Engine, stores: RunStores, run: QualityRun, watch: Watch) -> dict[str, Any] | None:
    """Asks, judges and keeps the report; goes on where an earlier worker was cut off. Returns what it would
    take of models where that was not agreed to yet. Raises DocentError, BuildStopped."""
    folder = stores.folder / FOLDER / run_folder(run.id, run.queued_at)
    _write_questions(stores.testsets, run, folder / QUESTIONS)
    use = engine.without_model_cache()
    evaluating = Evaluating(use, stores.database, stores.sites, _order(run, folder))
    evaluating.open(watch)
    if not run.chosen.get(AGREED):
        costs = costs_of(use, evaluating)
        if costs["calls"]:
            return costs
    report = evaluating.run(watch)
    stores.runs.keep_report(run.id, report, list(_answers(report, folder / ANSWERS)))
    return None


def summary_of(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each variant with its main figures."""
    judged = {one["name"]: one["metrics"] for judge in report["judges"] for one in judge["runs"]}
    return [
        {
            "name": variant["name"],
            "metrics": {name: variant["metrics"].get(name) for name in SHOWN}
            | {name: judged.get(variant["name"], {}).get(name) for name in JUDGED},
        }
        for variant in report["runs"]
    ]


def _order(run: QualityRun, folder: Path) -> EvaluationOrder:
    chosen = run.chosen
    return EvaluationOrder(
        out=folder,
        site=run.site_id,
        questions=folder / QUESTIONS,
        strategies=tuple(chosen["strategies"]),
        flows=tuple(chosen["flows"]),
        limit=int(chosen["limit"]),
        judge=str(chosen["judge"]),
        abilities=int(chosen["abilities"]),
        writes=bool(chosen["writes"]),
    )


def _write_questions(testsets: TestSetStore, run: QualityRun, place: Path) -> None:
    """Once: a run that goes on asks what it began with."""
    if place.exists():
        return
    if run.testset_id is None:
        raise StartError("the test set was deleted before the run began: choose another one")
    cases = testsets.cases(run.site_id, run.testset_id)
    if not cases:
        raise StartError("the test set holds no question: add some first")
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_file(place, run_file_of(cases).encode())


def _answers(report: Mapping[str, Any], place: Path) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """(variant, question, what came of it), by the number of the variant in the report."""
    number = {(variant["strategy"], variant["flow"]): at for at, variant in enumerate(report["runs"])}
    for line in place.read_bytes().splitlines():
        row = orjson.loads(line)
        yield number[row["strategy"], row["flow"]], str(row["id"]), row


def json_report(report: Mapping[str, Any]) -> bytes:
    """As `evaluate` writes report.json."""
    return orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n"


def answer_lines(store: QualityRunStore, id: int) -> Iterator[bytes]:
    """As `evaluate` writes answers.jsonl."""
    for answer in store.every_answer(id):
        yield orjson.dumps(answer) + b"\n"


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
        """Return whether there was anything to do."""
        self._tidy()
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
        settings = self._engine.settings
        filled = use.testsets.fill(id, holder, written_cases(made.cases, settings), missing)
        if filled and RUN in chosen:
            use.runs.queue(ordered.site_id, id, ordered.name, chosen[RUN], settings.quality.runs_kept)

    def _run_one(self, ending: threading.Event) -> bool:
        store, holder = self._stores.runs, new_holder()
        id = store.work.claim(holder)
        run = store.find(id) if id is not None else None
        if run is None:
            return False

        def tell(name: str, done: int, total: int) -> bool:
            return store.work.beat(run.id, holder, step=name, done=done, total=total)

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
        """Removes the folders of runs that were deleted, or that hold questions of an erased visitor."""
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
