"""Gaps: questions that a site cannot answer, for the operator."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Text, case, func, insert, select, type_coerce, update

from server.domain.gap import (
    Gap,
    GapEvent,
    GapKind,
    GapQuestion,
    GapStatus,
    Missing,
    NearPage,
    Solved,
    Why,
)
from server.storage.columns import now
from server.storage.errors import UnknownRecord
from server.storage.schema.conversations import messages
from server.storage.schema.quality import gap_events as events
from server.storage.schema.quality import gap_questions as questions
from server.storage.schema.quality import gaps
from server.storage.statements import AnyRow
from server.storage.store import Store

_earlier = messages.alias("earlier")
_BEFORE = (_earlier.c.conversation_id == messages.c.conversation_id) & (
    _earlier.c.turn == messages.c.turn - 1
)


def _of_representative(text: Any) -> ColumnElement[str]:
    """A text of the message whose question stands for the gap; "" without one."""
    joined = questions.join(messages, questions.c.message_id == messages.c.id).outerjoin(_earlier, _BEFORE)
    found = select(text).select_from(joined)
    found = found.where(questions.c.gap_id == gaps.c.id, questions.c.question == gaps.c.question)
    first = found.order_by(questions.c.at, questions.c.message_id).limit(1).correlate(gaps)
    return func.coalesce(first.scalar_subquery(), "")


_WORDS = {"typed": _of_representative(messages.c.question), "before": _of_representative(_earlier.c.question)}
GAP_COLUMNS = [
    _WORDS[name].label(name) if name in _WORDS else gaps.c[name] for name in Gap.__dataclass_fields__
]
_GAP = TypeAdapter(Gap)


def gap_of(row: AnyRow) -> Gap:
    """The gap of a row of GAP_COLUMNS."""
    values = row._asdict()
    values["typed"] = values["typed"] or values["question"]
    values["before"] = _before(values["typed"], values["question"], values["before"])
    return _GAP.validate_python(values)


def _before(typed: str, question: str, before: str | None) -> str:
    """What was asked before, if the question refers to it."""
    return before or "" if typed != question else ""


def as_json(value: Missing | Solved | NearPage | None) -> dict[str, Any] | None:
    """The JSON value as stored."""
    return None if value is None else asdict(value)


def write_event(
    connection: Connection,
    gap_id: str,
    action: str,
    by: str = "",
    details: Mapping[str, object] | None = None,
) -> None:
    """Add a line to the gap's history."""
    row = {"gap_id": gap_id, "at": now(), "action": action, "by": by, "details": dict(details or {})}
    connection.execute(insert(events).values(**row))


