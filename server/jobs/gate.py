"""The quality gate: before the index of a crawl goes live, the questions of a test set are asked of it and of
the live one."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from server.domain.derived import Monitor
from server.domain.protocols import Incidents
from server.domain.site import Site
from server.indexing.indexer import SiteIndex
from server.quality.gate_store import DROPPED, PASSED, RELEASED, Check, Gate, GateStore
from server.storage.content.content import ContentStore
from server.storage.content.derived import DerivedStore
from server.storage.crawls.runs import HELD
from server.storage.database import Database

log = logging.getLogger(__name__)

TOLERANCE = 1e-9
"""Rounding error of sums of fractions."""


class HeldBackIndex(Exception):
    """The new index is not live; the message says by how much it fell short, and what to do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The index to come against the live one."""

    before: float
    after: float
    drop: float
    """By how much it is worse; below 0 when it is better."""
    questions: int
    """Questions that both could be judged by."""
    details: Mapping[str, Any]


Measure = Callable[[Site, Gate, Monitor], Measured]


@dataclass(eq=False)
class CrawlGate:
    """The gate that one crawl of a site has to pass."""

    _db: Database
    _incidents: Incidents
    _measure: Measure
    _site: Site
    _crawl_id: int

    def __post_init__(self) -> None:
        self._gates = GateStore(self._db)
        self._content = ContentStore(self._db, self._site.id)
        self._gates.settle(self._site.id)

    @property
    def is_on(self) -> bool:
        """Return whether a new index is measured."""
        return self._gates.get(self._site.id) is not None

    @property
    def held(self) -> Check | None:
        """What is held back now; a crawl goes on from there."""
        return self._gates.held(self._site.id)

    def released(self, check: Check) -> None:
        """Notes that it is live now."""
        self._gates.decide(check, RELEASED)

    def dropped(self, check: Check) -> None:
        """Notes that it was dropped, and drops what was derived for it."""
        DerivedStore(self._db, self._site.id).drop_coming()
        self._gates.decide(check, DROPPED)

    def measure(self, index: SiteIndex) -> None:
        """Measure the new state, which is about to replace a live one. Raises what `check` raises."""
        if index.is_stale(self._site, self._content):
            index.indexer.index_coming()
        self.check(index.indexer.monitor)

    def check(self, monitor: Monitor) -> None:
        """Raises HeldBackIndex; BuildStopped, and what retrieval and models raise: then nothing is decided,
        and the live index stays."""
        gate = self._gates.get(self._site.id)
        if gate is None:
            return
        found = self._measure(self._site, gate, monitor)
        values = {
            **{"metric": gate.metric, "before": found.before, "after": found.after},
            **{"largest_drop": gate.largest_drop, "questions": found.questions},
            "details": dict(found.details),
        }
        passed = bool(found.questions) and found.drop <= gate.largest_drop + TOLERANCE
        generation = self._content.next_generation()
        self._gates.note(self._site.id, self._crawl_id, generation, PASSED if passed else HELD, values)
        if passed:
            log.info("crawl %s passes the gate: %s", self._crawl_id, _summary(gate, found))
            return
        message = _summary(gate, found)
        incident = {"crawl": self._crawl_id, "metric": gate.metric}
        self._incidents.record(self._site.id, "index_held_back", message, incident)
        raise HeldBackIndex(f"{message}. Visitors keep the previous index")


def _summary(gate: Gate, found: Measured) -> str:
    if not found.questions:
        return (
            f"held back: no question of the gate's test set can be judged by {gate.metric}; choose another "
            "set or another figure"
        )
    worse = found.details.get("worse_count", 0)
    return (
        f"{worse} of {found.questions} test questions got worse: {gate.metric} fell from {found.before:.3f} "
        f"to {found.after:.3f}, and {100 * gate.largest_drop:.1f} points may be lost"
    )
