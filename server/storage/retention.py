"""Deleting conversations when their time is over."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select

from server.storage.database import Database
from server.storage.gap_rows import leave_gaps
from server.storage.tables import conversations, messages, sites

BATCH = 500
"""Conversations that one transaction deletes: visitors' writes come between two of them."""


class Retention:
    """A conversation's time is counted from its last message."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def count(self, before: datetime) -> int:
        """How many conversations began before that moment: nearly as many as `forget` would delete, for few
        go on for days, and counted by the index alone."""
        of_sites = conversations.c.site_id.in_(select(sites.c.id))
        counted = select(func.count()).select_from(conversations)
        with self._db.connect() as connection:
            found = connection.execute(counted.where(of_sites, conversations.c.started_at < before))
            return int(found.scalar_one())

    def forget(self, before: datetime) -> int:
        """Deletes one batch of them, with all that hangs on them; returns how many, 0 when none is left."""
        oldest = select(conversations.c.id).where(*_over(before)).order_by(conversations.c.started_at)
        with self._db.begin() as connection:
            ids = list(connection.execute(oldest.limit(BATCH)).scalars())
            if ids:
                leave_gaps(connection, select(messages.c.id).where(messages.c.conversation_id.in_(ids)))
                connection.execute(delete(conversations).where(conversations.c.id.in_(ids)))
        return len(ids)


def _over(before: datetime) -> tuple[ColumnElement[bool], ...]:
    later = select(messages.c.id).where(
        messages.c.conversation_id == conversations.c.id, messages.c.asked_at >= before
    )
    return conversations.c.started_at < before, ~later.exists()
