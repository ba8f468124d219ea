"""Sessions of operators, and the links for invitations and password resets."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from sqlalchemy import ColumnElement, delete, func, insert, select, update

from server.domain.roles import Role
from server.storage.columns import now
from server.storage.people.operators import OPERATOR, Operator, hash_of, operator_of
from server.storage.schema.people import operator_links, operator_sessions, operators
from server.storage.store import Store, columns_of

SEEN_EVERY = timedelta(minutes=1)
"""How often the requests of a session update `seen_at`."""
SHOWN = 100


@dataclass(frozen=True, slots=True)
class OperatorSession:
    """One browser that is logged in."""

    id: str
    """For ending the session. It does not log in: the browser has a separate secret, stored as a hash."""
    operator_id: int
    started_at: datetime
    seen_at: datetime
    ends_at: datetime
    address: str
    browser: str


SESSION = columns_of(OperatorSession, operator_sessions)


class SessionStore(Store):
    """Sessions by the secret of the browser."""

    def start(self, operator_id: int, lifetime: timedelta, address: str, browser: str) -> str:
        """Start a session; return its secret. Deletes expired sessions."""
        secret, at = secrets.token_urlsafe(32), now()
        row = {
            "hash": hash_of(secret),
            "id": uuid4().hex,
            "operator_id": operator_id,
            "started_at": at,
            "seen_at": at,
            "ends_at": at + lifetime,
            "address": address[:100],
            "browser": browser[:300],
        }
        with self._db.begin() as connection:
            connection.execute(delete(operator_sessions).where(operator_sessions.c.ends_at <= at))
            connection.execute(insert(operator_sessions).values(row))
        return secret

    def find(self, secret: str) -> tuple[OperatorSession, Operator] | None:
        """The session with this secret and its operator; None if it has expired or was ended."""
        at = now()
        theirs = (
            select(*SESSION, *OPERATOR)
            .join(operators, operators.c.id == operator_sessions.c.operator_id)
            .where(operator_sessions.c.hash == hash_of(secret), operator_sessions.c.ends_at > at)
        )
        row = self._row(theirs)
        if row is None:
            return None
        found = OperatorSession(*row[: len(SESSION)])
        if at - found.seen_at > SEEN_EVERY:
            self._write(
                update(operator_sessions).where(operator_sessions.c.id == found.id).values(seen_at=at)
            )
        return found, operator_of(row[len(SESSION) :])

    def of(self, operator_id: int) -> list[OperatorSession]:
        """Sessions of an operator, the most recently used first."""
        theirs = (
            select(*SESSION)
            .where(operator_sessions.c.operator_id == operator_id, operator_sessions.c.ends_at > now())
            .order_by(operator_sessions.c.seen_at.desc())
            .limit(SHOWN)
        )
        return [OperatorSession(*row) for row in self._rows(theirs)]

    def counts(self) -> dict[int, tuple[int, datetime]]:
        """Operator -> (number of sessions, last use)."""
        theirs = operator_sessions.c
        counted = select(theirs.operator_id, func.count(), func.max(theirs.seen_at)).group_by(
            theirs.operator_id
        )
        rows = self._rows(counted.where(theirs.ends_at > now()))
        return {operator_id: (count, latest) for operator_id, count, latest in rows}

    def end(self, secret: str) -> None:
        """End the session with this secret. An unknown secret is no error."""
        self._write(delete(operator_sessions).where(operator_sessions.c.hash == hash_of(secret)))

    def end_one(self, operator_id: int, id: str) -> bool:
        """Ends a session of this operator; False when there is none with this id."""
        ours = (operator_sessions.c.operator_id == operator_id, operator_sessions.c.id == id)
        return self._write(delete(operator_sessions).where(*ours)) == 1

    def end_all(self, operator_id: int, but: str = "") -> int:
        """Ends all sessions of an operator, but the one with this id; returns how many."""
        ours = (operator_sessions.c.operator_id == operator_id, operator_sessions.c.id != but)
        return self._write(delete(operator_sessions).where(*ours))


class LinkKind(StrEnum):
    """Kinds of links."""

    INVITE = "invite"
    RESET = "reset"


VALID = {LinkKind.INVITE: timedelta(days=7), LinkKind.RESET: timedelta(hours=24)}


@dataclass(frozen=True, slots=True)
class OperatorLink:
    """One link; only its recipient knows the secret in it."""

    id: str
    kind: LinkKind
    email: str
    role: Role
    operator_id: int | None
    """The operator whose password it resets; None for an invitation."""
    made_by: str
    made_at: datetime
    ends_at: datetime


class LinkStore(Store):
    """At most one invitation for each address, and one password reset for each operator."""

    def invite(self, email: str, role: Role, made_by: str) -> str:
        """Create an invitation and return its secret; an earlier one for this address stops working."""
        email = email.strip().lower()
        return self._add(LinkKind.INVITE, email, role, None, made_by, operator_links.c.email == email)

    def reset(self, operator_id: int, email: str, role: Role, made_by: str) -> str:
        """Create a password reset and return its secret; an earlier one stops working."""
        before = operator_links.c.operator_id == operator_id
        return self._add(LinkKind.RESET, email, role, operator_id, made_by, before)

    def find(self, secret: str) -> OperatorLink | None:
        """The link with this secret; None if it was used, has expired or never existed."""
        found = self._load((operator_links.c.hash == hash_of(secret), operator_links.c.ends_at > now()))
        return found[0] if found else None

    def use(self, secret: str) -> OperatorLink | None:
        """Use the link with this secret up and return it: of two requests at once, one gets it."""
        found = self.find(secret)
        used = self._write(delete(operator_links).where(operator_links.c.hash == hash_of(secret)))
        return found if used else None

    def open(self) -> list[OperatorLink]:
        """Links that can still be used, the newest first."""
        return self._load((operator_links.c.ends_at > now(),))

    def withdraw(self, id: str) -> OperatorLink | None:
        """Revoke a link; return it, or None if there is none with this id."""
        found = self._load((operator_links.c.id == id,))
        self._write(delete(operator_links).where(operator_links.c.id == id))
        return found[0] if found else None

    def _add(
        self,
        kind: LinkKind,
        email: str,
        role: Role,
        operator_id: int | None,
        made_by: str,
        before: ColumnElement[bool],
    ) -> str:
        secret, at = secrets.token_urlsafe(32), now()
        row = {
            "hash": hash_of(secret),
            "id": uuid4().hex,
            "kind": kind.value,
            "email": email,
            "role": role.value,
            "operator_id": operator_id,
            "made_by": made_by,
            "made_at": at,
            "ends_at": at + VALID[kind],
        }
        with self._db.begin() as connection:
            connection.execute(delete(operator_links).where(operator_links.c.ends_at <= at))
            connection.execute(delete(operator_links).where(operator_links.c.kind == kind.value, before))
            connection.execute(insert(operator_links).values(row))
        return secret

    def _load(self, which: tuple[ColumnElement[bool], ...]) -> list[OperatorLink]:
        wanted = (
            select(*columns_of(OperatorLink, operator_links))
            .where(*which)
            .order_by(operator_links.c.made_at.desc())
            .limit(200)
        )
        return [
            OperatorLink(**{**row._mapping, "kind": LinkKind(row.kind), "role": Role(row.role)})
            for row in self._rows(wanted)
        ]
