"""Work that waits in a table for whichever worker comes first: one piece at a time, and a piece whose worker
was killed goes to the next one.

The table has `id`, `state`, `holder` and `beat_at`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Table, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.holders import LEASE_S, is_gone
from server.storage.statements import AnyRow

WAITING, RUNNING = "waiting", "running"


class WorkStates:
    """Of one table. The database decides who works on what, for any number of workers."""

    def __init__(self, db: Database, table: Table) -> None:
        self._db = db
        self._table = table

    def claim(self, holder: str, **values: Any) -> int | None:
        """The oldest piece that is to be done, now this holder's, with these values set; None while another
        one is under way, or when there is none."""
        table = self._table
        with self._db.begin() as connection:
            open_ones = select(table).where(table.c.state.in_((WAITING, RUNNING))).order_by(table.c.id)
            rows = connection.execute(open_ones.with_for_update()).all()
            under_way = [row for row in rows if row.state == RUNNING]
            if any(not is_left(row) for row in under_way) or not rows:
                return None
            # What was cut off goes first: it is the older one, and most of it may be done.
            chosen = under_way[0] if under_way else rows[0]
            taken = {"state": RUNNING, "holder": holder, "beat_at": now(), **values}
            connection.execute(update(table).where(table.c.id == chosen.id).values(taken))
        return int(chosen.id)

    def beat(self, id: int, holder: str, **values: Any) -> bool:
        """Says that the holder still works on it, with these values set; false when it is not its own any
        more, or was removed."""
        return self._own(id, holder, {"beat_at": now(), **values})

    def end(self, id: int, holder: str, state: str, **values: Any) -> bool:
        """Leaves it in this state, unless it is not the holder's any more."""
        return self._own(id, holder, {"state": state, "holder": "", **values})

    def _own(self, id: int, holder: str, values: dict[str, Any]) -> bool:
        table = self._table
        mine = (table.c.id == id, table.c.state == RUNNING, table.c.holder == holder)
        with self._db.begin() as connection:
            return bool(connection.execute(update(table).where(*mine).values(values)).rowcount)


def is_left(row: AnyRow) -> bool:
    """Whether nobody works on what is under way by its row."""
    if row.beat_at is None or not row.holder:
        return True
    return row.beat_at < now() - timedelta(seconds=LEASE_S) or is_gone(row.holder)
