"""The journal of one crawl in the database: the result of each address, and what is still waiting."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache

from sqlalchemy import Insert, Update, bindparam, func, null, select, true, update

from crawler.journal import JournalEntry
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import UnknownRecord
from server.storage.schema.sites import crawl_notes, crawl_urls
from server.storage.statements import among, upsert
from server.storage.store import Store, Values, raising

BATCH = 4000
"""Entries read at once."""

_FIELDS = tuple(field.name for field in fields(JournalEntry))
_DEPTHS = (
    select(crawl_urls.c.depth)
    .where(crawl_urls.c.crawl_id == bindparam("crawl"))
    .distinct()
    .order_by(crawl_urls.c.depth)
)
# Depth by depth in the order of the key: no index of depths has to be kept while a crawl writes.
_NEXT = (
    select(
        *(
            func.coalesce(crawl_urls.c.visit, "") if name == "visit" else crawl_urls.c[name]
            for name in _FIELDS
        )
    )
    .where(
        crawl_urls.c.crawl_id == bindparam("crawl"),
        crawl_urls.c.depth == bindparam("depth"),
        crawl_urls.c.url > bindparam("after"),
    )
    .order_by(crawl_urls.c.url)
    .limit(BATCH)
)


class CrawlJournal(Store):
    """Implements crawler.journal.CrawlJournal; one call is one transaction.

    Raises StorageError, UnknownRecord.
    """

    def __init__(self, db: Database, crawl_id: int) -> None:
        super().__init__(db)
        self._crawl_id = crawl_id

    def entries(self) -> Iterator[JournalEntry]:
        """All entries, lowest depth first, one batch in memory at a time."""
        for (depth,) in self._rows(_DEPTHS, {"crawl": self._crawl_id}):
            after = ""
            while True:
                rows = self._rows(_NEXT, {"crawl": self._crawl_id, "depth": depth, "after": after})
                for row in rows:
                    yield JournalEntry(*row)
                if len(rows) < BATCH:
                    break
                after = rows[-1].url

    def write(self, entries: Sequence[JournalEntry]) -> None:
        """Adds entries; one of the same address is replaced."""
        if not entries:
            return
        at = now()
        rows = []
        for entry in entries:
            row = {name: getattr(entry, name) for name in _FIELDS}
            row["crawl_id"], row["at"], row["visit"] = self._crawl_id, at, entry.visit or None
            rows.append(row)
        self._store(upsert(self._db.dialect, crawl_urls), rows)

    def settle(self, urls: Sequence[str]) -> None:
        """Marks entries as settled and drops their visits."""
        if urls:
            self._write(_settle(self._db.dialect), {"crawl": self._crawl_id, "urls": list(urls)})

    def notes(self) -> dict[str, str]:
        """Notes on the whole crawl: name -> value."""
        mine = select(crawl_notes.c.name, crawl_notes.c.value)
        rows = self._rows(mine.where(crawl_notes.c.crawl_id == self._crawl_id))
        return {name: value for name, value in rows}

    def note(self, name: str, value: str) -> None:
        """Store a note on the whole crawl, replacing an earlier value."""
        row = {"crawl_id": self._crawl_id, "name": name, "value": value}
        self._store(upsert(self._db.dialect, crawl_notes), row)

    def _store(self, statement: Insert, values: Values) -> None:
        with raising(UnknownRecord(f"there is no crawl {self._crawl_id}: its site was deleted meanwhile")):
            self._write(statement, values)


@cache
def _settle(dialect: str) -> Update:
    mine = (crawl_urls.c.crawl_id == bindparam("crawl"), among(dialect, crawl_urls.c.url, "urls"))
    return update(crawl_urls).where(*mine).values(settled=true(), visit=null())
