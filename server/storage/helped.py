"""Answers that visitors gave a thumb up."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, true

from server.domain.conversation import Message
from server.storage.conversations import message_of
from server.storage.database import Database
from server.storage.tables import feedback, messages


def helped_messages(database: Database, site_id: str, since: datetime, limit: int) -> list[Message]:
    """Those of a site that have been asked since then, the newest first."""
    liked = select(messages).join(feedback, feedback.c.message_id == messages.c.id)
    liked = liked.where(
        messages.c.site_id == site_id, messages.c.asked_at >= since, feedback.c.helpful == true()
    )
    newest_first = liked.order_by(messages.c.asked_at.desc(), messages.c.number.desc()).limit(limit)
    with database.connect() as connection:
        return [message_of(row) for row in connection.execute(newest_first)]