class GapStore(Store):
    """Gaps of all sites. Ids cannot be guessed."""

    def counts(self, **wanted: Any) -> dict[GapKind, int]:
        """How many gaps each list has, filtered in the same way."""
        counted = select(gaps.c.kind, func.count()).where(*_chosen(**wanted)).group_by(gaps.c.kind)
        found = {kind: count for kind, count in self._rows(counted)}
        return {kind: found.get(kind.value, 0) for kind in GapKind}

    def all(self, *, limit: int = 50, offset: int = 0, **wanted: Any) -> list[Gap]:
        """Gaps, the ones of most visitors first, filtered by the arguments of `_chosen`."""
        order = (gaps.c.visitors.desc(), gaps.c.asked.desc(), gaps.c.last_asked.desc(), gaps.c.id)
        held = _chosen(**wanted)
        # The visitors' words are only looked up for the gaps that are shown.
        page = select(gaps.c.id).where(*held).order_by(*order).limit(limit).offset(offset).subquery()
        shown = select(*GAP_COLUMNS).where(gaps.c.id.in_(select(page.c.id))).order_by(*order)
        return [gap_of(row) for row in self._rows(shown)]

    def find(self, id: str) -> Gap | None:
        """The gap, or None."""
        row = self._row(select(*GAP_COLUMNS).where(gaps.c.id == id))
        return None if row is None else gap_of(row)

    def get(self, id: str) -> Gap:
        """The gap with this id. Raises UnknownRecord."""
        found = self.find(id)
        if found is None:
            raise UnknownRecord(f"there is no gap {id!r}: its questions were erased, or it never was")
        return found

    def questions(self, id: str, limit: int = 100, offset: int = 0) -> list[GapQuestion]:
        """Its questions, the newest first."""
        q = questions.c
        wanted = (
            select(
                q.message_id,
                q.question,
                q.language,
                q.at,
                q.why,
                messages.c.conversation_id,
                messages.c.question,
                _earlier.c.question,
            )
            .join(messages, messages.c.id == q.message_id)
            .outerjoin(_earlier, _BEFORE)
            .where(q.gap_id == id)
            .order_by(q.at.desc(), q.message_id)
        )
        rows = self._rows(wanted.limit(limit).offset(offset))
        return [
            GapQuestion(message_id, asked, language, at, Why(why), talk, typed, _before(typed, asked, before))
            for message_id, asked, language, at, why, talk, typed, before in rows
        ]

    def history(self, id: str, limit: int = 100) -> list[GapEvent]:
        """History of a gap, the newest event first."""
        e = events.c
        wanted = select(e.at, e.action, e.by, e.details).where(e.gap_id == id).order_by(e.id.desc())
        return [GapEvent(*row) for row in self._rows(wanted.limit(limit))]

    def judge(
        self,
        id: str,
        status: GapStatus | None = None,
        note: str | None = None,
        by: str = "",
        assigned_to: str | None = None,
        kind: GapKind | None = None,
    ) -> Gap:
        """Store what an operator decided; None keeps what is. Raises UnknownRecord."""
        before = self.get(id)
        given: dict[str, Any] = {"status": status, "note": note, "assigned_to": assigned_to, "kind": kind}
        chosen = {name: one for name, one in given.items() if one is not None}
        new = {name: str(one) for name, one in chosen.items() if one != getattr(before, name)}
        after = replace(before, **chosen)
        if not new:
            return before
        closed = None if after.status.is_open else before.closed_at or now()
        solved = as_json(before.solved_by) if after.status.is_solved else None
        values = {**new, "closed_at": closed, "solved_by": solved}
        if "kind" in new:
            values["sorted_by"] = by
        details = {**new, "status": after.status.value, "before": before.status.value}
        with self._db.begin() as connection:
            self._change(connection, id, values)
            write_event(connection, id, "judged", by, details)
        return self.get(id)

    def was_asked(self, id: str, outcome: str, solved: Solved | None, by: str = "") -> None:
        """Store the result of asking its questions again; close the gap if `solved` names what answers
        them, and reopen it if it was considered solved and is not."""
        values: dict[str, Any] = {"reasked_at": now(), "reasked_outcome": "" if solved else outcome}
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

    def describe(
        self, id: str, nearest: Sequence[NearPage], missing: Missing, kind: GapKind = GapKind.MISSING
    ) -> None:
        """Store the nearest pages, what is missing, and the list of the gap."""
        values: dict[str, Any] = {"nearest": [as_json(page) for page in nearest], "missing": as_json(missing)}
        # A list that an operator chose stays.
        values["kind"] = case((gaps.c.sorted_by == "", kind.value), else_=gaps.c.kind)
        self._write(update(gaps).where(gaps.c.id == id).values(**values))

    def undescribed(self, limit: int) -> list[Gap]:
        """Gaps without a description of what is missing, the ones of most visitors first."""
        # In a column of JSON, nothing is the word null.
        wanted = select(*GAP_COLUMNS).where(type_coerce(gaps.c.missing, Text) == "null")
        ordered = wanted.order_by(gaps.c.visitors.desc(), gaps.c.id).limit(limit)
        return [gap_of(row) for row in self._rows(ordered)]

    def _change(self, connection: Connection, id: str, values: dict[str, Any]) -> None:
        if not connection.execute(update(gaps).where(gaps.c.id == id).values(**values)).rowcount:
            raise UnknownRecord(f"there is no gap {id!r}: its questions were erased, or it never was")


def _chosen(
    site_ids: Collection[str] | None = None,
    statuses: Collection[GapStatus] = (),
    kinds: Collection[GapKind] = (),
    since: datetime | None = None,
    search: str = "",
    assigned_to: str = "",
) -> list[ColumnElement[bool]]:
    """Conditions that all hold; `since` is when a gap was last asked, `search` is part of a question."""
    held: list[ColumnElement[bool]] = []
    if site_ids is not None:
        held.append(gaps.c.site_id.in_(site_ids))
    if statuses:
        held.append(gaps.c.status.in_(sorted(status.value for status in statuses)))
    if kinds:
        held.append(gaps.c.kind.in_(sorted(kind.value for kind in kinds)))
    if since is not None:
        held.append(gaps.c.last_asked >= since)
    if assigned_to:
        held.append(gaps.c.assigned_to == assigned_to)
    if search:
        asked = select(questions.c.gap_id).where(questions.c.question.icontains(search, autoescape=True))
        held.append(gaps.c.id.in_(asked))
    return held
