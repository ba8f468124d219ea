"""Deliveries: which attempts are due, and the results of earlier attempts.

Messages to people, replies and events each have such tables.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic
from uuid import uuid4

from sqlalchemy import Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.contact import Channel, Delivery, DeliveryState, DeliveryTry, Way
from server.storage.columns import now
from server.storage.database import Database
from server.storage.schema.delivery import contact_deliveries, contact_tries
from server.storage.statements import AnyRow
from server.storage.store import Store

_AT_ONCE = 10
"""Due deliveries that are tried to find one that no other worker has claimed."""


@dataclass(frozen=True, slots=True)
class DeliveryTables:
    """The tables of one kind of deliveries."""

    deliveries: Table
    tries: Table
    owner: str
    """Column with the id of what is sent."""
    way: str
    """Column with the channel or webhook."""


CONTACT = DeliveryTables(contact_deliveries, contact_tries, owner="request_id", way="channel")


class Deliveries(Store, Generic[Way]):
    """Deliveries of one kind. Any number of workers may claim them: each delivery goes to one worker."""

    def __init__(self, db: Database, tables: DeliveryTables, way: Callable[[str], Way]) -> None:
        """`way` converts the value of the column of that name."""
        super().__init__(db)
        self._tables = tables
        self._sent, self._tries = tables.deliveries, tables.tries
        self._owner, self._to = tables.owner, tables.way
        self._way = way

    def claim(self, at: datetime, lease: timedelta, resting: Collection[Way] = ()) -> Delivery[Way] | None:
        """Claim the delivery that has been due longest and count the attempt; None if none is due. Deliveries
        through `resting` channels stay due.

        Nobody else gets it before `lease` has passed: a worker that is killed loses nothing.
        """
        due = (
            select(self._sent)
            .where(self._sent.c.state == DeliveryState.WAITING.value, self._sent.c.next_at <= at)
            .where(self._sent.c[self._to].not_in([str(way) for way in resting]))
            .order_by(self._sent.c.next_at, self._sent.c.id)
            .limit(_AT_ONCE)
        )
        for row in self._rows(due):
            unchanged = [self._sent.c[name] == row._mapping[name] for name in ("id", "tries", "next_at")]
            taken = {"tries": row.tries + 1, "next_at": at + lease}
            if self._write(update(self._sent).where(*unchanged).values(**taken)):
                return self._delivery(row, row.tries + 1, at + lease)
        return None

    def record(
        self,
        claimed: Delivery[Way],
        tried: DeliveryTry,
        state: DeliveryState,
        next_at: datetime | None = None,
    ) -> None:
        """Store the result of an attempt. A delivery that was deleted in the meantime is no error."""
        values = {"state": state.value, "next_at": next_at or tried.at}
        # Who took longer than the lease must not undo what another worker noted meanwhile.
        own = (self._sent.c.id == claimed.id, self._sent.c.next_at == claimed.next_at)
        try:
            with self._db.begin() as connection:
                connection.execute(insert(self._tries), {"delivery_id": claimed.id, **asdict(tried)})
                connection.execute(update(self._sent).where(*own).values(**values))
        except IntegrityError:
            return  # the visitor, or the operator, erased it while it was being sent

    def again(self, request_id: str, channels: Iterable[Way]) -> int:
        """Make the deliveries of a message through these channels due now: the ones that did not arrive,
        or all if every one arrived; return how many."""
        at = now()
        known = {delivery.channel: delivery for delivery in self.of([request_id]).get(request_id, ())}
        wanted = list(channels)
        missing = [way for way in wanted if way not in known or known[way].state is not DeliveryState.SENT]
        due = {"state": DeliveryState.WAITING.value, "tries": 0, "next_at": at}
        with self._db.begin() as connection:
            for way in missing or wanted:
                if way in known:
                    ours = self._sent.c.id == known[way].id
                    connection.execute(update(self._sent).where(ours).values(**due))
                else:
                    connection.execute(insert(self._sent), new_delivery(self._tables, request_id, way, at))
        return len(missing or wanted)

    def due_since(self, resting: Collection[Way] = ()) -> datetime | None:
        """Since when the oldest waiting delivery has been due, but those through `resting` channels; None if
        none is."""
        waiting = self._sent.c.state == DeliveryState.WAITING.value
        waiting &= self._sent.c[self._to].not_in([str(way) for way in resting])
        oldest = select(self._sent.c.next_at).where(waiting, self._sent.c.next_at <= now())
        found: datetime | None = self._scalar(oldest.order_by(self._sent.c.next_at).limit(1))
        return found

    def of(self, request_ids: Collection[str]) -> dict[str, list[Delivery[Way]]]:
        """Owner id -> its deliveries with all their attempts."""
        ours = select(self._sent).where(self._sent.c[self._owner].in_(request_ids))
        tried = select(self._tries).join(self._sent, self._sent.c.id == self._tries.c.delivery_id)
        rows = self._rows(ours.order_by(self._sent.c[self._to]))
        tried = tried.where(self._sent.c[self._owner].in_(request_ids)).order_by(self._tries.c.number)
        logs: dict[str, list[DeliveryTry]] = {}
        for one in self._rows(tried):
            logs.setdefault(one.delivery_id, []).append(
                DeliveryTry(one.at, one.target, one.arrived, one.says)
            )
        found: dict[str, list[Delivery[Way]]] = {}
        for row in rows:
            delivery = self._delivery(row, row.tries, row.next_at, tuple(logs.get(row.id, ())))
            found.setdefault(row._mapping[self._owner], []).append(delivery)
        return found

    def _delivery(
        self, row: AnyRow, tries: int, next_at: datetime, log: tuple[DeliveryTry, ...] = ()
    ) -> Delivery[Way]:
        values = row._mapping
        owner, way = str(values[self._owner]), self._way(values[self._to])
        return Delivery(row.id, owner, way, DeliveryState(row.state), tries, next_at, log)


message_deliveries = partial(Deliveries[Channel], tables=CONTACT, way=Channel)
"""Deliveries of messages to people."""


def new_delivery(tables: DeliveryTables, owner: str, way: str, at: datetime) -> dict[str, Any]:
    """The row of a delivery that is due."""
    return {
        "id": uuid4().hex,
        tables.owner: owner,
        tables.way: way,
        "state": DeliveryState.WAITING.value,
        "tries": 0,
        "next_at": at,
    }
