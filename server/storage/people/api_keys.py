"""Keys for the API of other servers."""

import secrets
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, insert, select, update

from server.storage.columns import now
from server.storage.people.operators import hash_of
from server.storage.schema.people import api_keys
from server.storage.store import Store

MARK = "docent_"
"""Prefix of every key, by which scanners for leaked secrets recognise one."""
SHOWN_CHARS = 6
USED_EVERY = timedelta(minutes=1)
NETWORKS = 1000
"""How many networks of a key are remembered, the newest ones."""


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
    networks: frozenset[str] = frozenset()
    """Networks that it was used from."""

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
        shown = secret[: len(MARK) + SHOWN_CHARS]
        made = ApiKey(
            *(uuid4().hex, shown, name, frozenset(scopes), site_id, made_by, now(), ends_at, None, True)
        )
        row = {**asdict(made), "hash": hash_of(secret), "scopes": sorted(scopes), "networks": []}
        self._write(insert(api_keys), row)
        return made, secret

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret, even if revoked or expired; None if there is none."""
        row = self._row(select(api_keys).where(api_keys.c.hash == hash_of(secret)))
        return None if row is None else _key(row._mapping)

    def used(self, key: ApiKey) -> None:
        """Record that the key was used now, at most once a minute."""
        at = now()
        if key.used_at is None or at - key.used_at > USED_EVERY:
            self._write(update(api_keys).where(api_keys.c.id == key.id).values(used_at=at))

    def add_network(self, key: ApiKey, network: str) -> bool:
        """Remember a network that the key is used from; false if it was known."""
        with self._db.begin() as connection:
            mine = select(api_keys.c.networks).where(api_keys.c.id == key.id).with_for_update()
            known = connection.execute(mine).scalar() or []
            if network in known:
                return False
            newest = [*known, network][-NETWORKS:]
            connection.execute(update(api_keys).where(api_keys.c.id == key.id).values(networks=newest))
        return True

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
    scopes = frozenset(Scope(one) for one in values["scopes"] if one in known)
    return ApiKey(**{**values, "scopes": scopes, "networks": frozenset(values["networks"] or ())})
