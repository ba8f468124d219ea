"""Derived indexes of a site, and the replies of models from which they were built.

A state belongs to the generation of the chunks from which it was built. It is read as soon as that generation
is live, in the same atomic step: a query sees the old state or the new one, never a mixture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, update

from server.storage.columns import now
from server.storage.content.reader import generation_of
from server.storage.database import Database
from server.storage.schema.content import derived_indexes as indexes
from server.storage.schema.content import model_replies as replies
from server.storage.statements import among, upsert
from server.storage.store import SiteRows, columns_of


@dataclass(frozen=True, slots=True)
class DerivedState:
    """One state of a derived index, without its body."""

    key: str
    """Strategy, options and models."""
    generation: int
    signature: str
    """Signature of the chunks and facts from which it was built."""
    figures: Mapping[str, Any]
    """Time and cost of the build, for the operator."""
    built_at: datetime


_STATE = columns_of(DerivedState, indexes)


class DerivedStore(SiteRows):
    """The derived indexes of one site."""

    def __init__(self, db: Database, site_id: str, generation: int | None = None) -> None:
        """With `generation`, `live` reads as if that generation were live."""
        super().__init__(db, site_id)
        self._at = generation

    def put(self, key: str, generation: int, signature: str, body: bytes, figures: Mapping[str, Any]) -> None:
        """Store a state and delete the states that can no longer be read. Raises UnknownSite."""
        row = {
            **{"site_id": self.site_id, "key": key, "generation": generation, "signature": signature},
            **{"figures": dict(figures), "built_at": now(), "body": body},
        }
        with self._adding() as connection:
            connection.execute(upsert(self._db.dialect, indexes), row)
            self._drop_replaced(connection, key)

    def live(self, key: str) -> DerivedState | None:
        """Return the state in use: of the live generation, or the newest before it; else None."""
        at = generation_of(self.site_id) if self._at is None else self._at
        return self._newest(key, indexes.c.generation <= at)

    def newest(self, key: str) -> DerivedState | None:
        """Return the newest state, live or not yet, or None."""
        return self._newest(key, indexes.c.generation >= 0)

    def body(self, state: DerivedState) -> bytes:
        """Return the bytes of a state; b"" if it was deleted in the meantime."""
        found = select(indexes.c.body).where(
            indexes.c.site_id == self.site_id,
            indexes.c.key == state.key,
            indexes.c.generation == state.generation,
        )
        return bytes(self._scalar(found) or b"")

    def states(self) -> list[DerivedState]:
        """Return all states of the site, by key, newest first."""
        found = select(*_STATE).where(indexes.c.site_id == self.site_id)
        ordered = found.order_by(indexes.c.key, indexes.c.generation.desc())
        return [DerivedState(*row) for row in self._rows(ordered)]

    def drop_coming(self) -> None:
        """Delete the states of generations that never went live."""
        coming = indexes.c.generation > generation_of(self.site_id)
        self._write(delete(indexes).where(indexes.c.site_id == self.site_id, coming))

    def drop(self, key: str) -> None:
        """Remove every state of a derived index."""
        self._write(delete(indexes).where(indexes.c.site_id == self.site_id, indexes.c.key == key))

    def _newest(self, key: str, where: Any) -> DerivedState | None:
        found = select(*_STATE).where(indexes.c.site_id == self.site_id, indexes.c.key == key, where)
        row = self._row(found.order_by(indexes.c.generation.desc()).limit(1))
        return DerivedState(*row) if row else None

    def _drop_replaced(self, connection: Connection, key: str) -> None:
        mine = and_(indexes.c.site_id == self.site_id, indexes.c.key == key)
        is_read = indexes.c.generation <= generation_of(self.site_id)
        last = connection.execute(select(func.max(indexes.c.generation)).where(mine, is_read)).scalar()
        if last is not None:
            connection.execute(delete(indexes).where(mine, indexes.c.generation < last))


class ModelReplies(SiteRows):
    """Stored replies of models for one site, by a key of the request."""

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the stored replies to these requests, by key, and mark them as used now."""
        ours = (replies.c.site_id == self.site_id, among(self._db.dialect, replies.c.key, "keys"))
        with self._db.begin() as connection:
            rows = connection.execute(
                select(replies.c.key, replies.c.reply).where(*ours), {"keys": list(keys)}
            )
            found = {row.key: row.reply for row in rows}
            if found:
                used = update(replies).where(*ours).values(used_at=now())
                connection.execute(used, {"keys": list(found)})
        return found

    def keep(self, key: str, kind: str, reply: str) -> None:
        """Store a reply. Raises UnknownSite."""
        row = {"site_id": self.site_id, "key": key, "kind": kind, "reply": reply, "used_at": now()}
        self._put(replies, row)

    def drop_unused(self, since: datetime, kinds: Sequence[str]) -> None:
        """Delete the replies of these kinds that no build used after `since`."""
        ours = (replies.c.site_id == self.site_id, replies.c.used_at < since)
        gone = delete(replies).where(*ours, among(self._db.dialect, replies.c.kind, "kinds"))
        self._write(gone, {"kinds": list(kinds)})
