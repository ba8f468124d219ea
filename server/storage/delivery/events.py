"""Events for other systems, and the webhooks that receive them. The database is the queue."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Delivery, DeliveryState
from server.domain.events import Event, EventKind
from server.storage.columns import now
from server.storage.database import Database
from server.storage.delivery.deliveries import Deliveries, DeliveryTables, new_delivery
from server.storage.errors import StorageError, UnknownRecord
from server.storage.schema import delivery as tables
from server.storage.schema.delivery import events, webhooks
from server.storage.store import Store, columns_of, existing


@dataclass(frozen=True, slots=True)
class EventHook:
    """A webhook of the installation."""

    id: str
    url: str
    secret: str
    """Sealed."""
    kinds: frozenset[EventKind]
    site_id: str | None
    """The only site whose events it gets; None for all."""
    on: bool
    made_at: datetime


class WebhookStore(Store):
    """Webhooks of the installation. A site's webhook for messages to people is an option of the site."""

    def all(self) -> list[EventHook]:
        """The oldest first."""
        return self._load(select(webhooks).order_by(webhooks.c.made_at, webhooks.c.id))

    def get(self, id: str) -> EventHook:
        """Raises UnknownRecord."""
        return existing(self._load(select(webhooks).where(webhooks.c.id == id)), _unknown(id))

    def wanting(self, kind: EventKind, site_id: str) -> list[EventHook]:
        """Active webhooks that subscribe to this kind of event of this site."""
        theirs = or_(webhooks.c.site_id.is_(None), webhooks.c.site_id == site_id)
        found = self._load(select(webhooks).where(webhooks.c.on, theirs))
        return [hook for hook in found if kind in hook.kinds]

    def add(self, url: str, sealed: str, kinds: Collection[EventKind], site_id: str | None) -> str:
        """Add a webhook; return its id."""
        made = EventHook(uuid4().hex, url, sealed, frozenset(kinds), site_id, True, now())
        self._write(insert(webhooks), {**asdict(made), "kinds": sorted(made.kinds)})
        return made.id

    def change(self, id: str, **values: object) -> None:
        """Change `url`, `secret`, `kinds`, `site_id` or `on`. Raises UnknownRecord."""
        if not self._write(update(webhooks).where(webhooks.c.id == id).values(**values)):
            raise _unknown(id)

    def remove(self, id: str) -> None:
        """Delete a webhook with its delivery log. Raises UnknownRecord."""
        if not self._write(delete(webhooks).where(webhooks.c.id == id)):
            raise _unknown(id)

    def _load(self, wanted: Any) -> list[EventHook]:
        known = {kind.value for kind in EventKind}
        return [
            EventHook(
                **{**row._mapping, "kinds": frozenset(EventKind(one) for one in row.kinds if one in known)}
            )
            for row in self._rows(wanted)
        ]


def _unknown(id: str) -> UnknownRecord:
    return UnknownRecord(f"there is no webhook {id!r}: it was removed, or never was")


log = logging.getLogger(__name__)

DELIVERED = DeliveryTables(tables.event_deliveries, tables.event_tries, owner="event_id", way="webhook_id")


event_deliveries = partial(Deliveries[str], tables=DELIVERED, way=str)
"""Deliveries of events to webhooks."""


class EventStore(Store):
    """Receives what happened. An event that no webhook subscribes to is not stored."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._hooks = WebhookStore(db)

    def emit(self, kind: EventKind, site_id: str, data: Mapping[str, object], key: str = "") -> None:
        """Stores the event and one delivery for each webhook that wants it. Of events with the same `key`
        only the first is sent. Never raises: the caller's work goes on even if nothing can be sent."""
        try:
            wanting = [hook.id for hook in self._hooks.wanting(kind, site_id)]
            if wanting:
                self._add(kind, site_id, data, key, wanting)
        except StorageError as error:
            log.error("the event %s of site %r was not stored: %s", kind.value, site_id, error)

    def test(self, webhook_id: str) -> str:
        """An event for one webhook alone; returns its id."""
        return self._add(EventKind.TEST, "", {"message": "This is a test."}, "", [webhook_id])

    def among(self, ids: Collection[str]) -> dict[str, Event]:
        """Stored events by id."""
        rows = self._rows(select(*columns_of(Event, events)).where(events.c.id.in_(ids)))
        return {row.id: Event(**{**row._mapping, "kind": EventKind(row.kind)}) for row in rows}

    def sent(
        self, limit: int, offset: int = 0, *, webhook_id: str = "", state: DeliveryState | None = None
    ) -> list[tuple[Event, Delivery[str]]]:
        """Deliveries with their attempts, the most recent first."""
        deliveries = DELIVERED.deliveries
        wanted = select(deliveries.c.id, deliveries.c.event_id).order_by(
            deliveries.c.next_at.desc(), deliveries.c.id
        )
        if webhook_id:
            wanted = wanted.where(deliveries.c.webhook_id == webhook_id)
        if state is not None:
            wanted = wanted.where(deliveries.c.state == state.value)
        rows = self._rows(wanted.limit(limit).offset(offset))
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
        return self._write(delete(events).where(events.c.at < before))

    def _add(
        self, kind: EventKind, site_id: str, data: Mapping[str, object], key: str, wanting: list[str]
    ) -> str:
        at, id = now(), uuid4().hex
        event = {"id": id, "key": key or id, "kind": kind.value, "site_id": site_id, "at": at}
        try:
            with self._db.begin() as connection:
                connection.execute(insert(events).values({**event, "data": dict(data)}))
                rows = [new_delivery(DELIVERED, id, hook, at) for hook in wanting]
                connection.execute(insert(DELIVERED.deliveries), rows)
        except IntegrityError:
            return ""  # the event was stored already, or the webhook was just removed
        return id
