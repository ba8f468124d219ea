"""Stores curated answers."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from server.domain.curated import ContentCheck, CuratedAnswer
from server.storage.columns import now
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.schema.conversations import curated_answers as curated
from server.storage.statements import AnyRow
from server.storage.store import Store, columns_of, existing, raising

_FIELDS = tuple(CuratedAnswer.__dataclass_fields__)
_COLUMNS = columns_of(CuratedAnswer, curated)
_COUNTED = ("hits", "last_given")
"""Fields that saving does not change."""
_REMOVED = "the answer cannot be stored: its site was removed"
_DAYS = ("valid_from", "valid_until")


class CuratedStore(Store):
    """Curated answers of all sites, by id."""

    def all(self, site_id: str, limit: int | None = None, offset: int = 0) -> list[CuratedAnswer]:
        """Return the curated answers of a site, the last edited first."""
        wanted = select(*_COLUMNS).where(curated.c.site_id == site_id)
        wanted = wanted.order_by(curated.c.edited_at.desc(), curated.c.id.desc()).limit(limit).offset(offset)
        return [_answer(row) for row in self._rows(wanted)]

    def count(self, site_id: str) -> int:
        """Return the number of curated answers of a site."""
        return int(self._scalar(select(func.count()).where(curated.c.site_id == site_id)))

    def get(self, site_id: str, id: int) -> CuratedAnswer:
        """Return a curated answer. Raises UnknownRecord."""
        rows = self._rows(select(*_COLUMNS).where(curated.c.site_id == site_id, curated.c.id == id))
        gone = f"the site {site_id!r} has no curated answer {id}: it was removed, or never was"
        return _answer(existing(rows, UnknownRecord(gone)))

    def save(self, answer: CuratedAnswer, edited_by: str) -> CuratedAnswer:
        """Store a new answer (id 0), or replace one. Raises UnknownRecord, UnknownSite."""
        with raising(UnknownSite(_REMOVED)), self._db.begin() as connection:
            return self._save(connection, answer, edited_by)

    def save_all(self, answers: Sequence[CuratedAnswer], edited_by: str) -> tuple[int, int]:
        """Store all answers or none, replacing those with the same question. Return (new, replaced).

        Raises UnknownSite.
        """
        new = 0
        with raising(UnknownSite(_REMOVED)), self._db.begin() as connection:
            for site_id in {answer.site_id for answer in answers}:
                known = self._known(connection, site_id)
                for answer in answers:
                    if answer.site_id == site_id:
                        id = known.get(answer.questions[0], 0)
                        self._save(connection, replace(answer, id=id), edited_by)
                        new += not id
        return new, len(answers) - new

    def note_check(self, site_id: str, id: int, check: ContentCheck) -> None:
        """Store what the site's pages answer instead. An answer removed in the meantime is ignored."""
        same = (curated.c.site_id == site_id, curated.c.id == id)
        value = {**asdict(check), "at": check.at.isoformat()}
        self._write(update(curated).where(*same).values(content_check=value))

    def _known(self, connection: Connection, site_id: str) -> dict[str, int]:
        wanted = select(curated.c.id, curated.c.questions).where(curated.c.site_id == site_id)
        return {row.questions[0]: row.id for row in connection.execute(wanted.order_by(curated.c.id.desc()))}

    def _save(self, connection: Connection, answer: CuratedAnswer, edited_by: str) -> CuratedAnswer:
        kept = replace(answer, edited_by=edited_by, edited_at=now(), content_check=None)
        values = {name: getattr(kept, name) for name in _FIELDS if name not in ("id", "site_id", *_COUNTED)}
        values |= {"questions": list(kept.questions), "links": list(kept.links)}
        values |= {name: day.isoformat() if (day := values[name]) else None for name in _DAYS}
        if not kept.id:
            made = connection.execute(insert(curated).values(site_id=kept.site_id, **values))
            key: Any = made.inserted_primary_key
            return replace(kept, id=int(key[0]), hits=0, last_given=None)
        same = (curated.c.site_id == kept.site_id, curated.c.id == kept.id)
        if not connection.execute(update(curated).where(*same).values(**values)).rowcount:
            raise UnknownRecord(f"the curated answer {kept.id} was removed meanwhile: add it again")
        return kept

    def remove(self, site_id: str, id: int) -> bool:
        """Delete a curated answer. Return whether it existed."""
        same = (curated.c.site_id == site_id, curated.c.id == id)
        return bool(self._write(delete(curated).where(*same)))


def count_hit(connection: Connection, site_id: str, id: int) -> None:
    """Count one use of an answer. An answer removed in the meantime is ignored."""
    same = (curated.c.site_id == site_id, curated.c.id == id)
    values = {"hits": curated.c.hits + 1, "last_given": now()}
    connection.execute(update(curated).where(*same).values(values))


def _answer(row: AnyRow) -> CuratedAnswer:
    values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    values |= {name: date.fromisoformat(values[name]) if values[name] else None for name in _DAYS}
    check = values["content_check"]
    if check:
        moment, said = datetime.fromisoformat(check["at"]), tuple(check["differences"])
        values["content_check"] = ContentCheck(**{**check, "at": moment, "differences": said})
    return CuratedAnswer(
        **{**values, "questions": tuple(values["questions"]), "links": tuple(values["links"])}
    )
