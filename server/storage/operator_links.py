"""Links that work once: an invitation to the dashboard, or a new password."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import uuid4

from sqlalchemy import ColumnElement, delete, insert, select

from server.domain.roles import Role
from server.storage.columns import now
from server.storage.database import Database
from server.storage.tables import of_people

_links = of_people.links


class LinkKind(StrEnum):
    """What a link is for."""

    INVITE = "invite"
    RESET = "reset"


VALID = {LinkKind.INVITE: timedelta(days=7), LinkKind.RESET: timedelta(hours=24)}


@dataclass(frozen=True, slots=True)
class OperatorLink:
    """One link; the secret in it is known to nobody but who got it."""

    id: str
    kind: LinkKind
    email: str
    role: Role
    operator_id: int | None
    """Whose password it sets; None for an invitation."""
    made_by: str
    made_at: datetime
    ends_at: datetime


class LinkStore:
    """Of each address there is one invitation at most, and of each operator one reset."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def invite(self, email: str, role: Role, made_by: str) -> str:
        """The secret of a new invitation; the one before it for this address stops working."""
        email = email.strip().lower()
        return self._add(LinkKind.INVITE, email, role, None, made_by, _links.c.email == email)

    def reset(self, operator_id: int, email: str, role: Role, made_by: str) -> str:
        """The secret of a link that sets a new password; the one before it stops working."""
        before = _links.c.operator_id == operator_id
        return self._add(LinkKind.RESET, email, role, operator_id, made_by, before)

    def find(self, secret: str) -> OperatorLink | None:
        """The link of a secret; None when it was used, is over, or never was."""
        found = self._load((_links.c.hash == _hash(secret), _links.c.ends_at > now()))
        return found[0] if found else None

    def use(self, secret: str) -> OperatorLink | None:
        """The same, and the link is used up: of two at once, one gets it."""
        found = self.find(secret)
        if found is None:
            return None
        with self._db.begin() as connection:
            used = connection.execute(delete(_links).where(_links.c.hash == _hash(secret))).rowcount
        return found if used else None

    def open(self) -> list[OperatorLink]:
        """Those that can still be used, the newest first."""
        return self._load((_links.c.ends_at > now(),))

    def withdraw(self, id: str) -> OperatorLink | None:
        """Makes a link useless; returns it, or None when there is none with this id."""
        found = self._load((_links.c.id == id,))
        with self._db.begin() as connection:
            connection.execute(delete(_links).where(_links.c.id == id))
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
            "hash": _hash(secret),
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
            connection.execute(delete(_links).where(_links.c.ends_at <= at))
            connection.execute(delete(_links).where(_links.c.kind == kind.value, before))
            connection.execute(insert(_links).values(row))
        return secret

    def _load(self, which: tuple[ColumnElement[bool], ...]) -> list[OperatorLink]:
        columns = [_links.c[name] for name in OperatorLink.__dataclass_fields__]
        wanted = select(*columns).where(*which).order_by(_links.c.made_at.desc()).limit(200)
        with self._db.connect() as connection:
            rows = connection.execute(wanted).all()
        return [
            OperatorLink(**{**row._mapping, "kind": LinkKind(row.kind), "role": Role(row.role)})
            for row in rows
        ]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
