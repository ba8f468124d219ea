"""Updates the figures of gaps when questions are added or removed.

Deleting conversations needs this, so it is part of storage. The other statements on gaps are in server.gaps.
"""

from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, distinct, func, select, update

from server.domain.gap import Why
from server.storage.schema.quality import gap_questions as questions
from server.storage.schema.quality import gaps

_FIGURES = select(
    func.count(),
    func.count(distinct(questions.c.visitor_id)),
    func.min(questions.c.at),
    func.max(questions.c.at),
    *(func.sum(case((questions.c.why == why.value, 1), else_=0)) for why in Why),
).where(questions.c.gap_id == bindparam("gap"))


def recount(connection: Connection, gap_id: str, *, shrunk: bool = True) -> bool:
    """Count the questions of a gap again. Return false if it had none left and was deleted.

    With `shrunk` the sum of vectors is dropped too, because it contains removed questions."""
    asked, visitors, first, last, *whys = connection.execute(_FIGURES, {"gap": gap_id}).one()
    if not asked:
        connection.execute(delete(gaps).where(gaps.c.id == gap_id))
        return False
    counted = {why.value: int(count) for why, count in zip(Why, whys, strict=True) if count}
    values = {"asked": asked, "visitors": visitors, "first_asked": first, "last_asked": last, "why": counted}
    if shrunk:
        values |= {"total": None, "embedded": 0, **_new_title(connection, gap_id)}
    connection.execute(update(gaps).where(gaps.c.id == gap_id).values(values))
    return True


def _new_title(connection: Connection, gap_id: str) -> dict[str, Any]:
    """Return new values if the question that names the gap was removed: its words must not be kept."""
    shown = connection.execute(select(gaps.c.question).where(gaps.c.id == gap_id)).scalar_one()
    of_gap = questions.c.gap_id == gap_id
    there = select(questions.c.message_id).where(of_gap, questions.c.question == shown).limit(1)
    if connection.execute(there).first():
        return {}
    wanted = select(questions.c.question, questions.c.language).where(of_gap)
    question, language = connection.execute(wanted.order_by(questions.c.at).limit(1)).one()
    return {"question": question, "language": language, "missing": None, "nearest": []}


def remove_from_gaps(connection: Connection, messages_of: Any) -> None:
    """Remove messages from their gaps before they are deleted. `messages_of` selects the ids of the messages.
    The counts of the gaps stay correct, and none of the visitors' words are kept."""
    theirs = questions.c.message_id.in_(messages_of)
    found = connection.execute(select(questions.c.gap_id).where(theirs).distinct()).scalars().all()
    connection.execute(delete(questions).where(theirs))
    for gap_id in found:
        recount(connection, gap_id)
