"""Test sets: questions whose answers are known, by which a site is measured.

Each question is stored as its line of a question file, so that exporting and importing a set changes nothing.
Only server.evaluation.questions parses the line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, count
from typing import Any

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.leases import RUNNING, WAITING, WorkStates
from server.storage.schema.quality import test_cases as cases
from server.storage.schema.quality import testsets
from server.storage.store import Store, columns_of, existing, raising

READY, FAILED = "ready", "failed"


@dataclass(frozen=True, slots=True)
class StoredTestSet:
    """A set without its questions."""

    id: int
    site_id: str
    name: str
    origin: str
    """headings, upload, conversations or hand."""
    state: str
    """ready; waiting or running while it is being made; failed."""
    message: str
    """Why it could not be built, or what is missing."""
    chosen: Mapping[str, Any]
    """Options from which it is built."""
    made_at: datetime
    changed_at: datetime
    count: int
    """Questions that it holds."""

    @property
    def is_ready(self) -> bool:
        """Return whether questions can be asked from it."""
        return self.state == READY and self.count > 0

    @property
    def is_open(self) -> bool:
        """Return whether it is still being built."""
        return self.state in (WAITING, RUNNING)


@dataclass(frozen=True, slots=True)
class StoredCase:
    """One question of a set."""

    number: int
    """Its permanent place in the set."""
    case_id: str
    """Id in reports; unique in the set."""
    question: str
    type: str
    answerable: bool
    line: str
    """The whole question, as JSON."""
    from_visitor: bool = False
    """Whether it is a copy of a visitor's words, which goes when the visitor is erased."""


_FIELDS = tuple(StoredCase.__dataclass_fields__)
_CASE = columns_of(StoredCase, cases)
_HELD = select(func.count()).where(cases.c.testset_id == testsets.c.id).scalar_subquery().label("count")
_SET = columns_of(StoredTestSet, testsets, count=_HELD)


