"""One run of a test set, as the worker carries it out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from server.answering.engine import Engine
from server.domain.derived import BuildStopped
from server.domain.spending import Used
from server.errors import StartError
from server.evaluation.report import ANSWERS
from server.quality.evaluating import Evaluating, EvaluationOrder, costs_of
from server.quality.questions import run_file_of
from server.quality.run_store import QualityRun, QualityRunStore
from server.quality.testset_store import TestSetStore
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.sites.sites import SiteStore

# Keeps a piece of quality work in touch with the installation while it runs: it says that it lives, how far
# it is, and learns that it is to end.


log = logging.getLogger(__name__)

BEAT_EVERY_S = 1.0
QUIT, LOST, ASKED = "quit", "lost", "asked"


class Watch:
    """Implements Monitor. `reason` says why the work shall end: QUIT (this process ends), LOST (it is
    somebody else's now, or was deleted) or ASKED (by its operator)."""

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
        self.used = Used()
        self.reason = ""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """As Monitor."""
        self.used = self.used.plus(used)

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
        if costs.calls:
            return costs.to_json()
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
    partial = place.with_suffix(".part")
    partial.write_text(run_file_of(cases), encoding="utf-8")
    partial.replace(place)


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
