"""Asks a test set against the live index of a site and against the one to come."""

from collections.abc import Sequence
from typing import Any

from server.answering.engine import Engine
from server.domain.addresses import stored
from server.domain.derived import Monitor
from server.domain.site import Site
from server.evaluation.questions import Case
from server.jobs.gate import Measured
from server.quality.differences import WORSE, Differences, QuestionDifference, differences
from server.quality.gate_store import Gate
from server.quality.questions import case_of
from server.quality.testset_store import TestSetStore
from server.quality.variant import EvaluatedVariant, Evaluation
from server.settings import Settings
from server.storage.content.reader import ContentReader
from server.storage.database import Database

_RANKED = ("ndcg@10", "recall@5", "mrr@10", "hit@5")
"""Measured by ranking pages alone; for the others answers are written."""
GATE_METRICS = (*_RANKED, "citation_correct", "refused_answerable", "refused_unanswerable")
SHOWN = 30
"""Questions that came out worse that are kept with the check."""


def measure_gate(database: Database, engine: Engine, site: Site, gate: Gate, monitor: Monitor) -> Measured:
    """Asks a test set against the live index and the one to come. Raises BuildStopped, and what retrieval and
    models raise."""
    cases = _cases(TestSetStore(database), engine.settings, site, gate)
    live = ContentReader(database, site.id).live_generation()
    before, after = (
        Evaluation(EvaluatedVariant(engine, database, site, generation), writes=gate.metric not in _RANKED)
        for generation in (live, live + 1)
    )
    rows: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for number, case in enumerate(cases):
        monitor.step("measuring the new index", number, len(cases))
        for place, evaluation in zip(rows, (before, after), strict=True):
            place.append(_row(evaluation, case))
    found = differences(*rows, gate.metric)
    coming = ContentReader(database, site.id, live + 1)
    return _measured(found, cases, coming, engine.settings.serving.base_url)


def _cases(testsets: TestSetStore, settings: Settings, site: Site, gate: Gate) -> list[Case]:
    """The first questions of the set that the metric can judge."""
    unanswerable = gate.metric == "refused_unanswerable"
    found = []
    for one in testsets.cases(site.id, gate.testset_id):
        case = case_of(one, site, settings)
        if case.type == "unanswerable" if unanswerable else case.is_answerable:
            found.append(case)
    return found[: gate.most]


def _row(evaluation: Evaluation, case: Case) -> dict[str, Any]:
    row = evaluation.ask(case)
    kept = ("id", "question", "type", "verdicts", "search_ms", "answer_ms")
    return {name: getattr(row, name) for name in kept}


def _measured(found: Differences, cases: Sequence[Case], coming: ContentReader, base_url: str) -> Measured:
    rows = found.rows
    by_id = {case.id: case for case in cases}
    worse = [row for row in rows if row.verdict == WORSE]
    details = {
        "worse_count": len(worse),
        "worse_more": max(0, len(worse) - SHOWN),
        "worse": [_told(row, by_id[row.id], coming, base_url) for row in worse[:SHOWN]],
    }
    if not rows:
        return Measured(0.0, 0.0, 0.0, 0, details)
    before, after = (
        sum(value or 0.0 for value in values) / len(rows)
        for values in ([row.before for row in rows], [row.after for row in rows])
    )
    drop = -sum(row.gain for row in rows) / len(rows)
    return Measured(round(before, 6), round(after, 6), drop, len(rows), details)


def _told(row: QuestionDifference, case: Case, coming: ContentReader, base_url: str) -> dict[str, Any]:
    pages = [url for group in (case.expected_urls, *case.url_groups) for url in group]
    pages = list(dict.fromkeys(pages))[:5]
    return {
        **{"id": row.id, "question": row.question, "before": row.before, "after": row.after},
        **{"expected": pages, "present": [coming.find(stored(url, base_url)) is not None for url in pages]},
    }
