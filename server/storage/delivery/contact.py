"""Messages from visitors to people, and the replies of operators."""

import secrets
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, exists, func, insert, select

from server.domain.contact import Channel, ContactRequest, Delivery, DeliveryState, Reply
from server.storage.columns import now, storable
from server.storage.delivery.deliveries import CONTACT, Deliveries, DeliveryTables, new_delivery
from server.storage.errors import UnknownConversation, UnknownRecord
from server.storage.schema import delivery as tables
from server.storage.schema.delivery import contact_deliveries, contact_requests, replies
from server.storage.statements import AnySelect
from server.storage.store import Store, columns_of, existing, raising

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of references that are not confused when read aloud."""
LENGTH = 10


class ContactStore(Store):
    """Messages to people, of all sites. They are deleted with their conversation, visitor or site."""

    def add(
        self,
        site_id: str,
        visitor_id: str,
        email: str,
        message: str,
        conversation_id: str | None,
        channels: Iterable[Channel],
    ) -> ContactRequest:
        """Store a message to be sent through these channels. Raises UnknownConversation if the site or the
        conversation is gone."""
        at = now()
        request = ContactRequest(
            *(uuid4().hex, site_id, _reference(), visitor_id, conversation_id, at),
            *(storable(email), storable(message)),
        )
        ways = [new_delivery(CONTACT, request.id, channel, at) for channel in channels]
        gone = UnknownConversation(
            f"the message cannot be stored: the conversation {conversation_id!r} or the site "
            f"{site_id!r} is gone"
        )
        with raising(gone), self._db.begin() as connection:
            connection.execute(insert(contact_requests), asdict(request))
            connection.execute(insert(contact_deliveries), ways)
        return request

    def get(self, id: str) -> ContactRequest:
        """The request. Raises UnknownRecord."""
        found = self._load(select(contact_requests).where(contact_requests.c.id == id))
        return existing(found, UnknownRecord(f"there is no message {id!r}: it was erased, or never was"))

    def of_conversation(self, conversation_id: str) -> list[ContactRequest]:
        """Messages of a conversation, the oldest first."""
        theirs = select(contact_requests).where(contact_requests.c.conversation_id == conversation_id)
        return self._load(theirs.order_by(contact_requests.c.at, contact_requests.c.id))

    def of_visitor(self, site_id: str, visitor_id: str) -> list[ContactRequest]:
        """Messages of a visitor of a site, the oldest first."""
        own = (contact_requests.c.site_id == site_id, contact_requests.c.visitor_id == visitor_id)
        return self._load(select(contact_requests).where(*own).order_by(contact_requests.c.at))

    def recent(self, *, limit: int = 50, offset: int = 0, **filters: Any) -> list[ContactRequest]:
        """Messages, newest first: of the sites in `site_ids` or all, with any delivery in a `state`, and by a
        `channel` if it is given, `since` then or ever, `until` just before a moment or now."""
        wanted = select(contact_requests).order_by(contact_requests.c.at.desc(), contact_requests.c.id)
        return self._load(wanted.where(*_held(**filters)).limit(limit).offset(offset))

    def total(self, **filters: Any) -> int:
        """Length of that list."""
        return int(self._scalar(select(func.count()).select_from(contact_requests).where(*_held(**filters))))

    def handed_over(self, conversation_ids: Collection[str]) -> frozenset[str]:
        """The conversations among these with a message to people."""
        ours = select(contact_requests.c.conversation_id).where(
            contact_requests.c.conversation_id.in_(conversation_ids)
        )
        return frozenset(row[0] for row in self._rows(ours.distinct()))

    def count(self, state: DeliveryState, site_ids: Collection[str] | None = None) -> int:
        """How many deliveries of these sites or all are in a state."""
        both = contact_deliveries.join(contact_requests)
        wanted = select(func.count()).select_from(both).where(contact_deliveries.c.state == state.value)
        return int(self._scalar(wanted.where(*_held(site_ids=site_ids))))

    def forget_sent(self, before: datetime) -> int:
        """Delete older messages that arrived through every channel; return how many."""
        sent = ~_has(contact_deliveries.c.state != DeliveryState.SENT.value)
        return self._write(delete(contact_requests).where(contact_requests.c.at < before, sent))

    def _load(self, wanted: AnySelect) -> list[ContactRequest]:
        columns = columns_of(ContactRequest, contact_requests)
        return [ContactRequest(*row) for row in self._rows(wanted.with_only_columns(*columns))]


def _held(
    *,
    site_ids: Collection[str] | None = None,
    state: DeliveryState | None = None,
    channel: Channel | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[Any]:
    if site_ids is not None:
        yield contact_requests.c.site_id.in_(site_ids)
    if state is not None:
        through = [contact_deliveries.c.channel == channel.value] if channel is not None else []
        yield _has(contact_deliveries.c.state == state.value, *through)
    if since is not None:
        yield contact_requests.c.at >= since
    if until is not None:
        yield contact_requests.c.at < until


def _has(*conditions: Any) -> Any:
    return exists().where(contact_deliveries.c.request_id == contact_requests.c.id, *conditions)


def _reference() -> str:
    letters = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    return f"{letters[: LENGTH // 2]}-{letters[LENGTH // 2 :]}"


REPLIES = DeliveryTables(tables.reply_deliveries, tables.reply_tries, owner="reply_id", way="channel")
REPLY = columns_of(Reply, replies)


reply_deliveries = partial(Deliveries[Channel], tables=REPLIES, way=Channel)
"""Deliveries of replies, all by e-mail."""


class ReplyStore(Store):
    """Replies to messages. They are deleted with the message."""

    def add(self, request_id: str, operator: str, text: str) -> Reply:
        """Stores a reply that is to be sent. Raises UnknownRecord when the message is gone."""
        reply = Reply(uuid4().hex, request_id, now(), operator, storable(text))
        gone = UnknownRecord(f"there is no message {request_id!r} any more: it was erased")
        with raising(gone), self._db.begin() as connection:
            connection.execute(insert(replies), asdict(reply))
            delivery = new_delivery(REPLIES, reply.id, Channel.EMAIL, reply.at)
            connection.execute(insert(REPLIES.deliveries), delivery)
        return reply

    def find(self, id: str) -> Reply | None:
        """The reply, or None."""
        row = self._row(select(*REPLY).where(replies.c.id == id))
        return None if row is None else Reply(*row)

    def of(self, request_ids: Collection[str]) -> dict[str, list[tuple[Reply, list[Delivery[Channel]]]]]:
        """Message id -> its replies with their deliveries, the oldest first."""
        wanted = select(*REPLY).where(replies.c.request_id.in_(request_ids)).order_by(replies.c.at)
        written = [Reply(*row) for row in self._rows(wanted)]
        sent = reply_deliveries(self._db).of([reply.id for reply in written])
        found: dict[str, list[tuple[Reply, list[Delivery[Channel]]]]] = {}
        for reply in written:
            found.setdefault(reply.request_id, []).append((reply, sent.get(reply.id, [])))
        return found
