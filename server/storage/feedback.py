"""Whether an answer helped, as the visitor says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownMessage
from server.storage.statements import upsert
from server.storage.tables import conversations, feedback, messages


@dataclass(frozen=True, slots=True)
class Feedback:
    """One visitor's judgement of one answer."""

    message_id: str
    visitor_id: str
    helpful: bool
    comment: str
    at: datetime


class FeedbackStore:
    """At most one judgement of each message: the last one counts, and stands with the message too."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, message_id: str, visitor_id: str, helpful: bool, comment: str = "") -> None:
        """Stores or replaces the judgement. Raises UnknownMessage unless the message is this visitor's."""
        theirs = (
            select(messages.c.id)
            .join(conversations, conversations.c.id == messages.c.conversation_id)
            .where(messages.c.id == message_id, conversations.c.visitor_id == visitor_id)
        )
        row = {"message_id": message_id, "visitor_id": visitor_id, "helpful": helpful, "comment": comment}
        with self._db.begin() as connection:
            # Held, so that an erasure between the look and the insert waits for its turn.
            if connection.execute(theirs.with_for_update(read=True)).first() is None:
                raise UnknownMessage(f"there is no message {message_id!r} of this visitor")
            connection.execute(upsert(self._db.dialect, feedback, key=("message_id",)), {**row, "at": now()})
            judged = update(messages).where(messages.c.id == message_id)
            connection.execute(judged.values(helpful=helpful))

    def of(self, message_ids: Collection[str]) -> dict[str, Feedback]:
        """The judgements of those of these messages whose visitor gave one."""
        wanted = select(feedback).where(feedback.c.message_id.in_(message_ids))
        with self._db.connect() as connection:
            return {row.message_id: Feedback(*row) for row in connection.execute(wanted)}

    def get(self, message_id: str) -> Feedback | None:
        """The judgement of a message, if its visitor gave one."""
        with self._db.connect() as connection:
            row = connection.execute(select(feedback).where(feedback.c.message_id == message_id)).first()
        return None if row is None else Feedback(*row)
