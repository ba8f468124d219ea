"""Who is logged in to the dashboard, from where, and until when."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import delete, insert, select, update

from server.domain.roles import Role
from server.storage.columns import now
from server.storage.database import Database
from server.storage.operators import Operator
from server.storage.tables import of_people, operators

_sessions = of_people.sessions
SEEN_EVERY = timedelta(minutes=1)
"""A page of a session writes nothing more often than this."""
SHOWN = 100


@dataclass(frozen=True, slots=True)
class OperatorSession:
    """One browser that is logged in."""

    id: str
    """By which it is ended. It opens nothing: the browser has another secret, of which the hash is kept."""
    operator_id: int
    started_at: datetime
    seen_at: datetime
    ends_at: datetime
    address: str
    browser: str


class SessionStore:
    """Sessions by a secret that only the browser has."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(self, operator_id: int, lifetime: timedelta, address: str, browser: str) -> str:
        """A new session; returns its secret. Sessions that are over are forgotten."""
        secret, at = secrets.token_urlsafe(32), now()
        row = {
            "hash": _hash(secret),
            "id": uuid4().hex,
            "operator_id": operator_id,
            "started_at": at,
            "seen_at": at,
            "ends_at": at + lifetime,
            "address": address[:100],
            "browser": browser[:300],
        }
        with self._db.begin() as connection:
            connection.execute(delete(_sessions).where(_sessions.c.ends_at <= at))
            connection.execute(insert(_sessions).values(row))
        return secret

    def find(self, secret: str) -> tuple[OperatorSession, Operator] | None:
        """The session of a secret with its operator; None when it is over or was ended."""
        at = now()
        theirs = (
            select(_sessions, operators)
            .join(operators, operators.c.id == _sessions.c.operator_id)
            .where(_sessions.c.hash == _hash(secret), _sessions.c.ends_at > at)
        )
        with self._db.connect() as connection:
            row = connection.execute(theirs).first()
        if row is None:
            return None
        values = row._mapping
        found = OperatorSession(*(values[_sessions.c[name]] for name in OperatorSession.__dataclass_fields__))
        person = {name: values[operators.c[name]] for name in Operator.__dataclass_fields__}
        if at - found.seen_at > SEEN_EVERY:
            self._seen(found.id, at)
        return found, Operator(**{**person, "role": Role(person["role"])})

    def of(self, operator_id: int) -> list[OperatorSession]:
        """Those of an operator, the one that was seen last first."""
        columns = [_sessions.c[name] for name in OperatorSession.__dataclass_fields__]
        theirs = (
            select(*columns)
            .where(_sessions.c.operator_id == operator_id, _sessions.c.ends_at > now())
            .order_by(_sessions.c.seen_at.desc())
            .limit(SHOWN)
        )
        with self._db.connect() as connection:
            return [OperatorSession(*row) for row in connection.execute(theirs)]

    def counts(self) -> dict[int, tuple[int, datetime]]:
        """How many sessions each operator has, and when one was seen last."""
        with self._db.connect() as connection:
            rows = connection.execute(
                select(_sessions.c.operator_id, _sessions.c.seen_at).where(_sessions.c.ends_at > now())
            ).all()
        found: dict[int, tuple[int, datetime]] = {}
        for operator_id, seen_at in rows:
            count, latest = found.get(operator_id, (0, seen_at))
            found[operator_id] = (count + 1, max(latest, seen_at))
        return found

    def end(self, secret: str) -> None:
        """An unknown secret is no error."""
        with self._db.begin() as connection:
            connection.execute(delete(_sessions).where(_sessions.c.hash == _hash(secret)))

    def end_one(self, operator_id: int, id: str) -> bool:
        """Ends a session of this operator; False when there is none with this id."""
        ours = (_sessions.c.operator_id == operator_id, _sessions.c.id == id)
        with self._db.begin() as connection:
            return connection.execute(delete(_sessions).where(*ours)).rowcount == 1

    def end_all(self, operator_id: int, but: str = "") -> int:
        """Ends all sessions of an operator, but the one with this id; returns how many."""
        ours = (_sessions.c.operator_id == operator_id, _sessions.c.id != but)
        with self._db.begin() as connection:
            return connection.execute(delete(_sessions).where(*ours)).rowcount

    def _seen(self, id: str, at: datetime) -> None:
        with self._db.begin() as connection:
            connection.execute(update(_sessions).where(_sessions.c.id == id).values(seen_at=at))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
