"""Work that waits in a table for whichever worker comes first, and which process works on it.

One piece of work runs at a time; a piece whose worker was killed goes to the next worker. The table has `id`,
`state`, `holder` and `beat_at`.
"""

import os
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Table, select, update

from server.storage.columns import now
from server.storage.database import Database
from server.storage.statements import AnyRow
from server.storage.store import Store

LEASE_S = 15.0
"""A holder without a sign of life for so long is gone, on whatever machine it ran."""

_ours: set[str] = set()


def new_holder() -> str:
    """Return a new name under which this process holds a piece of work."""
    holder = f"{_place()} {os.getpid()} {uuid4().hex[:12]}"
    _ours.add(holder)
    return holder


def is_ours(holder: str) -> bool:
    """Return whether this process holds its work under this name."""
    return holder in _ours


def is_gone(holder: str) -> bool:
    """Whether the process of this holder has certainly ended; False when unsure."""
    place, _, rest = holder.partition(" ")
    number = rest.partition(" ")[0]
    if not number:
        return True
    if not place or place != _place():
        return False
    if int(number) == os.getpid():
        # This process may have got the number of the one that was killed.
        return holder not in _ours
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@cache
def _place() -> str:
    """The boot of the machine and its namespace of process ids; empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


WAITING, RUNNING = "waiting", "running"


class WorkStates(Store):
    """Work in one table. The database decides which worker gets which piece."""

    def __init__(self, db: Database, table: Table) -> None:
        super().__init__(db)
        self._table = table

    def claim(self, holder: str, **values: Any) -> int | None:
        """Claim the oldest waiting piece and set these values; None if there is none, or another piece is
        running."""
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
        """Record that the holder still works on it and set these values; false if it belongs to another
        holder now, or was removed."""
        return self._own(id, holder, {"beat_at": now(), **values})

    def end(self, id: int, holder: str, state: str, **values: Any) -> bool:
        """Set its last state, unless it belongs to another holder now."""
        return self._own(id, holder, {"state": state, "holder": "", **values})

    def _own(self, id: int, holder: str, values: dict[str, Any]) -> bool:
        table = self._table
        mine = (table.c.id == id, table.c.state == RUNNING, table.c.holder == holder)
        return bool(self._write(update(table).where(*mine).values(values)))


def is_left(row: AnyRow) -> bool:
    """Whether the process of a running row is gone."""
    if row.beat_at is None or not row.holder:
        return True
    return row.beat_at < now() - timedelta(seconds=LEASE_S) or is_gone(row.holder)
