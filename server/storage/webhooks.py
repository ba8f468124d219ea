"""The addresses of other systems that are told what happens."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, insert, or_, select, update

from server.domain.events import EventKind
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownWebhook
from server.storage.tables import of_people

_webhooks = of_people.events.webhooks


@dataclass(frozen=True, slots=True)
class EventHook:
    """One of them."""

    id: str
    url: str
    secret: str
    """Sealed."""
    kinds: frozenset[EventKind]
    site_id: str | None
    """The only site that it is told of; None for all."""
    on: bool
    made_at: datetime


class WebhookStore:
    """All webhooks of the installation; those of a site's messages to people stand with the site."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self) -> list[EventHook]:
        """The oldest first."""
        return self._load(select(_webhooks).order_by(_webhooks.c.made_at, _webhooks.c.id))

    def get(self, id: str) -> EventHook:
        """Raises UnknownWebhook."""
        found = self._load(select(_webhooks).where(_webhooks.c.id == id))
        if not found:
            raise UnknownWebhook(f"there is no webhook {id!r}: it was removed, or never was")
        return found[0]

    def wanting(self, kind: EventKind, site_id: str) -> list[EventHook]:
        """Those that are to be told."""
        theirs = or_(_webhooks.c.site_id.is_(None), _webhooks.c.site_id == site_id)
        found = self._load(select(_webhooks).where(_webhooks.c.on, theirs))
        return [hook for hook in found if kind in hook.kinds]

    def add(self, url: str, sealed: str, kinds: Collection[EventKind], site_id: str | None) -> str:
        """Returns its id."""
        row = {
            "id": uuid4().hex,
            "url": url,
            "secret": sealed,
            "kinds": sorted(kind.value for kind in kinds),
            "site_id": site_id,
            "on": True,
            "made_at": now(),
        }
        with self._db.begin() as connection:
            connection.execute(insert(_webhooks).values(row))
        return str(row["id"])

    def change(self, id: str, **values: object) -> None:
        """Of `url`, `secret`, `kinds`, `site_id` and `on`. Raises UnknownWebhook."""
        with self._db.begin() as connection:
            changed = update(_webhooks).where(_webhooks.c.id == id).values(**values)
            if not connection.execute(changed).rowcount:
                raise UnknownWebhook(f"there is no webhook {id!r}: it was removed, or never was")

    def remove(self, id: str) -> None:
        """With its delivery log. Raises UnknownWebhook."""
        with self._db.begin() as connection:
            if not connection.execute(delete(_webhooks).where(_webhooks.c.id == id)).rowcount:
                raise UnknownWebhook(f"there is no webhook {id!r}: it was removed, or never was")

    def _load(self, wanted: Any) -> list[EventHook]:
        with self._db.connect() as connection:
            rows = connection.execute(wanted).all()
        known = {kind.value for kind in EventKind}
        return [
            EventHook(
                **{**row._mapping, "kinds": frozenset(EventKind(one) for one in row.kinds if one in known)}
            )
            for row in rows
        ]
