"""One run of a test set, as the worker carries it out."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from server.errors import StartError
from server.evaluation.report import ANSWERS
from server.services.evaluating import Evaluating, EvaluationOrder, without_model_cache
from server.services.live_settings import LiveSettings
from server.services.quality.costs import costs_of
from server.services.quality.questions import run_file_of
from server.services.quality.watch import Watch
from server.settings import Settings
from server.storage.quality_runs import QualityRun

if TYPE_CHECKING:
    from server.services.container import Services

FOLDER = "evaluations"
QUESTIONS = "questions.jsonl"
AGREED = "agreed"
SHOWN = (
    "hit@1", "hit@5", "recall@5", "mrr@10", "ndcg@10", "citation_correct", "refused_answerable",
    "refused_unanswerable", "p50_ms", "p95_ms", "search_p50_ms", "calls", "cost",
)  # fmt: skip
"""Figures of a way that lists and the chart over time show."""
JUDGED = ("context_relevance", "groundedness", "answer_relevance", "faithfulness")


def run_folder(id: int, queued_at: datetime) -> str:
    """Name of the folder of the journal and the report. A number may be given again; with the moment it is
    unique."""
    return f"{id}-{queued_at:%Y%m%d%H%M%S%f}"


def carry_out(services: Services, run: QualityRun, watch: Watch) -> dict[str, Any] | None:
    """Asks, judges and keeps the report; goes on where an earlier worker was cut off. Returns what it would
    take of models where that was not agreed to yet. Raises DocentError, BuildStopped."""
    folder = services.folder.path / FOLDER / run_folder(run.id, run.queued_at)
    _write_questions(services, run, folder / QUESTIONS)
    use = _measuring(services)
    evaluating = Evaluating(use, _order(run, folder))
    evaluating.open(watch)
    if not run.chosen.get(AGREED):
        costs = costs_of(use, evaluating)
        if costs.calls:
            return costs.to_json()
    report = evaluating.run(watch)
    services.quality_runs.keep_report(run.id, report, list(_answers(report, folder / ANSWERS)))
    return None


def summary_of(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each way with its main figures."""
    judged = {one["name"]: one["metrics"] for judge in report["judges"] for one in judge["runs"]}
    return [
        {
            "name": way["name"],
            "metrics": {name: way["metrics"].get(name) for name in SHOWN}
            | {name: judged.get(way["name"], {}).get(name) for name in JUDGED},
        }
        for way in report["runs"]
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


def _write_questions(services: Services, run: QualityRun, place: Path) -> None:
    """Once: a run that goes on asks what it began with."""
    if place.exists():
        return
    if run.testset_id is None:
        raise StartError("the test set was deleted before the run began: choose another one")
    cases = services.testsets.cases(run.site_id, run.testset_id)
    if not cases:
        raise StartError("the test set holds no question: add some first")
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(".part")
    beside.write_text(run_file_of(cases), encoding="utf-8")
    beside.replace(place)


def _measuring(services: Services) -> Services:
    """The same services, but for a model whose replies are not kept: every way pays for its own calls."""
    settings = without_model_cache(services.settings)
    if settings is services.settings or services.chat_model is None:
        return services
    use = copy.copy(services)
    use.live = _Fixed(settings)
    use._made = {name: made for name, made in services._made.items() if name != "chat_model"}
    return use


class _Fixed(LiveSettings):
    """These settings, whatever is changed meanwhile: a run measures one thing."""

    def __init__(self, settings: Settings) -> None:
        self.base = settings

    @property
    def current(self) -> Settings:
        return self.base


def _answers(report: Mapping[str, Any], place: Path) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """(way, question, what came of it), by the number of the way in the report."""
    number = {(way["strategy"], way["flow"]): at for at, way in enumerate(report["runs"])}
    for line in place.read_bytes().splitlines():
        row = orjson.loads(line)
        yield number[row["strategy"], row["flow"]], str(row["id"]), row
