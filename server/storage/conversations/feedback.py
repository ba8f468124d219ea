"""Visitors' feedback on answers, and the labels that operators put on conversations."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now, storable
from server.storage.database import Database
from server.storage.errors import UnknownConversation, UnknownMessage
from server.storage.schema.conversations import conversation_labels, conversations, feedback, messages
from server.storage.statements import upsert


@dataclass(frozen=True, slots=True)
class Feedback:
    """One visitor's feedback on one answer."""

    message_id: str
    visitor_id: str
    helpful: bool
    comment: str
    at: datetime


class FeedbackStore:
    """Feedback on messages. The last one counts, and is also stored in the row of the message."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, message_id: str, visitor_id: str, helpful: bool, comment: str = "") -> None:
        """Store or replace feedback. Raises UnknownMessage unless the message is this visitor's."""
        theirs = (
            select(messages.c.id)
            .join(conversations, conversations.c.id == messages.c.conversation_id)
            .where(messages.c.id == message_id, conversations.c.visitor_id == visitor_id)
        )
        row = {"message_id": message_id, "visitor_id": visitor_id, "helpful": helpful, "comment": comment}
        with self._db.begin() as connection:
            # Lock the message, so that an erasure cannot happen between this check and the insert.
            if connection.execute(theirs.with_for_update(read=True)).first() is None:
                raise UnknownMessage(f"there is no message {message_id!r} of this visitor")
            connection.execute(upsert(self._db.dialect, feedback, key=("message_id",)), {**row, "at": now()})
            rated = update(messages).where(messages.c.id == message_id)
            connection.execute(rated.values(helpful=helpful))

    def of(self, message_ids: Collection[str]) -> dict[str, Feedback]:
        """Return the feedback by message id, for messages that have any."""
        wanted = select(feedback).where(feedback.c.message_id.in_(message_ids))
        with self._db.connect() as connection:
            return {row.message_id: Feedback(*row) for row in connection.execute(wanted)}

    def get(self, message_id: str) -> Feedback | None:
        """Return the feedback on a message, or None."""
        with self._db.connect() as connection:
            row = connection.execute(select(feedback).where(feedback.c.message_id == message_id)).first()
        return None if row is None else Feedback(*row)


LONGEST, MOST = 40, 20
"""Maximum length of a label, and maximum number of labels on one conversation."""


class LabelStore:
    """Labels of all sites. They are deleted with their conversation."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, site_id: str, conversation_id: str, label: str, operator: str) -> bool:
        """Add a label. Return false if the conversation already has it or has the maximum number.

        Raises UnknownConversation.
        """
        row = {"conversation_id": conversation_id, "label": storable(label), "site_id": site_id}
        ours = select(conversation_labels.c.label).where(
            conversation_labels.c.conversation_id == conversation_id
        )
        try:
            with self._db.begin() as connection:
                there = set(connection.execute(ours).scalars())
                if row["label"] in there or len(there) >= MOST:
                    return False
                connection.execute(insert(conversation_labels), {**row, "operator": operator, "at": now()})
        except IntegrityError as error:
            raise UnknownConversation(f"there is no conversation {conversation_id!r} any more") from error
        return True

    def remove(self, conversation_id: str, label: str) -> bool:
        """Remove a label. Return whether the conversation had it."""
        this = (
            conversation_labels.c.conversation_id == conversation_id,
            conversation_labels.c.label == label,
        )
        with self._db.begin() as connection:
            return bool(connection.execute(delete(conversation_labels).where(*this)).rowcount)

    def of(self, conversation_ids: Collection[str]) -> dict[str, list[str]]:
        """Return the sorted labels of these conversations, by conversation id."""
        wanted = select(conversation_labels.c.conversation_id, conversation_labels.c.label).order_by(
            conversation_labels.c.label
        )
        wanted = wanted.where(conversation_labels.c.conversation_id.in_(conversation_ids))
        found: dict[str, list[str]] = {}
        with self._db.connect() as connection:
            for conversation_id, label in connection.execute(wanted):
                found.setdefault(conversation_id, []).append(label)
        return found

    def known(self, site_ids: Collection[str], limit: int = 100) -> list[str]:
        """Return the labels in use on these sites, the most frequent first."""
        wanted = (
            select(conversation_labels.c.label)
            .where(conversation_labels.c.site_id.in_(site_ids))
            .group_by(conversation_labels.c.label)
        )
        wanted = wanted.order_by(func.count().desc(), conversation_labels.c.label).limit(limit)
        with self._db.connect() as connection:
            return list(connection.execute(wanted).scalars())
