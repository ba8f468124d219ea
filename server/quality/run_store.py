"""Runs of test sets: their options, progress and reports.

waiting --claim--> running --end--> done, failed, stopped, or asks --agree--> waiting
   ^                  |
   +---- resume ------+- claimed again after its process was killed
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import delete, func, insert, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.leases import RUNNING, WAITING, WorkStates
from server.storage.schema.quality import quality_answers as answers
from server.storage.schema.quality import quality_reports as reports
from server.storage.schema.quality import quality_runs as runs
from server.storage.store import Store, columns_of, existing, raising

DONE, FAILED, STOPPED = "done", "failed", "stopped"
ASKS = "asks"
"""Waits until an operator accepts the cost."""
STOP = "stop"


@dataclass(frozen=True, slots=True)
class QualityRun:
    """One run, without its report."""

    id: int
    site_id: str
    testset_id: int | None
    """None when the set was deleted."""
    testset_name: str
    state: str
    """waiting, running, asks, done, failed or stopped."""
    wanted: str
    """"stop" when an operator asked for that and it is not yet done."""
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    chosen: Mapping[str, Any]
    """Strategies, flows, judge, limit and the like."""
    step: str
    done: int
    total: int
    message: str
    """Why it failed."""
    generation: int
    """Generation of the index under test; 0 before it is known."""
    questions: int
    summary: Sequence[Mapping[str, Any]]
    """Name and main figures of each variant."""

    @property
    def is_open(self) -> bool:
        """Return whether it waits or runs."""
        return self.state in (WAITING, RUNNING)


_FIELDS = columns_of(QualityRun, runs)


class QualityRunStore(Store):
    """Runs of all sites; one of another site is as if it did not exist."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.work = WorkStates(db, runs)

    def queue(
        self, site_id: str, testset_id: int, testset_name: str, chosen: Mapping[str, Any], kept: int
    ) -> QualityRun:
        """Queue a run; of the finished runs the newest `kept` stay. Raises UnknownSite."""
        row = {
            **{"site_id": site_id, "testset_id": testset_id, "testset_name": testset_name},
            **{"state": WAITING, "wanted": "", "holder": "", "queued_at": now(), "chosen": dict(chosen)},
            **{"step": "", "done": 0, "total": 0, "message": "", "generation": 0, "questions": 0},
            "summary": [],
        }
        gone = UnknownSite(f"the site {site_id!r} or its test set was removed meanwhile")
        with raising(gone), self._db.begin() as connection:
            key: Any = connection.execute(insert(runs).values(row)).inserted_primary_key
            ended = (runs.c.site_id == site_id, runs.c.state.not_in((WAITING, RUNNING)))
            newest = select(runs.c.id).where(*ended).order_by(runs.c.id.desc()).limit(kept)
            connection.execute(delete(runs).where(*ended, runs.c.id.not_in(newest)))
        return self.get(site_id, int(key[0]))

    def get(self, site_id: str, id: int) -> QualityRun:
        """The run of this site. Raises UnknownRecord."""
        found = self._load(select(*_FIELDS).where(runs.c.site_id == site_id, runs.c.id == id))
        gone = f"the site {site_id!r} has no run {id}: it was deleted, or is one of the old ones"
        return existing(found, UnknownRecord(gone))

    def find(self, id: int) -> QualityRun | None:
        """The run of any site."""
        found = self._load(select(*_FIELDS).where(runs.c.id == id))
        return found[0] if found else None

    def all(self, site_id: str, limit: int = 50, offset: int = 0) -> list[QualityRun]:
        """Newest first, of one site."""
        wanted = select(*_FIELDS).where(runs.c.site_id == site_id).order_by(runs.c.id.desc())
        return self._load(wanted.limit(limit).offset(offset))

    def newest(self) -> dict[str, QualityRun]:
        """The newest run of each site that has any."""
        last = select(func.max(runs.c.id)).group_by(runs.c.site_id)
        return {run.site_id: run for run in self._load(select(*_FIELDS).where(runs.c.id.in_(last)))}

    def ended_of(self, testset_id: int, limit: int = 40) -> list[QualityRun]:
        """Runs of a set that have a report, the newest first."""
        same = (runs.c.testset_id == testset_id, runs.c.state == DONE)
        return self._load(select(*_FIELDS).where(*same).order_by(runs.c.id.desc()).limit(limit))

    def before(self, run: QualityRun) -> int:
        """How many runs of the installation are ahead of a waiting run."""
        earlier = (runs.c.state.in_((WAITING, RUNNING)), runs.c.id < run.id)
        return int(self._scalar(select(func.count()).where(*earlier)))

    def queued(self) -> dict[int, datetime]:
        """Run -> when it was queued."""
        return {id: moment for id, moment in self._rows(select(runs.c.id, runs.c.queued_at))}

    def wanted(self, id: int) -> str:
        """The request of an operator to a run; "stop" for a deleted run."""
        found = self._scalar(select(runs.c.wanted).where(runs.c.id == id))
        return STOP if found is None else str(found)

    def stop(self, site_id: str, id: int) -> bool:
        """Stop a waiting run, or request a running one to stop; false if it has ended."""
        one = (runs.c.site_id == site_id, runs.c.id == id)
        with self._db.begin() as connection:
            waiting = update(runs).where(*one, runs.c.state == WAITING)
            if connection.execute(waiting.values(state=STOPPED, finished_at=now())).rowcount:
                return True
            running = update(runs).where(*one, runs.c.state == RUNNING)
            return bool(connection.execute(running.values(wanted=STOP)).rowcount)

    def resume(self, site_id: str, id: int) -> bool:
        """Resume a stopped or failed run; false for any other."""
        ended = (runs.c.site_id == site_id, runs.c.id == id, runs.c.state.in_((STOPPED, FAILED)))
        values = {"state": WAITING, "wanted": "", "holder": "", "message": "", "finished_at": None}
        return bool(self._write(update(runs).where(*ended).values(values)))

    def agree(self, site_id: str, id: int, chosen: Mapping[str, Any]) -> bool:
        """Accept the cost of a run that waits for it, with these options; false for any other."""
        asks = (runs.c.site_id == site_id, runs.c.id == id, runs.c.state == ASKS)
        waiting = update(runs).where(*asks).values(state=WAITING, chosen=dict(chosen), finished_at=None)
        return bool(self._write(waiting))

    def remove(self, site_id: str, id: int) -> bool:
        """Delete a run; return whether it existed. Its worker stops."""
        return bool(self._write(delete(runs).where(runs.c.site_id == site_id, runs.c.id == id)))

    def keep_report(
        self, id: int, report: Mapping[str, Any], results: Sequence[tuple[int, str, Mapping[str, Any]]]
    ) -> None:
        """Store the report of a run, with (variant, question, result) for every answer. Idempotent."""
        parts: list[Any] = [{**report, "rows": []}]
        parts += [
            [row for row in report["rows"] if row["run"] == variant["name"]] for variant in report["runs"]
        ]
        bodies = [
            {"run_id": id, "part": number, "body": zlib.compress(orjson.dumps(part, default=str), 6)}
            for number, part in enumerate(parts)
        ]
        rows = [
            {"run_id": id, "way": variant, "case_id": case, "body": dict(said)}
            for variant, case, said in results
        ]
        with self._db.begin() as connection:
            connection.execute(delete(reports).where(reports.c.run_id == id))
            connection.execute(insert(reports), bodies)
            connection.execute(delete(answers).where(answers.c.run_id == id))
            if rows:
                connection.execute(insert(answers), rows)

    def report(self, id: int) -> dict[str, Any] | None:
        """The report, as made by server.evaluation.report; None if there is none."""
        found = self.report_head(id)
        if found is not None:
            variants = range(len(found["runs"]))
            found["rows"] = [row for variant in variants for row in self.report_rows(id, variant)]
        return found

    def report_head(self, id: int) -> dict[str, Any] | None:
        """The report without its rows; None for a run that has none."""
        found: dict[str, Any] | None = self._part(id, 0)
        return found

    def report_rows(self, id: int, variant: int) -> list[dict[str, Any]]:
        """Rows of one variant of the report, by its number."""
        found: list[dict[str, Any]] = self._part(id, variant + 1) or []
        return found

    def _part(self, id: int, part: int) -> Any:
        one = select(reports.c.body).where(reports.c.run_id == id, reports.c.part == part)
        body = self._scalar(one)
        return None if body is None else orjson.loads(zlib.decompress(body))

    def answers(self, id: int, variant: int, cases: Sequence[str]) -> dict[str, Any]:
        """Results of one variant for these questions."""
        same = (answers.c.run_id == id, answers.c.way == variant, answers.c.case_id.in_(cases))
        rows = self._rows(select(answers.c.case_id, answers.c.body).where(*same))
        return {row.case_id: row.body for row in rows}

    def every_answer(self, id: int) -> Iterator[Any]:
        """Results of every question, variant by variant."""
        ordered = select(answers.c.body).where(answers.c.run_id == id).order_by(answers.c.way)
        with self._db.connect() as connection:
            yield from connection.execute(ordered).scalars()

    def _load(self, wanted: Any) -> list[QualityRun]:
        return [QualityRun(**row._mapping) for row in self._rows(wanted)]
