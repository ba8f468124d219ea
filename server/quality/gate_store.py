"""The quality gate of a site, and the checks of its new indexes.

A check that does not pass holds the new generation back; `decide` records the decision of an operator, and
the worker of its crawl carries it out.

    passed
    held --decide--> releasing --> released        (live, though it fell short)
                 +-> dropping ---> dropped
    held --a later crawl is measured--> replaced
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.schema.quality import gate_checks as checks
from server.storage.schema.quality import quality_gates as gates
from server.storage.schema.sites import sites
from server.storage.statements import upsert

PASSED, HELD = "passed", "held"
RELEASING, RELEASED = "releasing", "released"
DROPPING, DROPPED = "dropping", "dropped"
REPLACED = "replaced"
OPEN = (HELD, RELEASING, DROPPING)
KEPT = 30
"""Checks of a site that are kept."""


@dataclass(frozen=True, slots=True)
class Gate:
    """How a new index of a site is measured before it goes live."""

    site_id: str
    testset_id: int
    metric: str
    largest_drop: float
    """How much worse it may be, in [0, 1]."""
    most: int
    """Questions that are asked at most."""


@dataclass(frozen=True, slots=True)
class Check:
    """The check of one new index against the live one."""

    id: int
    site_id: str
    crawl_id: int
    generation: int
    """The generation that was checked."""
    at: datetime
    state: str
    decided_by: str
    """The operator who released or dropped it."""
    metric: str
    before: float
    after: float
    largest_drop: float
    questions: int
    details: Mapping[str, Any]
    """The questions with worse answers, and what was asked."""

    @property
    def is_open(self) -> bool:
        """Return whether its index is waiting for a decision, or for the decision to be carried out."""
        return self.state in OPEN


_GATE = [gates.c[name] for name in Gate.__dataclass_fields__]
_CHECK = [checks.c[name] for name in Check.__dataclass_fields__]


class GateStore:
    """Gates of all sites, at most one for each site."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, site_id: str) -> Gate | None:
        """The gate of a site; None: new indexes go live unchecked."""
        with self._db.connect() as connection:
            row = connection.execute(select(*_GATE).where(gates.c.site_id == site_id)).first()
        return None if row is None else Gate(*row)

    def set(self, gate: Gate) -> None:
        """Set the gate of a site."""
        row = {name: getattr(gate, name) for name in Gate.__dataclass_fields__}
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, gates), row)

    def remove(self, site_id: str) -> bool:
        """Delete the gate; return whether there was one. An index that is held back stays so until a
        decision."""
        with self._db.begin() as connection:
            return bool(connection.execute(delete(gates).where(gates.c.site_id == site_id)).rowcount)

    def note(
        self, site_id: str, crawl_id: int, generation: int, state: str, values: Mapping[str, Any]
    ) -> Check:
        """Store the check of a new index, replacing one that was held back; `values` are the other fields of
        Check."""
        row = {
            **{"site_id": site_id, "crawl_id": crawl_id, "generation": generation, "state": state},
            **{"at": now(), "decided_by": "", **values},
        }
        with self._db.begin() as connection:
            waiting = (checks.c.site_id == site_id, checks.c.state.in_(OPEN))
            connection.execute(update(checks).where(*waiting).values(state=REPLACED))
            connection.execute(insert(checks).values(row))
            newest = select(checks.c.id).where(checks.c.site_id == site_id)
            newest = newest.order_by(checks.c.id.desc()).limit(KEPT)
            connection.execute(delete(checks).where(checks.c.site_id == site_id, checks.c.id.not_in(newest)))
        return self.history(site_id, 1)[0]

    def held(self, site_id: str) -> Check | None:
        """The check of the index that is held back now, if any."""
        wanted = select(*_CHECK).join(sites, sites.c.id == checks.c.site_id)
        wanted = wanted.where(
            checks.c.site_id == site_id,
            checks.c.state.in_(OPEN),
            checks.c.generation == sites.c.generation + 1,
        )
        with self._db.connect() as connection:
            row = connection.execute(wanted.order_by(checks.c.id.desc()).limit(1)).first()
        return None if row is None else Check(*row)

    def all_held(self) -> dict[str, Check]:
        """Checks of the indexes that are held back now, by site."""
        wanted = select(*_CHECK).join(sites, sites.c.id == checks.c.site_id)
        wanted = wanted.where(checks.c.state.in_(OPEN), checks.c.generation == sites.c.generation + 1)
        with self._db.connect() as connection:
            return {row.site_id: Check(*row) for row in connection.execute(wanted.order_by(checks.c.id))}

    def all(self) -> dict[str, Gate]:
        """All gates by site."""
        with self._db.connect() as connection:
            return {row.site_id: Gate(*row) for row in connection.execute(select(*_GATE))}

    def history(self, site_id: str, limit: int = 10) -> list[Check]:
        """The newest first."""
        wanted = select(*_CHECK).where(checks.c.site_id == site_id).order_by(checks.c.id.desc())
        with self._db.connect() as connection:
            return [Check(*row) for row in connection.execute(wanted.limit(limit))]

    def settle(self, site_id: str) -> None:
        """Close open checks of generations that have gone live."""
        live = select(sites.c.generation).where(sites.c.id == site_id).scalar_subquery()
        of_past = (checks.c.site_id == site_id, checks.c.generation <= live)
        with self._db.begin() as connection:
            for state, closed in ((RELEASING, RELEASED), (HELD, REPLACED), (DROPPING, DROPPED)):
                past = update(checks).where(*of_past, checks.c.state == state)
                connection.execute(past.values(state=closed))

    def decide(self, check: Check, state: str, decided_by: str = "") -> bool:
        """Move a held check to RELEASING or DROPPING, or one of these to RELEASED or DROPPED; false if its
        state has changed in the meantime."""
        values = {"state": state} | ({"decided_by": decided_by} if decided_by else {})
        same = (checks.c.id == check.id, checks.c.state == check.state)
        with self._db.begin() as connection:
            return bool(connection.execute(update(checks).where(*same).values(values)).rowcount)
