"""Labels that operators put on conversations."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from server.storage.columns import now, storable
from server.storage.database import Database
from server.storage.errors import UnknownConversation
from server.storage.tables import of_dialogue

LONGEST, MOST = 40, 20
"""Of a label, and of labels on one conversation."""
_labels = of_dialogue.conversation_labels


class LabelStore:
    """Labels of all sites. They go with their conversation."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, site_id: str, conversation_id: str, label: str, operator: str) -> bool:
        """Puts a label on; false when it is on already, or as many as may be are.

        Raises UnknownConversation.
        """
        row = {"conversation_id": conversation_id, "label": storable(label), "site_id": site_id}
        ours = select(_labels.c.label).where(_labels.c.conversation_id == conversation_id)
        try:
            with self._db.begin() as connection:
                there = set(connection.execute(ours).scalars())
                if row["label"] in there or len(there) >= MOST:
                    return False
                connection.execute(insert(_labels), {**row, "operator": operator, "at": now()})
        except IntegrityError as error:
            raise UnknownConversation(f"there is no conversation {conversation_id!r} any more") from error
        return True

    def remove(self, conversation_id: str, label: str) -> bool:
        """Takes a label off; false when it was not on."""
        this = (_labels.c.conversation_id == conversation_id, _labels.c.label == label)
        with self._db.begin() as connection:
            return bool(connection.execute(delete(_labels).where(*this)).rowcount)

    def of(self, conversation_ids: Collection[str]) -> dict[str, list[str]]:
        """Of each of these conversations that has any, in the order of the alphabet."""
        wanted = select(_labels.c.conversation_id, _labels.c.label).order_by(_labels.c.label)
        wanted = wanted.where(_labels.c.conversation_id.in_(conversation_ids))
        found: dict[str, list[str]] = {}
        with self._db.connect() as connection:
            for conversation_id, label in connection.execute(wanted):
                found.setdefault(conversation_id, []).append(label)
        return found

    def known(self, site_ids: Collection[str], limit: int = 100) -> list[str]:
        """Labels in use on these sites, those of most conversations first."""
        wanted = select(_labels.c.label).where(_labels.c.site_id.in_(site_ids)).group_by(_labels.c.label)
        wanted = wanted.order_by(func.count().desc(), _labels.c.label).limit(limit)
        with self._db.connect() as connection:
            return list(connection.execute(wanted).scalars())
