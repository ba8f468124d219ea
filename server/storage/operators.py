"""Who may use the dashboard, and the token that lets the first of them in."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.roles import Role
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import OperatorExists
from server.storage.tables import operators, setup_tokens


@dataclass(frozen=True, slots=True)
class Operator:
    """A person who runs the dashboard."""

    id: int
    email: str
    """In lower case."""
    password_hash: str
    created_at: datetime
    role: Role = Role.OWNER


class OperatorStore:
    """Operators by e-mail address, in any case. Passwords come hashed and go hashed."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def count(self) -> int:
        """How many operators there are."""
        with self._db.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(operators)).scalar_one())

    def create(self, email: str, password_hash: str, role: Role = Role.OWNER) -> int:
        """Stores an operator; returns the number. Raises OperatorExists."""
        row = {"email": _address(email), "password_hash": password_hash, "created_at": now(), "role": role}
        try:
            with self._db.begin() as connection:
                made = connection.execute(insert(operators).values(row).returning(operators.c.id))
                return int(made.scalar_one())
        except IntegrityError as error:
            raise OperatorExists(f"an operator with the address {email!r} exists: log in instead") from error

    def find(self, email: str) -> Operator | None:
        """The operator with this address, or None."""
        return self._one(operators.c.email == _address(email))

    def get(self, id: int) -> Operator | None:
        """The operator with this number, or None when there is none any more."""
        return self._one(operators.c.id == id)

    def set_password(self, id: int, password_hash: str) -> None:
        """Replaces the hash. An unknown number is no error."""
        with self._db.begin() as connection:
            changed = update(operators).where(operators.c.id == id)
            connection.execute(changed.values(password_hash=password_hash))

    def setup_token(self) -> str:
        """A new secret for a setup link; the one before it stops working. Only its hash is stored."""
        token = secrets.token_urlsafe(32)
        with self._db.begin() as connection:
            connection.execute(delete(setup_tokens))
            connection.execute(insert(setup_tokens).values(token_hash=_hash(token), made_at=now()))
        return token

    def use_setup_token(self, token: str) -> bool:
        """True for the newest token, once."""
        with self._db.begin() as connection:
            used = connection.execute(delete(setup_tokens).where(setup_tokens.c.token_hash == _hash(token)))
        return used.rowcount == 1

    def _one(self, which: ColumnElement[bool]) -> Operator | None:
        with self._db.connect() as connection:
            row = connection.execute(select(operators).where(which)).first()
        return None if row is None else Operator(**{**row._mapping, "role": Role(row.role)})


def _address(email: str) -> str:
    return email.strip().lower()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
