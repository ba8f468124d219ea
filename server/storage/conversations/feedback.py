"""Visitors' feedback on answers, and the labels that operators put on conversations."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update

from server.storage.columns import now, storable
from server.storage.errors import UnknownConversation, UnknownRecord
from server.storage.schema.conversations import conversation_labels as labels
from server.storage.schema.conversations import conversations, feedback, messages
from server.storage.statements import upsert
from server.storage.store import Store, raising


@dataclass(frozen=True, slots=True)
class Feedback:
    """One visitor's feedback on one answer."""

    message_id: str
    visitor_id: str
    helpful: bool
    comment: str
    at: datetime


class FeedbackStore(Store):
    """Feedback on messages. The last one counts, and is also stored in the row of the message."""

    def put(self, message_id: str, visitor_id: str, helpful: bool, comment: str = "") -> None:
        """Store or replace feedback. Raises UnknownRecord unless the message is this visitor's."""
        theirs = (
            select(messages.c.id)
            .join(conversations, conversations.c.id == messages.c.conversation_id)
            .where(messages.c.id == message_id, conversations.c.visitor_id == visitor_id)
        )
        row = {"message_id": message_id, "visitor_id": visitor_id, "helpful": helpful, "comment": comment}
        with self._db.begin() as connection:
            # Lock the message, so that an erasure cannot happen between this check and the insert.
            if connection.execute(theirs.with_for_update(read=True)).first() is None:
                raise UnknownRecord(f"there is no message {message_id!r} of this visitor")
            connection.execute(upsert(self._db.dialect, feedback), {**row, "at": now()})
            rated = update(messages).where(messages.c.id == message_id)
            connection.execute(rated.values(helpful=helpful))

    def of(self, message_ids: Collection[str]) -> dict[str, Feedback]:
        """Return the feedback by message id, for messages that have any."""
        wanted = select(feedback).where(feedback.c.message_id.in_(message_ids))
        return {row.message_id: Feedback(*row) for row in self._rows(wanted)}


LONGEST, MOST = 40, 20
"""Maximum length of a label, and maximum number of labels on one conversation."""


class LabelStore(Store):
    """Labels of all sites. They are deleted with their conversation."""

    def add(self, site_id: str, conversation_id: str, label: str, operator: str) -> bool:
        """Add a label. Return false if the conversation already has it or has the maximum number.

        Raises UnknownConversation.
        """
        row = {"conversation_id": conversation_id, "label": storable(label), "site_id": site_id}
        ours = select(labels.c.label).where(labels.c.conversation_id == conversation_id)
        gone = UnknownConversation(f"there is no conversation {conversation_id!r} any more")
        with raising(gone), self._db.begin() as connection:
            there = set(connection.execute(ours).scalars())
            if row["label"] in there or len(there) >= MOST:
                return False
            connection.execute(insert(labels), {**row, "operator": operator, "at": now()})
        return True

    def remove(self, conversation_id: str, label: str) -> bool:
        """Remove a label. Return whether the conversation had it."""
        this = (labels.c.conversation_id == conversation_id, labels.c.label == label)
        return bool(self._write(delete(labels).where(*this)))

    def of(self, conversation_ids: Collection[str]) -> dict[str, list[str]]:
        """Return the sorted labels of these conversations, by conversation id."""
        wanted = select(labels.c.conversation_id, labels.c.label).order_by(labels.c.label)
        wanted = wanted.where(labels.c.conversation_id.in_(conversation_ids))
        found: dict[str, list[str]] = {}
        for conversation_id, label in self._rows(wanted):
            found.setdefault(conversation_id, []).append(label)
        return found

    def known(self, site_ids: Collection[str], limit: int = 100) -> list[str]:
        """Return the labels in use on these sites, the most frequent first."""
        used = select(labels.c.label).where(labels.c.site_id.in_(site_ids)).group_by(labels.c.label)
        return self._scalars(used.order_by(func.count().desc(), labels.c.label).limit(limit))
