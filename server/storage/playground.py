"""Runs of the playground: what was asked, and what each way made of it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownPlaygroundRun
from server.storage.tables import of_playground

runs, ways = of_playground.runs, of_playground.ways

ASKING, DONE, FAILED = "asking", "done", "failed"
"""States of a way."""
REMOVED_AT_ONCE = 100
"""Old runs that go in one transaction."""


@dataclass(frozen=True, slots=True)
class KeptWay:
    """One way of a run. `result` is empty while it is being asked, and says why when it failed."""

    number: int
    state: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One question of an operator, with the settings that it was asked with."""

    id: str
    """Not guessable: who knows it and is logged in may look."""
    site_id: str
    asked_at: datetime
    asked_by: str
    question: str
    asked: Mapping[str, Any]
    ways: tuple[KeptWay, ...] = ()


class PlaygroundStore:
    """Keeps runs for a number of days, and so many of each site."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(
        self, site_id: str, question: str, asked: Mapping[str, Any], count: int, asked_by: str
    ) -> KeptRun:
        """A run of `count` ways, all of which are still to be asked."""
        run = KeptRun(secrets.token_urlsafe(16), site_id, now(), asked_by, question, asked)
        row = {name: getattr(run, name) for name in ("id", "site_id", "asked_at", "asked_by", "question")}
        waiting = [{"run_id": run.id, "number": n, "state": ASKING, "result": {}} for n in range(count)]
        with self._db.begin() as connection:
            connection.execute(insert(runs).values(**row, asked=dict(asked)))
            connection.execute(insert(ways), waiting)
        return run

    def finish(self, run_id: str, number: int, state: str, result: Mapping[str, Any]) -> bool:
        """What came of one way; False when that is settled already, or the run is gone."""
        open_one = (ways.c.run_id == run_id, ways.c.number == number, ways.c.state == ASKING)
        with self._db.begin() as connection:
            done = connection.execute(update(ways).where(*open_one).values(state=state, result=dict(result)))
        return bool(done.rowcount)

    def get(self, run_id: str) -> KeptRun:
        """Raises UnknownPlaygroundRun."""
        with self._db.connect() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).first()
            found = connection.execute(
                select(ways.c.number, ways.c.state, ways.c.result)
                .where(ways.c.run_id == run_id)
                .order_by(ways.c.number)
            ).all()
        if row is None:
            raise UnknownPlaygroundRun("this run of the playground is not known: it may have been removed")
        return KeptRun(**row._mapping, ways=tuple(KeptWay(*one) for one in found))

    def recent(self, limit: int = 10) -> list[KeptRun]:
        """The newest of all sites, without what came of them."""
        wanted = select(runs).order_by(runs.c.asked_at.desc()).limit(limit)
        with self._db.connect() as connection:
            return [KeptRun(**row._mapping) for row in connection.execute(wanted)]

    def forget(self, before: datetime) -> int:
        """Removes some of the runs that are older; how many. Call it again until there are none."""
        old = select(runs.c.id).where(runs.c.asked_at < before).limit(REMOVED_AT_ONCE)
        return self._remove(old)

    def prune(self, site_id: str, most: int) -> int:
        """Removes some of a site's oldest runs beyond `most`; how many."""
        newest_first = select(runs.c.id).where(runs.c.site_id == site_id).order_by(runs.c.asked_at.desc())
        return self._remove(newest_first.offset(most).limit(REMOVED_AT_ONCE))

    def _remove(self, chosen: Select[tuple[str]]) -> int:
        with self._db.begin() as connection:
            gone = connection.execute(chosen).scalars().all()
            if gone:
                connection.execute(delete(runs).where(runs.c.id.in_(gone)))
        return len(gone)