class TestSetStore(Store):
    """Test sets of all sites; one of another site is as if it did not exist."""

    __test__ = False  # so that pytest does not collect it

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.work = WorkStates(db, testsets)

    def all(self, site_id: str, limit: int = 100) -> list[StoredTestSet]:
        """Newest first, of one site."""
        return self._load(testsets.c.site_id == site_id, limit=limit)

    def get(self, site_id: str, id: int) -> StoredTestSet:
        """Raises UnknownRecord."""
        found = self._load(testsets.c.site_id == site_id, testsets.c.id == id)
        return existing(found, _unknown(site_id, id))

    def counts(self) -> dict[str, int]:
        """Site -> number of sets."""
        rows = self._rows(select(testsets.c.site_id, func.count()).group_by(testsets.c.site_id))
        return {site_id: count for site_id, count in rows}

    def create(self, site_id: str, name: str, origin: str, made: Sequence[StoredCase] = ()) -> StoredTestSet:
        """A new set with these questions, all of it or nothing. Raises UnknownSite."""
        return self._create(site_id, name, origin, made, state=READY, chosen={})

    def order(self, site_id: str, name: str, origin: str, chosen: Mapping[str, Any]) -> StoredTestSet:
        """Queue a set that a worker builds from these options. Raises UnknownSite."""
        return self._create(site_id, name, origin, (), state=WAITING, chosen=dict(chosen))

    def fill(self, id: int, holder: str, made: Sequence[StoredCase], message: str) -> bool:
        """Store the questions of a queued set; false if it belongs to another holder now."""
        same = (testsets.c.id == id, testsets.c.holder == holder, testsets.c.state == RUNNING)
        values = {"state": READY, "holder": "", "message": message, "changed_at": now()}
        with self._db.begin() as connection:
            if not connection.execute(update(testsets).where(*same).values(values)).rowcount:
                return False
            self._insert(connection, id, made)
        return True

    def find(self, id: int) -> StoredTestSet | None:
        """The set of any site."""
        found = self._load(testsets.c.id == id)
        return found[0] if found else None

    def rename(self, site_id: str, id: int, name: str) -> None:
        """Raises UnknownRecord."""
        with self._db.begin() as connection:
            self._touch(connection, site_id, id, name=name)

    def remove(self, site_id: str, id: int) -> bool:
        """Delete a set; return whether it existed. Reports of its runs stay."""
        same = (testsets.c.site_id == site_id, testsets.c.id == id)
        return bool(self._write(delete(testsets).where(*same)))

    def cases(
        self, site_id: str, id: int, limit: int | None = None, offset: int = 0, search: str = ""
    ) -> list[StoredCase]:
        """Questions in order; with `search`, the ones whose question or known pages contain it."""
        wanted = self._of(site_id, id).order_by(cases.c.number).limit(limit).offset(offset)
        if search:
            texts = (cases.c.question, cases.c.line)
            wanted = wanted.where(or_(*(text.icontains(search, autoescape=True) for text in texts)))
        return [StoredCase(**row._mapping) for row in self._rows(wanted)]

    def case(self, site_id: str, id: int, number: int) -> StoredCase:
        """Raises UnknownRecord."""
        rows = self._rows(self._of(site_id, id).where(cases.c.number == number))
        missing = UnknownRecord(f"the test set {id} of {site_id!r} has no question {number}")
        return StoredCase(**existing(rows, missing)._mapping)

    def add(self, site_id: str, id: int, case: StoredCase) -> StoredCase:
        """Append a question under the next free number, which also gives an empty `case_id`.
        Raises UnknownRecord."""
        with self._db.begin() as connection:
            self._touch(connection, site_id, id)
            last = select(func.max(cases.c.number)).where(cases.c.testset_id == id)
            number = int(connection.execute(last).scalar() or 0) + 1
            taken = set(connection.execute(select(cases.c.case_id).where(cases.c.testset_id == id)).scalars())
            name = f"added-{number}"
            free = (id for id in chain([name], (f"{name}-{n}" for n in count(2))) if id not in taken)
            kept = replace(case, number=number, case_id=case.case_id or next(free))
            self._insert(connection, id, [kept])
        return kept

    def replace(self, site_id: str, id: int, case: StoredCase) -> None:
        """Replace a question, by its number. Raises UnknownRecord."""
        values = {name: getattr(case, name) for name in ("question", "type", "answerable", "line")}
        same = (cases.c.testset_id == id, cases.c.number == case.number)
        with self._db.begin() as connection:
            self._touch(connection, site_id, id)
            if not connection.execute(update(cases).where(*same).values(**values)).rowcount:
                raise UnknownRecord("the question was removed meanwhile")

    def take_out(self, site_id: str, id: int, number: int) -> bool:
        """Delete a question; return whether it existed. Raises UnknownRecord."""
        same = (cases.c.testset_id == id, cases.c.number == number)
        with self._db.begin() as connection:
            self._touch(connection, site_id, id)
            return bool(connection.execute(delete(cases).where(*same)).rowcount)

    def _create(
        self, site_id: str, name: str, origin: str, made: Sequence[StoredCase], **values: Any
    ) -> StoredTestSet:
        moment = now()
        row = {"site_id": site_id, "name": name, "origin": origin, "made_at": moment, "changed_at": moment}
        row |= {"holder": "", "message": "", **values}
        gone = UnknownSite(f"there is no site {site_id!r} to make a test set for")
        with raising(gone), self._db.begin() as connection:
            key: Any = connection.execute(insert(testsets).values(row)).inserted_primary_key
            self._insert(connection, int(key[0]), made)
        return self.get(site_id, int(key[0]))

    def _of(self, site_id: str, id: int) -> Any:
        joined = select(*_CASE).join(testsets, testsets.c.id == cases.c.testset_id)
        return joined.where(testsets.c.site_id == site_id, cases.c.testset_id == id)

    def _touch(self, connection: Connection, site_id: str, id: int, **values: str) -> None:
        """First statement of each change: it also makes changes of one set wait for each other."""
        same = (testsets.c.site_id == site_id, testsets.c.id == id)
        changed = connection.execute(update(testsets).where(*same).values(changed_at=now(), **values))
        if not changed.rowcount:
            raise _unknown(site_id, id)

    def _insert(self, connection: Connection, id: int, made: Sequence[StoredCase]) -> None:
        if made:
            rows = [{"testset_id": id, **{name: getattr(one, name) for name in _FIELDS}} for one in made]
            connection.execute(insert(cases), rows)

    def _load(self, *where: Any, limit: int | None = None) -> list[StoredTestSet]:
        wanted = select(*_SET).where(*where).order_by(testsets.c.id.desc()).limit(limit)
        return [StoredTestSet(*row) for row in self._rows(wanted)]


def _unknown(site_id: str, id: int) -> UnknownRecord:
    return UnknownRecord(f"the site {site_id!r} has no test set {id}: it was removed, or never was")
