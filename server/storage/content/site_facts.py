"""The card of facts of a site: what the last crawl found, and what operators made of it."""

from collections.abc import Sequence
from dataclasses import asdict
from secrets import token_hex

from sqlalchemy import delete, or_, select, update
from sqlalchemy.sql.elements import ColumnElement

from server.domain.site_fact import FactKind, SiteFact
from server.storage.columns import now
from server.storage.errors import UnknownRecord
from server.storage.schema.content import site_facts as facts
from server.storage.schema.sites import site_notes
from server.storage.statements import AnyRow, among, upsert, upsert_with
from server.storage.store import SiteRows, columns_of, existing

_COLUMNS = columns_of(SiteFact, facts)
_FOUND = ("position", "kind", "label", "value", "url", "quote", "language", "main", "found", "seen_at")
"""Columns that a crawl writes; the others are the operators'."""
_DECIDED = or_(facts.c.added, facts.c.hidden, facts.c.own_value != "")
MADE_FROM = "card_made_from"
"""Name of a site's note about what its facts were found in, which is deleted when facts of a page change."""


class SiteFactStore(SiteRows):
    """The facts of one site."""

    def put(self, found: Sequence[SiteFact], made_from: str = "") -> None:
        """Store what a crawl found, in this order. Facts that it did not find are deleted, unless an operator
        edited, hid or added them. `made_from` identifies what they were found in. Raises UnknownSite."""
        at, dialect = now(), self._db.dialect
        rows = [
            {**asdict(fact), "site_id": self.site_id, "position": position, "found": True, "seen_at": at}
            for position, fact in enumerate(found)
        ]
        known = among(dialect, facts.c.id, "ids")
        kept = {column.name: column for column in facts.c if column.name not in _FOUND}
        ids = {"ids": [fact.id for fact in found]}
        with self._adding() as connection:
            connection.execute(delete(facts).where(self._mine, ~known, ~_DECIDED), ids)
            missing = update(facts).where(self._mine, ~known, ~facts.c.added)
            connection.execute(missing.values(found=False), ids)
            if rows:
                connection.execute(upsert_with(dialect, facts, kept), rows)
            note = {"site_id": self.site_id, "name": MADE_FROM, "value": made_from}
            connection.execute(upsert(dialect, site_notes), note)

    def confirm(self, made_from: str) -> bool:
        """If `made_from` is what the facts were found in, and no page has other facts since, do what `put` of
        the same facts does, and return True."""
        noted = (site_notes.c.site_id == self.site_id, site_notes.c.name == MADE_FROM)
        if self._scalar(select(site_notes.c.value).where(*noted)) != made_from:
            return False
        with self._db.begin() as connection:
            connection.execute(delete(facts).where(self._mine, ~facts.c.found, ~_DECIDED))
            seen = update(facts).where(self._mine, facts.c.found, ~facts.c.added)
            connection.execute(seen.values(seen_at=now()))
        return True

    def all(self) -> list[SiteFact]:
        """Return all facts by kind, those that operators wrote first, then in the order of the crawl."""
        own = select(*_COLUMNS).where(self._mine).order_by(facts.c.position, facts.c.id)
        found = [_fact(row) for row in self._rows(own)]
        kinds = list(FactKind)
        return sorted(found, key=lambda one: (kinds.index(one.kind), not (one.added or one.own_value)))

    def get(self, fact_id: str) -> SiteFact:
        """Return one fact. Raises UnknownRecord."""
        rows = self._rows(select(*_COLUMNS).where(self._mine, facts.c.id == fact_id))
        return _fact(existing(rows, UnknownRecord(f"this site has no fact {fact_id!r}")))

    def correct(self, fact_id: str, value: str, by: str) -> None:
        """Replace the value of a fact, or with "" take the site's own again. Raises UnknownRecord."""
        self._edit(fact_id, by, own_value="" if value == self.get(fact_id).value else value)

    def hide(self, fact_id: str, by: str, *, hidden: bool) -> None:
        """Keep a fact out of the answers, or give it again. Raises UnknownRecord."""
        self._edit(fact_id, by, hidden=hidden)

    def add(self, kind: FactKind, label: str, value: str, url: str, by: str) -> SiteFact:
        """Store an operator's own fact and return it. Without a label it answers general questions. Raises
        UnknownSite."""
        at = now()
        made = SiteFact(
            token_hex(8), kind, label, value, url, main=not label, added=True,
            seen_at=at, edited_by=by, edited_at=at,
        )  # fmt: skip
        row = {**asdict(made), "site_id": self.site_id, "position": 0}
        self._put(facts, row)
        return made

    def remove(self, fact_id: str) -> bool:
        """Delete a fact that an operator added, or that the last crawl did not find; return whether there was
        one."""
        gone = delete(facts).where(self._mine, facts.c.id == fact_id, or_(facts.c.added, ~facts.c.found))
        return bool(self._write(gone))

    @property
    def _mine(self) -> ColumnElement[bool]:
        return facts.c.site_id == self.site_id

    def _edit(self, fact_id: str, by: str, **values: object) -> None:
        change = update(facts).where(self._mine, facts.c.id == fact_id)
        if not self._write(change.values(**values, edited_by=by, edited_at=now())):
            raise UnknownRecord(f"this site has no fact {fact_id!r}")


def _fact(row: AnyRow) -> SiteFact:
    fact_id, kind, *rest = row
    return SiteFact(fact_id, FactKind(kind), *rest)
