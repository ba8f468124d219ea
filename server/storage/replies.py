"""What operators wrote back to visitors who left an address, and how it is sent."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import uuid4

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Channel, Delivery, Reply
from server.storage.columns import now, storable
from server.storage.database import Database
from server.storage.deliveries import Deliveries, DeliveryTables, new_delivery
from server.storage.errors import UnknownContactRequest
from server.storage.tables import of_dialogue

REPLIES = DeliveryTables(
    of_dialogue.reply_deliveries, of_dialogue.reply_tries, owner="reply_id", way="channel"
)
_replies = of_dialogue.replies
_FIELDS = tuple(Reply.__dataclass_fields__)


def reply_deliveries(db: Database) -> Deliveries[Channel]:
    """How replies are sent: all by e-mail."""
    return Deliveries(db, REPLIES, Channel)


class ReplyStore:
    """Replies to all messages. They go with the message that they answer."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, request_id: str, operator: str, text: str) -> Reply:
        """Stores a reply that is to be sent. Raises UnknownContactRequest when the message is gone."""
        at: datetime = now()
        reply = Reply(uuid4().hex, request_id, at, operator, storable(text))
        row = {name: getattr(reply, name) for name in _FIELDS}
        try:
            with self._db.begin() as connection:
                connection.execute(insert(_replies), row)
                delivery = new_delivery(REPLIES, reply.id, Channel.EMAIL, at)
                connection.execute(insert(of_dialogue.reply_deliveries), delivery)
        except IntegrityError as error:
            raise UnknownContactRequest(
                f"there is no message {request_id!r} any more: it was erased"
            ) from error
        return reply

    def find(self, id: str) -> Reply | None:
        """The reply, or None."""
        wanted = select(*(_replies.c[name] for name in _FIELDS)).where(_replies.c.id == id)
        with self._db.connect() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else Reply(*row)

    def of(self, request_ids: Collection[str]) -> dict[str, list[tuple[Reply, list[Delivery[Channel]]]]]:
        """The replies to messages with how each is sent, the oldest first."""
        columns = [_replies.c[name] for name in _FIELDS]
        wanted = select(*columns).where(_replies.c.request_id.in_(request_ids)).order_by(_replies.c.at)
        with self._db.connect() as connection:
            replies = [Reply(*row) for row in connection.execute(wanted)]
        sent = reply_deliveries(self._db).of([reply.id for reply in replies])
        found: dict[str, list[tuple[Reply, list[Delivery[Channel]]]]] = {}
        for reply in replies:
            found.setdefault(reply.request_id, []).append((reply, sent.get(reply.id, [])))
        return found
