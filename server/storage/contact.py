"""What visitors wrote to people."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, exists, func, insert, select
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Channel, ContactRequest, DeliveryState
from server.storage.columns import now, storable
from server.storage.database import Database
from server.storage.deliveries import CONTACT, new_delivery
from server.storage.errors import UnknownContactRequest, UnknownConversation
from server.storage.statements import AnySelect
from server.storage.tables import of_contact

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Of references: none is taken for another when it is read out."""
LENGTH = 10

_requests, _deliveries = of_contact.requests, of_contact.deliveries


class ContactStore:
    """Requests of all sites. They go with their conversation, their visitor and their site."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(
        self,
        site_id: str,
        visitor_id: str,
        email: str,
        message: str,
        conversation_id: str | None,
        channels: Iterable[Channel],
    ) -> ContactRequest:
        """Stores a request that is to be sent on these ways. Raises UnknownConversation when site or
        conversation is gone."""
        at = now()
        request = ContactRequest(
            *(uuid4().hex, site_id, _reference(), visitor_id, conversation_id, at),
            *(storable(email), storable(message)),
        )
        row = {name: getattr(request, name) for name in ContactRequest.__dataclass_fields__}
        ways = [new_delivery(CONTACT, request.id, channel, at) for channel in channels]
        try:
            with self._db.begin() as connection:
                connection.execute(insert(_requests), row)
                connection.execute(insert(_deliveries), ways)
        except IntegrityError as error:
            raise UnknownConversation(
                f"the message cannot be stored: the conversation {conversation_id!r} or the site "
                f"{site_id!r} is gone"
            ) from error
        return request

    def get(self, id: str) -> ContactRequest:
        """The request. Raises UnknownContactRequest."""
        found = self._load(select(_requests).where(_requests.c.id == id))
        if not found:
            raise UnknownContactRequest(f"there is no message {id!r}: it was erased, or never was")
        return found[0]

    def of_conversation(self, conversation_id: str) -> list[ContactRequest]:
        """What was written in a conversation, the oldest first."""
        theirs = select(_requests).where(_requests.c.conversation_id == conversation_id)
        return self._load(theirs.order_by(_requests.c.at, _requests.c.id))

    def recent(
        self,
        *,
        site_id: str | None = None,
        state: DeliveryState | None = None,
        since: datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ContactRequest]:
        """The newest first: of one site or of all, with any delivery in this state, since then or ever."""
        wanted = select(_requests).order_by(_requests.c.at.desc(), _requests.c.id)
        wanted = wanted.where(*_held(site_id, state, since))
        return self._load(wanted.limit(limit).offset(offset))

    def total(
        self,
        *,
        site_id: str | None = None,
        state: DeliveryState | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> int:
        """How many there are in that list, until just before a moment or now."""
        counted = select(func.count()).select_from(_requests).where(*_held(site_id, state, since, until))
        with self._db.connect() as connection:
            return int(connection.execute(counted).scalar_one())

    def handed_over(self, conversation_ids: Collection[str]) -> frozenset[str]:
        """Those of these conversations in which something was written to people."""
        ours = select(_requests.c.conversation_id).where(_requests.c.conversation_id.in_(conversation_ids))
        with self._db.connect() as connection:
            return frozenset(connection.execute(ours.distinct()).scalars())

    def count(self, state: DeliveryState) -> int:
        """How many deliveries are in a state."""
        counted = select(func.count()).select_from(_deliveries).where(_deliveries.c.state == state.value)
        with self._db.connect() as connection:
            return int(connection.execute(counted).scalar_one())

    def forget_sent(self, before: datetime) -> int:
        """Deletes the requests from before that moment that arrived on every way; returns how many."""
        sent = ~_has(_deliveries.c.state != DeliveryState.SENT.value)
        with self._db.begin() as connection:
            return connection.execute(delete(_requests).where(_requests.c.at < before, sent)).rowcount

    def _load(self, wanted: AnySelect) -> list[ContactRequest]:
        columns = [_requests.c[name] for name in ContactRequest.__dataclass_fields__]
        with self._db.connect() as connection:
            return [ContactRequest(*row) for row in connection.execute(wanted.with_only_columns(*columns))]


def _held(
    site_id: str | None,
    state: DeliveryState | None,
    since: datetime | None,
    until: datetime | None = None,
) -> Iterator[Any]:
    if site_id is not None:
        yield _requests.c.site_id == site_id
    if state is not None:
        yield _has(_deliveries.c.state == state.value)
    if since is not None:
        yield _requests.c.at >= since
    if until is not None:
        yield _requests.c.at < until


def _has(condition: Any) -> Any:
    return exists().where(_deliveries.c.request_id == _requests.c.id, condition)


def _reference() -> str:
    letters = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    return f"{letters[: LENGTH // 2]}-{letters[LENGTH // 2 :]}"
