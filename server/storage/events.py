"""What happened and is told to other systems; the database is the queue, as with messages to people."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import uuid4

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Delivery, DeliveryState
from server.domain.events import Event, EventKind
from server.storage.columns import now
from server.storage.database import Database
from server.storage.deliveries import Deliveries, DeliveryTables, new_delivery
from server.storage.errors import StorageError
from server.storage.tables import of_people
from server.storage.webhooks import WebhookStore

log = logging.getLogger(__name__)

_tables = of_people.events
_events = _tables.events
DELIVERED = DeliveryTables(_tables.deliveries, _tables.tries, owner="event_id", way="webhook_id")


def event_deliveries(db: Database) -> Deliveries[str]:
    """How events are sent; a way is the id of a webhook."""
    return Deliveries(db, DELIVERED, str)


class EventStore:
    """Implements Events: what no webhook wants is not kept."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._hooks = WebhookStore(db)

    def emit(self, kind: EventKind, site_id: str, data: Mapping[str, object], key: str = "") -> None:
        """Stores the event and one delivery for each webhook that wants it. Never raises."""
        try:
            wanting = [hook.id for hook in self._hooks.wanting(kind, site_id)]
            if wanting:
                self._add(kind, site_id, data, key, wanting)
        except StorageError as error:
            log.error("the event %s of site %r was not stored: %s", kind.value, site_id, error)

    def test(self, webhook_id: str) -> str:
        """An event for one webhook alone; returns its id."""
        return self._add(EventKind.TEST, "", {"message": "This is a test."}, "", [webhook_id])

    def get(self, id: str) -> Event | None:
        """The event, unless it is gone."""
        return self.among([id]).get(id)

    def among(self, ids: Collection[str]) -> dict[str, Event]:
        """Those of these that are kept, by id."""
        columns = [_events.c[name] for name in Event.__dataclass_fields__]
        with self._db.connect() as connection:
            rows = connection.execute(select(*columns).where(_events.c.id.in_(ids))).all()
        return {row.id: Event(**{**row._mapping, "kind": EventKind(row.kind)}) for row in rows}

    def sent(
        self, limit: int, offset: int = 0, *, webhook_id: str = "", state: DeliveryState | None = None
    ) -> list[tuple[Event, Delivery[str]]]:
        """Deliveries with their tries, those that were tried last first."""
        deliveries = DELIVERED.deliveries
        wanted = select(deliveries.c.id, deliveries.c.event_id).order_by(
            deliveries.c.next_at.desc(), deliveries.c.id
        )
        if webhook_id:
            wanted = wanted.where(deliveries.c.webhook_id == webhook_id)
        if state is not None:
            wanted = wanted.where(deliveries.c.state == state.value)
        with self._db.connect() as connection:
            rows = connection.execute(wanted.limit(limit).offset(offset)).all()
        events = self.among([row.event_id for row in rows])
        sent = event_deliveries(self._db).of([row.event_id for row in rows])
        known = {one.id: one for ways in sent.values() for one in ways}
        return [
            (events[row.event_id], known[row.id])
            for row in rows
            if row.event_id in events and row.id in known
        ]

    def forget(self, before: datetime) -> int:
        """Deletes events from before that moment, sent or not; returns how many."""
        with self._db.begin() as connection:
            return connection.execute(delete(_events).where(_events.c.at < before)).rowcount

    def _add(
        self, kind: EventKind, site_id: str, data: Mapping[str, object], key: str, wanting: list[str]
    ) -> str:
        at, id = now(), uuid4().hex
        event = {"id": id, "key": key or id, "kind": kind.value, "site_id": site_id, "at": at}
        try:
            with self._db.begin() as connection:
                connection.execute(insert(_events).values({**event, "data": dict(data)}))
                rows = [new_delivery(DELIVERED, id, hook, at) for hook in wanting]
                connection.execute(insert(DELIVERED.deliveries), rows)
        except IntegrityError:
            return ""  # it was told already, or the webhook was removed at this moment
        return id
