"""What models said while indexes were built: the next build goes on from there and pays nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownSite
from server.storage.statements import among, upsert
from server.storage.tables import of_derived

replies = of_derived.replies


class ModelReplies:
    """The kept replies of one site, by a key of what was asked."""

    def __init__(self, db: Database, site_id: str) -> None:
        self._db = db
        self._site_id = site_id

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """The kept replies to these questions; they count as used now."""
        ours = (replies.c.site_id == self._site_id, among(self._db.dialect, replies.c.key, "keys"))
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
        """Keeps one. Raises UnknownSite."""
        row = {"site_id": self._site_id, "key": key, "kind": kind, "reply": reply, "used_at": now()}
        try:
            with self._db.begin() as connection:
                connection.execute(upsert(self._db.dialect, replies, key=("site_id", "key")), row)
        except IntegrityError as error:
            raise UnknownSite(f"there is no site {self._site_id!r}") from error

    def drop_unused(self, since: datetime, kinds: Sequence[str]) -> None:
        """Forgets the replies of these kinds that no build used after `since`."""
        ours = (replies.c.site_id == self._site_id, replies.c.used_at < since)
        gone = delete(replies).where(*ours, among(self._db.dialect, replies.c.kind, "kinds"))
        with self._db.begin() as connection:
            connection.execute(gone, {"kinds": list(kinds)})
