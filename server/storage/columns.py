"""Column types that keep the same Python values in SQLite and in PostgreSQL."""

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def storable(text: str) -> str:
    """Return `text` without the characters that databases reject: NUL and lone surrogates, which JSON
    allows."""
    if text.isascii():
        return text.replace("\0", "�") if "\0" in text else text
    return text.replace("\0", "�").encode("utf-8", "replace").decode("utf-8")


class Words(TypeDecorator[str]):
    """Text of visitors and of pages, which may hold any character."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class Json(TypeDecorator[Any]):
    """Any JSON value, as text. Values that JSON does not know (a set, a numpy number) are stored as their
    str()."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return storable(_encode(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


@lru_cache(maxsize=4096)
def _tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


class Path(TypeDecorator[tuple[str, ...]]):
    """A tuple of strings that many rows share, decoded once."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return storable(_encode(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return () if value is None else _tuple(value)


class Moment(TypeDecorator[datetime]):
    """A time-zone-aware datetime; comes back in UTC. SQLite stores it as text that sorts by time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored time needs a time zone: use datetime.now(UTC)")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)
