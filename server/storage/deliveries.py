"""How what visitors wrote is sent: which tries are due, and what came of those that were made."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Channel, Delivery, DeliveryState, DeliveryTry
from server.storage.columns import now
from server.storage.contact import new_delivery
from server.storage.database import Database
from server.storage.statements import AnyRow
from server.storage.tables import of_contact

_deliveries, _tries = of_contact.deliveries, of_contact.tries
_AT_ONCE = 10
"""Due ones that are looked at for one that no other worker has taken."""


class DeliveryStore:
    """Any number of workers may take from it at once: each delivery is claimed by one of them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def claim(self, at: datetime, lease: timedelta) -> Delivery | None:
        """The delivery that is due longest, with its try counted; None when none is due.

        Nobody else gets it before `lease` has passed: a worker that is killed loses nothing.
        """
        due = (
            select(_deliveries)
            .where(_deliveries.c.state == DeliveryState.WAITING.value, _deliveries.c.next_at <= at)
            .order_by(_deliveries.c.next_at, _deliveries.c.id)
            .limit(_AT_ONCE)
        )
        with self._db.connect() as connection:
            rows = connection.execute(due).all()
        for row in rows:
            unchanged = [_deliveries.c[name] == row._mapping[name] for name in ("id", "tries", "next_at")]
            taken = {"tries": row.tries + 1, "next_at": at + lease}
            with self._db.begin() as connection:
                if connection.execute(update(_deliveries).where(*unchanged).values(**taken)).rowcount:
                    return _delivery(row, row.tries + 1, at + lease)
        return None

    def record(
        self, claimed: Delivery, tried: DeliveryTry, state: DeliveryState, next_at: datetime | None = None
    ) -> None:
        """Notes what came of a try. What was erased meanwhile is noted nowhere."""
        values = {"state": state.value, "next_at": next_at or tried.at}
        # Who took longer than the lease must not undo what another worker noted meanwhile.
        own = (_deliveries.c.id == claimed.id, _deliveries.c.next_at == claimed.next_at)
        row = {name: getattr(tried, name) for name in DeliveryTry.__dataclass_fields__}
        try:
            with self._db.begin() as connection:
                connection.execute(insert(_tries), {"delivery_id": claimed.id, **row})
                connection.execute(update(_deliveries).where(*own).values(**values))
        except IntegrityError:
            return  # the visitor, or the operator, erased it while it was being sent

    def again(self, request_id: str, channels: Iterable[Channel]) -> int:
        """Makes a request due at once on those of these ways on which it did not arrive, on all of them
        when it arrived everywhere; returns on how many."""
        at = now()
        known = {delivery.channel: delivery for delivery in self.of([request_id]).get(request_id, ())}
        wanted = list(channels)
        missing = [way for way in wanted if way not in known or known[way].state is not DeliveryState.SENT]
        due = {"state": DeliveryState.WAITING.value, "tries": 0, "next_at": at}
        with self._db.begin() as connection:
            for way in missing or wanted:
                if way in known:
                    ours = _deliveries.c.id == known[way].id
                    connection.execute(update(_deliveries).where(ours).values(**due))
                else:
                    connection.execute(insert(_deliveries), new_delivery(request_id, way, at))
        return len(missing or wanted)

    def due_since(self) -> datetime | None:
        """Since when the one that waits longest for somebody to send it is due; None when none is."""
        waiting = _deliveries.c.state == DeliveryState.WAITING.value
        oldest = select(_deliveries.c.next_at).where(waiting, _deliveries.c.next_at <= now())
        with self._db.connect() as connection:
            found = connection.execute(oldest.order_by(_deliveries.c.next_at).limit(1)).first()
        return None if found is None else found.next_at

    def of(self, request_ids: Collection[str]) -> dict[str, list[Delivery]]:
        """The deliveries of requests with all their tries."""
        ours = select(_deliveries).where(_deliveries.c.request_id.in_(request_ids))
        tried = select(_tries).join(_deliveries, _deliveries.c.id == _tries.c.delivery_id)
        with self._db.connect() as connection:
            rows = connection.execute(ours.order_by(_deliveries.c.channel)).all()
            tries = connection.execute(
                tried.where(_deliveries.c.request_id.in_(request_ids)).order_by(_tries.c.number)
            ).all()
        logs: dict[str, list[DeliveryTry]] = {}
        for one in tries:
            logs.setdefault(one.delivery_id, []).append(
                DeliveryTry(one.at, one.target, one.arrived, one.says)
            )
        found: dict[str, list[Delivery]] = {}
        for row in rows:
            delivery = _delivery(row, row.tries, row.next_at, tuple(logs.get(row.id, ())))
            found.setdefault(row.request_id, []).append(delivery)
        return found


def _delivery(row: AnyRow, tries: int, next_at: datetime, log: tuple[DeliveryTry, ...] = ()) -> Delivery:
    channel, state = Channel(row.channel), DeliveryState(row.state)
    return Delivery(row.id, row.request_id, channel, state, tries, next_at, log)
