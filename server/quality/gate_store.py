"""The quality gate of a site, and the checks of its new indexes.

A check that does not pass holds the new generation back; `decide` records the decision of an operator, and
the worker of its crawl carries it out.

    passed
    held --decide--> releasing --> released        (live, though it fell short)
                 +-> dropping ---> dropped
    held --a later crawl is measured--> replaced
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, delete, insert, select, update

from server.storage.columns import now
from server.storage.schema.quality import gate_checks as checks
from server.storage.schema.quality import quality_gates as gates
from server.storage.schema.sites import sites
from server.storage.store import Store, columns_of

PASSED, HELD = "passed", "held"
RELEASING, RELEASED = "releasing", "released"
DROPPING, DROPPED = "dropping", "dropped"
REPLACED = "replaced"
OPEN = (HELD, RELEASING, DROPPING)
"""The index waits for a decision, or for the decision to be carried out."""
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


_GATE, _CHECK = columns_of(Gate, gates), columns_of(Check, checks)
_HELD = (
    select(*_CHECK)
    .join(sites, sites.c.id == checks.c.site_id)
    .where(checks.c.state.in_(OPEN), checks.c.generation == sites.c.generation + 1)
)


class GateStore(Store):
    """Gates of all sites, at most one for each site."""

    def get(self, site_id: str) -> Gate | None:
        """The gate of a site; None: new indexes go live unchecked."""
        row = self._row(select(*_GATE).where(gates.c.site_id == site_id))
        return None if row is None else Gate(*row)

    def set(self, gate: Gate) -> None:
        """Set the gate of a site."""
        self._put(gates, asdict(gate))

    def remove(self, site_id: str) -> bool:
        """Delete the gate; return whether there was one. An index that is held back stays so until a
        decision."""
        return bool(self._write(delete(gates).where(gates.c.site_id == site_id)))

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
        of_site = _HELD.where(checks.c.site_id == site_id)
        row = self._row(of_site.order_by(checks.c.id.desc()).limit(1))
        return None if row is None else Check(*row)

    def all_held(self) -> dict[str, Check]:
        """Checks of the indexes that are held back now, by site."""
        return {row.site_id: Check(*row) for row in self._rows(_HELD.order_by(checks.c.id))}

    def all(self) -> dict[str, Gate]:
        """All gates by site."""
        return {row.site_id: Gate(*row) for row in self._rows(select(*_GATE))}

    def history(self, site_id: str, limit: int = 10) -> list[Check]:
        """The newest first."""
        wanted = select(*_CHECK).where(checks.c.site_id == site_id).order_by(checks.c.id.desc())
        return [Check(*row) for row in self._rows(wanted.limit(limit))]

    def settle(self, site_id: str) -> None:
        """Close open checks of generations that have gone live."""
        live = select(sites.c.generation).where(sites.c.id == site_id).scalar_subquery()
        ended = {RELEASING: RELEASED, HELD: REPLACED, DROPPING: DROPPED}
        of_past = (checks.c.site_id == site_id, checks.c.generation <= live, checks.c.state.in_(ended))
        self._write(update(checks).where(*of_past).values(state=case(ended, value=checks.c.state)))

    def decide(self, check: Check, state: str, decided_by: str = "") -> bool:
        """Move a held check to RELEASING or DROPPING, or one of these to RELEASED or DROPPED; false if its
        state has changed in the meantime."""
        values = {"state": state} | ({"decided_by": decided_by} if decided_by else {})
        same = (checks.c.id == check.id, checks.c.state == check.state)
        return bool(self._write(update(checks).where(*same).values(values)))
