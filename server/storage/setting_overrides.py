"""Settings that were changed on the dashboard, as text; secrets are sealed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from server.storage.columns import now
from server.storage.schema.people import setting_overrides
from server.storage.store import Store, columns_of


@dataclass(frozen=True, slots=True)
class Override:
    """One changed setting."""

    name: str
    value: str
    sealed: bool
    """Whether `value` is encrypted."""
    at: datetime
    operator: str


class OverrideStore(Store):
    """Changed settings by name, with their values as text."""

    def all(self) -> tuple[Override, ...]:
        """All changed settings by name."""
        columns = columns_of(Override, setting_overrides)
        rows = self._rows(select(*columns).order_by(setting_overrides.c.name))
        return tuple(Override(*row) for row in rows)

    def put(self, values: Mapping[str, tuple[str, bool]], operator: str) -> None:
        """Store or replace settings, name -> (value, whether it is sealed), all or none."""
        by = {"at": now(), "operator": operator}
        rows = [
            {"name": name, "value": value, "sealed": is_it, **by} for name, (value, is_it) in values.items()
        ]
        if rows:
            self._put(setting_overrides, rows)

    def drop(self, names: set[str]) -> int:
        """Reset settings; return how many had been changed."""
        return self._write(delete(setting_overrides).where(setting_overrides.c.name.in_(names)))
