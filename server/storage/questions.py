"""Questions with their answers across conversations, for the operator's lists."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import select

from server.domain.answer import Outcome
from server.domain.conversation import Message
from server.storage.conversations import message_of
from server.storage.database import Database
from server.storage.tables import messages


class QuestionLog:
    """Reads what `ConversationStore` wrote, message by message."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def find(self, message_id: str) -> Message | None:
        """The message, or None."""
        with self._db.connect() as connection:
            row = connection.execute(select(messages).where(messages.c.id == message_id)).first()
        return None if row is None else message_of(row)

    def recent(
        self,
        *,
        site_id: str | None = None,
        outcomes: Collection[Outcome] = (),
        since: datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Message]:
        """The newest first: of one site or of all, of these outcomes or of any, since then or ever."""
        newest_first = [messages.c.asked_at.desc(), messages.c.number.desc()]
        if site_id is None and not outcomes and since is None:
            # There is no index on the time alone, and numbers grow with it.
            del newest_first[0]
        # The narrow inner query is answered by the index; only the rows that are shown are read whole.
        shown = select(messages.c.number).order_by(*newest_first).limit(limit).offset(offset)
        if site_id is not None:
            shown = shown.where(messages.c.site_id == site_id)
        if outcomes:
            shown = shown.where(messages.c.outcome.in_([outcome.value for outcome in outcomes]))
        if since is not None:
            shown = shown.where(messages.c.asked_at >= since)
        wanted = select(messages).where(messages.c.number.in_(shown)).order_by(*newest_first)
        with self._db.connect() as connection:
            return [message_of(row) for row in connection.execute(wanted)]
