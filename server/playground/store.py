"""Runs of the playground: the question, and the result of each variant."""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from server.storage.columns import now
from server.storage.errors import UnknownRecord
from server.storage.schema.quality import playground_runs as runs
from server.storage.schema.quality import playground_ways as variants
from server.storage.store import Store

ASKING, DONE, FAILED = "asking", "done", "failed"
"""States of a variant."""
REMOVED_AT_ONCE = 100
"""Old runs that one transaction deletes."""


@dataclass(frozen=True, slots=True)
class KeptVariant:
    """One variant of a run. `result` is empty while it runs, and holds the reason if it failed."""

    number: int
    state: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One question of an operator with its settings."""

    id: str
    """Not guessable."""
    site_id: str
    asked_at: datetime
    asked_by: str
    question: str
    asked: Mapping[str, Any]
    variants: tuple[KeptVariant, ...] = ()


class PlaygroundStore(Store):
    """Runs of all sites, kept for a limited time and number."""

    def start(
        self, site_id: str, question: str, asked: Mapping[str, Any], count: int, asked_by: str
    ) -> KeptRun:
        """Store a new run of `count` variants, none of which has run yet."""
        run = KeptRun(secrets.token_urlsafe(16), site_id, now(), asked_by, question, asked)
        row = {name: getattr(run, name) for name in ("id", "site_id", "asked_at", "asked_by", "question")}
        waiting = [{"run_id": run.id, "number": n, "state": ASKING, "result": {}} for n in range(count)]
        with self._db.begin() as connection:
            connection.execute(insert(runs).values(**row, asked=dict(asked)))
            connection.execute(insert(variants), waiting)
        return run

    def finish(self, run_id: str, number: int, state: str, result: Mapping[str, Any]) -> bool:
        """Store the result of a variant; False if it has one already, or the run is gone."""
        open_one = (variants.c.run_id == run_id, variants.c.number == number, variants.c.state == ASKING)
        with self._db.begin() as connection:
            done = connection.execute(
                update(variants).where(*open_one).values(state=state, result=dict(result))
            )
        return bool(done.rowcount)

    def get(self, run_id: str) -> KeptRun:
        """The run with this id. Raises UnknownRecord."""
        with self._db.connect() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).first()
            found = connection.execute(
                select(variants.c.number, variants.c.state, variants.c.result)
                .where(variants.c.run_id == run_id)
                .order_by(variants.c.number)
            ).all()
        if row is None:
            raise UnknownRecord("this run of the playground is not known: it may have been removed")
        return KeptRun(**row._mapping, variants=tuple(KeptVariant(*one) for one in found))

    def recent(self, limit: int = 10, site_ids: Collection[str] | None = None) -> list[KeptRun]:
        """The newest runs of these sites or all, without results."""
        wanted = select(runs).order_by(runs.c.asked_at.desc()).limit(limit)
        if site_ids is not None:
            wanted = wanted.where(runs.c.site_id.in_(site_ids))
        return [KeptRun(**row._mapping) for row in self._rows(wanted)]

    def forget(self, before: datetime) -> int:
        """Delete one batch of older runs; return how many. Call it again until it returns 0."""
        old = select(runs.c.id).where(runs.c.asked_at < before).limit(REMOVED_AT_ONCE)
        return self._remove(old)

    def prune(self, site_id: str, most: int) -> int:
        """Delete one batch of a site's oldest runs beyond `most`; return how many."""
        newest_first = select(runs.c.id).where(runs.c.site_id == site_id).order_by(runs.c.asked_at.desc())
        return self._remove(newest_first.offset(most).limit(REMOVED_AT_ONCE))

    def _remove(self, chosen: Select[tuple[str]]) -> int:
        with self._db.begin() as connection:
            gone = connection.execute(chosen).scalars().all()
            if gone:
                connection.execute(delete(runs).where(runs.c.id.in_(gone)))
        return len(gone)
