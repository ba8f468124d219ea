"""Incidents of which other systems are told too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from server.domain.events import EventKind, Events
from server.storage.database import Database
from server.storage.incidents import IncidentStore

TOLD = {"crawl_failed": EventKind.CRAWL_FAILED, "budget_spent": EventKind.BUDGET_SPENT}


class WatchedIncidents(IncidentStore):
    """Tells of failed crawls each time, of spent budgets once a day for each site."""

    def __init__(self, db: Database, events: Events) -> None:
        super().__init__(db)
        self._events = events

    def record(
        self, site_id: str, kind: str, message: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Never raises."""
        super().record(site_id, kind, message, details)
        if told := TOLD.get(kind):
            today = datetime.now(UTC).date().isoformat()
            once = f"{told.value}:{site_id}:{today}" if told is EventKind.BUDGET_SPENT else ""
            self._events.emit(told, site_id, {"message": message}, once)
