"""Keys for the API of other servers, and who changed what on the dashboard."""

import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import Column, Text, delete, insert, select, type_coerce, update

from server.storage.columns import now
from server.storage.people.operators import hash_of
from server.storage.schema.people import api_keys, audit
from server.storage.statements import AnySelect
from server.storage.store import Store

MARK = "docent_"
"""Prefix of every key, by which scanners for leaked secrets recognise one."""
SHOWN_CHARS = 6
USED_EVERY = timedelta(minutes=1)


class Scope(StrEnum):
    """Permissions of a key."""

    ASK = "ask"
    READ = "read"
    CRAWL = "crawl"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key, without its secret, which was shown once."""

    id: str
    shown: str
    """The first characters, to recognise the key."""
    name: str
    scopes: frozenset[Scope]
    site_id: str | None
    """The only site that it is for; None for all."""
    made_by: str
    made_at: datetime
    ends_at: datetime | None
    used_at: datetime | None
    on: bool

    @property
    def is_over(self) -> bool:
        """Whether the key has expired."""
        return self.ends_at is not None and self.ends_at <= now()

    def may(self, scope: Scope, site_id: str) -> bool:
        """Whether it has this scope for this site."""
        return scope in self.scopes and self.site_id in (None, site_id)


class ApiKeyStore(Store):
    """API keys by secret. Only the hash is stored: with 256 random bits, one pass of SHA-256 is enough."""

    def create(
        self,
        name: str,
        scopes: Collection[Scope],
        made_by: str,
        *,
        site_id: str | None = None,
        ends_at: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret."""
        secret = MARK + secrets.token_urlsafe(32)
        row = {
            "id": uuid4().hex,
            "hash": hash_of(secret),
            "shown": secret[: len(MARK) + SHOWN_CHARS],
            "name": name,
            "scopes": sorted(scope.value for scope in scopes),
            "site_id": site_id,
            "made_by": made_by,
            "made_at": now(),
            "ends_at": ends_at,
            "used_at": None,
            "on": True,
        }
        self._write(insert(api_keys).values(row))
        return _key(row), secret

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret, even if revoked or expired; None if there is none."""
        row = self._row(select(api_keys).where(api_keys.c.hash == hash_of(secret)))
        return None if row is None else _key(row._mapping)

    def used(self, key: ApiKey) -> None:
        """Record that the key was used now, at most once a minute."""
        at = now()
        if key.used_at is None or at - key.used_at > USED_EVERY:
            self._write(update(api_keys).where(api_keys.c.id == key.id).values(used_at=at))

    def all(self) -> list[ApiKey]:
        """The newest first."""
        rows = self._rows(select(api_keys).order_by(api_keys.c.made_at.desc()).limit(500))
        return [_key(row._mapping) for row in rows]

    def get(self, id: str) -> ApiKey | None:
        """The key with this id."""
        row = self._row(select(api_keys).where(api_keys.c.id == id))
        return None if row is None else _key(row._mapping)

    def revoke(self, id: str) -> bool:
        """Revoke a key; False if there is none with this id."""
        return self._write(update(api_keys).where(api_keys.c.id == id).values(on=False)) == 1

    def remove(self, id: str) -> bool:
        """Delete a key; False if there is none with this id."""
        return self._write(delete(api_keys).where(api_keys.c.id == id)) == 1


def _key(row: Any) -> ApiKey:
    values = {name: row[name] for name in ApiKey.__dataclass_fields__}
    known = {scope.value for scope in Scope}
    return ApiKey(**{**values, "scopes": frozenset(Scope(one) for one in values["scopes"] if one in known)})


BATCH = 1000
CHOICES = 200


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the audit log."""

    id: int
    at: datetime
    operator: str
    """E-mail address, as it was then."""
    site_id: str
    """Empty if it does not concern one site."""
    action: str
    """The action as a past participle with its object: "removed the site"."""
    details: dict[str, Any]


class AuditLog(Store):
    """Entries are added and never changed."""

    def add(
        self, operator: str, action: str, site_id: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """Store a change made now."""
        row = {"operator": operator, "site_id": site_id, "action": action, "details": details or {}}
        self._write(insert(audit).values(at=now(), **row))

    def recent(self, limit: int, offset: int = 0, **filters: Any) -> list[Change]:
        """Entries, newest first; of one `site_id`, `operator` and `action`, `since` then, or all."""
        wanted = _wanted(**filters).limit(limit).offset(offset)
        return [Change(**row._mapping) for row in self._rows(wanted)]

    def about(self, email: str, actions: Collection[str], limit: int) -> list[Change]:
        """Entries with one of these actions that concern a person, by or about them, newest first."""
        person = type_coerce(audit.c.details, Text).contains(f'"person":"{email}"', autoescape=True)
        theirs = (audit.c.operator == email) | person
        wanted = _wanted().where(audit.c.action.in_(actions), theirs).limit(limit)
        return [Change(**row._mapping) for row in self._rows(wanted)]

    def every(self, **filters: Any) -> Iterator[Change]:
        """All entries of the same list, newest first, read in batches."""
        wanted, before = _wanted(**filters), None
        while True:
            batch = wanted if before is None else wanted.where(audit.c.id < before)
            rows = self._rows(batch.limit(BATCH))
            yield from (Change(**row._mapping) for row in rows)
            if len(rows) < BATCH:
                return
            before = rows[-1].id

    def choices(self) -> tuple[list[str], list[str]]:
        """(who changed anything, what was done), for the filters."""
        return self._distinct(audit.c.operator), self._distinct(audit.c.action)

    def _distinct(self, column: Column[str]) -> list[str]:
        rows = self._rows(select(column).distinct().order_by(column).limit(CHOICES))
        return [row[0] for row in rows]


def _wanted(
    *, site_id: str = "", operator: str = "", action: str = "", since: datetime | None = None
) -> AnySelect:
    wanted = select(audit).order_by(audit.c.id.desc())
    for column, value in ((audit.c.site_id, site_id), (audit.c.operator, operator), (audit.c.action, action)):
        if value:
            wanted = wanted.where(column == value)
    return wanted.where(audit.c.at >= since) if since else wanted
