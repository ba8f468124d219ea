"""Settings that were changed on the dashboard, as texts, secrets sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from server.storage.columns import now
from server.storage.database import Database
from server.storage.statements import upsert
from server.storage.tables import of_people

_overrides = of_people.overrides


@dataclass(frozen=True, slots=True)
class Override:
    """One changed setting."""

    name: str
    value: str
    sealed: bool
    """Whether `value` is to be opened first."""
    at: datetime
    operator: str


class OverrideStore:
    """At most one value of each setting. What a value means is not known here."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self) -> tuple[Override, ...]:
        """By name; equal as long as nothing was changed."""
        columns = [_overrides.c[name] for name in Override.__dataclass_fields__]
        with self._db.connect() as connection:
            rows = connection.execute(select(*columns).order_by(_overrides.c.name)).all()
        return tuple(Override(*row) for row in rows)

    def put(self, values: Mapping[str, tuple[str, bool]], operator: str) -> None:
        """Stores or replaces: name -> (value, whether it is sealed). All of them or none."""
        statement = upsert(self._db.dialect, _overrides, ("name",))
        with self._db.begin() as connection:
            for name, (value, sealed) in values.items():
                row = {"name": name, "value": value, "sealed": sealed, "at": now(), "operator": operator}
                connection.execute(statement, row)

    def drop(self, names: set[str]) -> int:
        """Takes changed settings back; returns how many there were."""
        with self._db.begin() as connection:
            return connection.execute(delete(_overrides).where(_overrides.c.name.in_(names))).rowcount
