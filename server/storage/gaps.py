"""What sites cannot answer, for the operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, func, select, type_coerce, update

from server.domain.gap import OPEN, Gap, GapEvent, GapQuestion, GapStatus, Missing, NearPage, Solved, Why
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownGap
from server.storage.gap_rows import GAP_COLUMNS, as_json, events, gap_of, gaps, questions, write_event
from server.storage.statements import AnySelect
from server.storage.tables import messages

_OPEN = [status.value for status in OPEN]


class GapStore:
    """Gaps of all sites. Ids cannot be guessed."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def open_count(self, site_id: str = "") -> int:
        """How many are new or planned: of one site, or of all."""
        wanted = select(func.count()).select_from(gaps).where(gaps.c.status.in_(_OPEN))
        if site_id:
            wanted = wanted.where(gaps.c.site_id == site_id)
        with self._db.connect() as connection:
            return int(connection.execute(wanted).scalar_one())

    def all(
        self,
        *,
        site_id: str = "",
        statuses: Collection[GapStatus] = (),
        since: datetime | None = None,
        search: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> list[Gap]:
        """Those that most visitors met first. `since` takes those that were asked since then."""
        wanted = _chosen(site_id, statuses, since, search)
        ordered = wanted.order_by(
            gaps.c.visitors.desc(), gaps.c.asked.desc(), gaps.c.last_asked.desc(), gaps.c.id
        )
        with self._db.connect() as connection:
            return [gap_of(row) for row in connection.execute(ordered.limit(limit).offset(offset))]

    def find(self, id: str) -> Gap | None:
        """The gap, or None."""
        with self._db.connect() as connection:
            row = connection.execute(select(*GAP_COLUMNS).where(gaps.c.id == id)).first()
        return None if row is None else gap_of(row)

    def get(self, id: str) -> Gap:
        """Raises UnknownGap."""
        found = self.find(id)
        if found is None:
            raise UnknownGap(f"there is no gap {id!r}: its questions were erased, or it never was")
        return found

    def questions(self, id: str, limit: int = 100, offset: int = 0) -> list[GapQuestion]:
        """Its questions, the newest first."""
        q = questions.c
        wanted = (
            select(q.message_id, q.question, q.language, q.at, q.why, messages.c.conversation_id)
            .join(messages, messages.c.id == q.message_id)
            .where(q.gap_id == id)
            .order_by(q.at.desc(), q.message_id)
        )
        with self._db.connect() as connection:
            rows = connection.execute(wanted.limit(limit).offset(offset)).all()
        return [GapQuestion(*row[:4], Why(row[4]), row[5]) for row in rows]

    def history(self, id: str, limit: int = 100) -> list[GapEvent]:
        """What happened to it, the newest first."""
        e = events.c
        wanted = select(e.at, e.action, e.by, e.details).where(e.gap_id == id).order_by(e.id.desc())
        with self._db.connect() as connection:
            return [GapEvent(*row) for row in connection.execute(wanted.limit(limit))]

    def judge(self, id: str, status: GapStatus, note: str, by: str) -> Gap:
        """What the operator says of it. Raises UnknownGap."""
        before = self.get(id)
        if (before.status, before.note) == (status, note):
            return before
        closed = None if status.is_open else before.closed_at or now()
        solved = as_json(before.solved_by) if status.is_solved else None
        values = {"status": status.value, "note": note, "closed_at": closed, "solved_by": solved}
        details = {"status": status.value, "before": before.status.value}
        if note != before.note:
            details["note"] = note
        with self._db.begin() as connection:
            self._change(connection, id, values)
            write_event(connection, id, "judged", by, details)
        return self.get(id)

    def was_asked(self, id: str, outcome: str, solved: Solved | None, by: str = "") -> None:
        """Notes that its questions were asked anew, and closes it when `solved` says what answers them; one
        that was taken to be solved and is not opens again."""
        values: dict[str, Any] = {"reasked_at": now(), "reasked_outcome": outcome}
        with self._db.begin() as connection:
            if solved is None:
                before = connection.execute(select(gaps.c.status).where(gaps.c.id == id)).scalar()
                if before and GapStatus(before).is_solved:
                    values |= {"status": GapStatus.NEW.value, "solved_by": None, "closed_at": None}
                    write_event(connection, id, "reopened", by, {"outcome": outcome})
                elif before and by:
                    write_event(connection, id, "asked", by, {"outcome": outcome})
                self._change(connection, id, values)
                return
            status = GapStatus.SOLVED_CURATED if solved.curated else GapStatus.SOLVED_PAGE
            values |= {"status": status.value, "solved_by": as_json(solved), "closed_at": now()}
            self._change(connection, id, values)
            write_event(connection, id, "closed", by, as_json(solved))

    def describe(self, id: str, nearest: Sequence[NearPage], missing: Missing) -> None:
        """What was found to come near, and what is missing."""
        values = {"nearest": [as_json(page) for page in nearest], "missing": as_json(missing)}
        with self._db.begin() as connection:
            connection.execute(update(gaps).where(gaps.c.id == id).values(**values))

    def undescribed(self, limit: int) -> list[Gap]:
        """Those for which nobody looked what is missing, open ones that most visitors met first."""
        # In a column of JSON, nothing is the word null.
        wanted = select(*GAP_COLUMNS).where(type_coerce(gaps.c.missing, Text) == "null")
        ordered = wanted.order_by(gaps.c.visitors.desc(), gaps.c.id).limit(limit)
        with self._db.connect() as connection:
            return [gap_of(row) for row in connection.execute(ordered)]

    def _change(self, connection: Connection, id: str, values: dict[str, Any]) -> None:
        if not connection.execute(update(gaps).where(gaps.c.id == id).values(**values)).rowcount:
            raise UnknownGap(f"there is no gap {id!r}: its questions were erased, or it never was")


def _chosen(site_id: str, statuses: Collection[GapStatus], since: datetime | None, search: str) -> AnySelect:
    wanted = select(*GAP_COLUMNS)
    if site_id:
        wanted = wanted.where(gaps.c.site_id == site_id)
    if statuses:
        wanted = wanted.where(gaps.c.status.in_(sorted(status.value for status in statuses)))
    if since is not None:
        wanted = wanted.where(gaps.c.last_asked >= since)
    if search:
        asked = select(questions.c.message_id).where(
            questions.c.gap_id == gaps.c.id, questions.c.question.icontains(search, autoescape=True)
        )
        wanted = wanted.where(asked.exists())
    return wanted
