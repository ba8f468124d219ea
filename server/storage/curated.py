"""The operators' own answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from server.domain.curated import CuratedAnswer
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownCuratedAnswer
from server.storage.statements import AnyRow
from server.storage.tables import of_answers

curated = of_answers.curated
_FIELDS = tuple(name for name in CuratedAnswer.__dataclass_fields__)
_COLUMNS = [curated.c[name] for name in _FIELDS]


class CuratedStore:
    """Curated answers by number."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, site_id: str, limit: int | None = None, offset: int = 0) -> list[CuratedAnswer]:
        """Those of a site, the last edited first."""
        wanted = select(*_COLUMNS).where(curated.c.site_id == site_id)
        wanted = wanted.order_by(curated.c.edited_at.desc(), curated.c.id.desc()).limit(limit).offset(offset)
        with self._db.connect() as connection:
            return [_answer(row) for row in connection.execute(wanted)]

    def count(self, site_id: str) -> int:
        """How many a site has."""
        wanted = select(func.count()).where(curated.c.site_id == site_id)
        with self._db.connect() as connection:
            return int(connection.execute(wanted).scalar_one())

    def get(self, site_id: str, id: int) -> CuratedAnswer:
        """Raises UnknownCuratedAnswer."""
        wanted = select(*_COLUMNS).where(curated.c.site_id == site_id, curated.c.id == id)
        with self._db.connect() as connection:
            row = connection.execute(wanted).first()
        if row is None:
            raise UnknownCuratedAnswer(
                f"the site {site_id!r} has no curated answer {id}: it was removed, or never was"
            )
        return _answer(row)

    def save(self, answer: CuratedAnswer, edited_by: str) -> CuratedAnswer:
        """Stores a new one (id 0), or replaces one. Raises UnknownCuratedAnswer."""
        kept = replace(answer, edited_by=edited_by, edited_at=now())
        values = {name: getattr(kept, name) for name in _FIELDS if name not in ("id", "site_id")}
        values |= {"questions": list(kept.questions), "links": list(kept.links)}
        with self._db.begin() as connection:
            if not kept.id:
                made = connection.execute(insert(curated).values(site_id=kept.site_id, **values))
                key: Any = made.inserted_primary_key
                return replace(kept, id=int(key[0]))
            same = (curated.c.site_id == kept.site_id, curated.c.id == kept.id)
            changed = connection.execute(update(curated).where(*same).values(**values)).rowcount
        if not changed:
            raise UnknownCuratedAnswer(f"the curated answer {kept.id} was removed meanwhile: add it again")
        return kept

    def remove(self, site_id: str, id: int) -> bool:
        """Whether there was one."""
        same = (curated.c.site_id == site_id, curated.c.id == id)
        with self._db.begin() as connection:
            return bool(connection.execute(delete(curated).where(*same)).rowcount)


def _answer(row: AnyRow) -> CuratedAnswer:
    values = dict(zip(_FIELDS, row, strict=True))
    return CuratedAnswer(
        **{**values, "questions": tuple(values["questions"]), "links": tuple(values["links"])}
    )
