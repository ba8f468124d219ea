"""How gaps stand in the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, distinct, func, insert, select, update

from server.domain.gap import Gap, GapStatus, Missing, NearPage, Solved, Why
from server.storage.columns import now
from server.storage.statements import AnyRow
from server.storage.tables import of_gaps

gaps, questions, events = of_gaps.gaps, of_gaps.questions, of_gaps.events
_FIGURES = select(
    func.count(),
    func.count(distinct(questions.c.visitor_id)),
    func.min(questions.c.at),
    func.max(questions.c.at),
    *(func.sum(case((questions.c.why == why.value, 1), else_=0)) for why in Why),
).where(questions.c.gap_id == bindparam("gap"))
_COUNTED = ("asked", "visitors", "first_asked", "last_asked", "why")
_COUNT = (
    update(gaps)
    .where(gaps.c.id == bindparam("gap"))
    .values({gaps.c[name]: bindparam(f"new_{name}", type_=gaps.c[name].type) for name in _COUNTED})
)
GAP_COLUMNS = [gaps.c[name] for name in Gap.__dataclass_fields__]


def gap_of(row: AnyRow) -> Gap:
    """A row of GAP_COLUMNS."""
    values: dict[str, Any] = dict(zip(Gap.__dataclass_fields__, row, strict=True))
    missing, solved = values["missing"], values["solved_by"]
    return Gap(
        **{
            **values,
            "status": GapStatus(values["status"]),
            "nearest": tuple(NearPage(**page) for page in values["nearest"]),
            "missing": Missing(**{name: tuple(words) for name, words in missing.items()})
            if missing
            else None,
            "why": {Why(name): count for name, count in values["why"].items()},
            "solved_by": Solved(**solved) if solved else None,
        }
    )


def as_json(value: Missing | Solved | NearPage | None) -> dict[str, Any] | None:
    """As it is stored."""
    return None if value is None else asdict(value)


def write_event(
    connection: Connection,
    gap_id: str,
    action: str,
    by: str = "",
    details: Mapping[str, object] | None = None,
) -> None:
    """One line of the gap's history, of now."""
    row = {"gap_id": gap_id, "at": now(), "action": action, "by": by, "details": dict(details or {})}
    connection.execute(insert(events).values(**row))


def recount(connection: Connection, gap_id: str, *, shrunk: bool = True) -> bool:
    """Makes the figures of a gap those of its questions. False when it has none left, and is gone.

    With `shrunk` the sum of vectors is forgotten, too: it holds those of questions that are gone."""
    asked, visitors, first, last, *whys = connection.execute(_FIGURES, {"gap": gap_id}).one()
    if not asked:
        connection.execute(delete(gaps).where(gaps.c.id == gap_id))
        return False
    counted = {why.value: int(count) for why, count in zip(Why, whys, strict=True) if count}
    values = {"asked": asked, "visitors": visitors, "first_asked": first, "last_asked": last, "why": counted}
    connection.execute(_COUNT, {"gap": gap_id, **{f"new_{name}": value for name, value in values.items()}})
    if shrunk:
        standing = {"total": None, "embedded": 0, **_standing(connection, gap_id)}
        connection.execute(update(gaps).where(gaps.c.id == gap_id).values(**standing))
    return True


def _standing(connection: Connection, gap_id: str) -> dict[str, Any]:
    """What changes where the question that stands for the gap is gone: none of its words may be kept."""
    shown = connection.execute(select(gaps.c.question).where(gaps.c.id == gap_id)).scalar_one()
    of_gap = questions.c.gap_id == gap_id
    there = select(questions.c.message_id).where(of_gap, questions.c.question == shown).limit(1)
    if connection.execute(there).first():
        return {}
    wanted = select(questions.c.question, questions.c.language).where(of_gap)
    question, language = connection.execute(wanted.order_by(questions.c.at).limit(1)).one()
    return {"question": question, "language": language, "missing": None, "nearest": []}


def leave_gaps(connection: Connection, messages_of: Any) -> None:
    """Takes the questions of messages that are about to be deleted out of their gaps. `messages_of` selects
    the ids of the messages. Gaps keep true counts, and none of these visitors' words."""
    theirs = questions.c.message_id.in_(messages_of)
    found = connection.execute(select(questions.c.gap_id).where(theirs).distinct()).scalars().all()
    connection.execute(delete(questions).where(theirs))
    for gap_id in found:
        recount(connection, gap_id)
