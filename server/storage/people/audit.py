"""The audit log: who changed what, each entry bound to the one before it by a hash.

The database refuses to change or remove an entry. Whoever gets around that (by removing the triggers, or in
the file itself) breaks the chain, and `AuditLog.breaks` says where.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, Text, insert, select, type_coerce

from server.storage.columns import now, storable
from server.storage.schema.people import audit
from server.storage.statements import AnySelect, lock
from server.storage.store import Store

BATCH = 1000
CHOICES = 200
_LOCK = 0x6175646974


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
    hash: str
    """Covers the entry and the hash of the entry before it."""

    def to_json(self) -> str:
        """The entry as one line of JSON."""
        return json.dumps({**asdict(self), "at": _moment(self.at)}, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What checking the log found."""

    entries: int
    head: str
    """Hash of the newest entry. Kept elsewhere, it later shows that no entry was cut off the end."""
    broken: tuple[Change, ...]
    """Entries that do not follow from the one before: one of the two was changed, or one in between removed
    or added."""
    has_known: bool
    """Whether the entry that was asked for is in the log."""


class AuditLog(Store):
    """Entries are added and never changed."""

    def add(
        self, operator: str, action: str, site_id: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """Store a change made now."""
        row = {"operator": operator, "site_id": site_id, "action": action, "details": details or {}}
        with self._db.begin() as connection:
            # Two entries at the same moment would both follow the same one.
            lock(connection, _LOCK)
            newest = select(audit.c.id, audit.c.hash).order_by(audit.c.id.desc()).limit(1)
            last = connection.execute(newest).first()
            id, previous = (last.id + 1, last.hash) if last else (1, "")
            values = _as_stored({"id": id, "at": now(), **row})
            connection.execute(insert(audit).values(**values, hash=entry_hash(previous, values)))

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
        rows = self._batches(_wanted(**filters), audit.c.id, BATCH, down=True)
        return (Change(**row._mapping) for row in rows)

    def chain(self) -> Iterator[Change]:
        """The whole log, oldest first, read in batches."""
        return (Change(**row._mapping) for row in self._batches(select(audit), audit.c.id, BATCH))

    def verify(self, known: str = "") -> ChainReport:
        """Check that every entry follows from the one before it, and that the entry with the hash `known`
        is still there."""
        entries, previous, broken, has_known = 0, "", [], not known
        for one in self.chain():
            if one.hash != entry_hash(previous, asdict(one)):
                broken.append(one)
            entries, previous, has_known = entries + 1, one.hash, has_known or one.hash == known
        return ChainReport(entries, previous, tuple(broken), has_known)

    def choices(self) -> tuple[list[str], list[str]]:
        """(who changed anything, what was done), for the filters."""
        return self._distinct(audit.c.operator), self._distinct(audit.c.action)

    def _distinct(self, column: Column[str]) -> list[str]:
        return self._scalars(select(column).distinct().order_by(column).limit(CHOICES))


def adopt(connection: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Take over the log of a backup if there is no entry yet; otherwise only read it. Entries of a version
    without hashes get theirs; others keep the ones that they have, right or wrong."""
    theirs = sorted(rows, key=lambda row: int(row["id"]))
    if connection.execute(select(audit.c.id).limit(1)).first() is not None:
        return
    previous, made = "", []
    for row in theirs:
        previous = row.get("hash") or entry_hash(previous, row)
        made.append({**row, "hash": previous})
    if made:
        connection.execute(insert(audit), made)


def entry_hash(previous: str, entry: Mapping[str, Any]) -> str:
    """The hash of an entry that follows the one with the hash `previous`."""
    covered = [previous, entry["id"], _moment(entry["at"])]
    covered += [entry[name] for name in ("operator", "site_id", "action", "details")]
    return hashlib.sha256(json.dumps(covered, separators=(",", ":")).encode()).hexdigest()


def _as_stored(row: dict[str, Any]) -> dict[str, Any]:
    """The values as they come back from the database."""
    details = json.loads(storable(json.dumps(row["details"], ensure_ascii=False, default=str)))
    texts = {name: storable(row[name]) for name in ("operator", "site_id", "action")}
    return {**row, **texts, "details": details}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _wanted(
    *, site_id: str = "", operator: str = "", action: str = "", since: datetime | None = None
) -> AnySelect:
    wanted = select(audit).order_by(audit.c.id.desc())
    for column, value in ((audit.c.site_id, site_id), (audit.c.operator, operator), (audit.c.action, action)):
        if value:
            wanted = wanted.where(column == value)
    return wanted.where(audit.c.at >= since) if since else wanted
