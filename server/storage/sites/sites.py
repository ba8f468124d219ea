"""The sites that Docent answers for: their rows, their notes, and removing all rows of a site."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.site import Site
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import SiteExists, UnknownSite
from server.storage.people.operators import forget_site
from server.storage.schema.content import chunks
from server.storage.schema.conversations import conversations, messages, notices
from server.storage.schema.sites import crawl_urls, crawls, incidents, site_notes, sites
from server.storage.statements import AnyRow
from server.storage.store import Store, raising

_FIELDS = tuple(column for column in sites.c if column.name in Site.__dataclass_fields__)
_STAYING = select(*_FIELDS).where(sites.c.leaving.is_(False))
_ALL = _STAYING.order_by(sites.c.created_at, sites.c.id)
ADDED = "site added"
_ONE = _STAYING.where(sites.c.id == bindparam("id"))


class SiteStore(Store):
    """Sites by id, in the order of creation. A site that is being removed is no longer found, but its id is
    still taken."""

    def create(self, site: Site) -> Site:
        """Stores a new site, with no live generation yet, and returns it. Raises SiteExists."""
        new = replace(site, generation=0)
        try:
            self._write(insert(sites).values(**_values(new), generation=0, created_at=now()))
        except IntegrityError as error:
            what = "is still being removed" if site.id in self.leaving() else "exists"
            raise SiteExists(f"a site with the id {site.id!r} {what}: choose another id") from error
        return new

    def was_added(self, address: str) -> bool:
        """Return whether `note_added` was called for the address."""
        return self._scalar(select(notices.c.name).where(notices.c.name == f"{ADDED} {address}")) is not None

    def note_added(self, address: str) -> None:
        """Remember that a starting server has the site of this address, also after the site is removed."""
        self._put(notices, {"name": f"{ADDED} {address}", "shown_at": now()})

    def get(self, id: str) -> Site:
        """The site. Raises UnknownSite."""
        site = self.find(id)
        if site is None:
            raise UnknownSite(self._unknown(id))
        return site

    def find(self, id: str) -> Site | None:
        """The site, or None."""
        row = self._row(_ONE, {"id": id})
        return None if row is None else _site(row)

    def all(self) -> list[Site]:
        """All sites, the oldest first."""
        return [_site(row) for row in self._rows(_ALL)]

    def update(self, site: Site) -> None:
        """Store every field except `generation`, which only ContentStore changes. Raises UnknownSite."""
        if not self._write(update(sites).where(sites.c.id == site.id).values(**_values(site))):
            raise UnknownSite(self._unknown(site.id))

    def change(self, id: str, made: Callable[[Site], Site]) -> Site:
        """Apply `made` to the stored site and store the result; nobody changes the site in between. `made`
        may raise, and must not use the database. Raises UnknownSite."""
        with self._db.begin() as connection:
            row = connection.execute(_ONE.with_for_update(), {"id": id}).first()
            if row is not None:
                changed = made(_site(row))
                connection.execute(update(sites).where(sites.c.id == id).values(**_values(changed)))
                return changed
        raise UnknownSite(self._unknown(id))

    def leave(self, id: str) -> None:
        """Mark a site for removal: it is no longer found. Raises UnknownSite."""
        marked = update(sites).where(sites.c.id == id, sites.c.leaving.is_(False)).values(leaving=True)
        if not self._write(marked):
            raise UnknownSite(self._unknown(id))

    def leaving(self) -> list[str]:
        """Ids of sites that are being removed."""
        wanted = select(sites.c.id).where(sites.c.leaving).order_by(sites.c.created_at)
        return [row.id for row in self._rows(wanted)]

    def delete(self, id: str) -> None:
        """Delete a new site with everything that refers to it. Raises UnknownSite."""
        if not _remove_site(self._db, id):
            raise UnknownSite(self._unknown(id))

    def _unknown(self, id: str) -> str:
        known = ", ".join(site.id for site in self.all())
        if not known:
            return f"there is no site {id!r}, nor any other: add one with `python -m server crawl URL`"
        return f"there is no site {id!r}; known: {known}"


def _values(site: Site) -> Mapping[str, Any]:
    return {name: getattr(site, name) for name in Site.__dataclass_fields__ if name != "generation"}


def _site(row: AnyRow) -> Site:
    tuples = {name: tuple(row._mapping[name]) for name in ("start_urls", "origins")}
    return Site(**{**row._mapping, **tuples})


class SiteNotes(Store):
    """Texts by site and name, for the crawls of a site."""

    def get(self, site_id: str, name: str) -> str:
        """The text; empty when there is none."""
        found = select(site_notes.c.value).where(site_notes.c.site_id == site_id, site_notes.c.name == name)
        return str(self._scalar(found) or "")

    def set(self, site_id: str, name: str, value: str) -> None:
        """Store a text, replacing the earlier one. Raises UnknownSite."""
        row = {"site_id": site_id, "name": name, "value": value}
        with raising(UnknownSite(f"there is no site {site_id!r}")):
            self._put(site_notes, row)


CONVERSATIONS, CHUNKS, ADDRESSES = 200, 2000, 5000
"""Rows that one transaction deletes. Deleting a conversation deletes its messages."""


def remove_site_rows(db: Database, site_id: str) -> None:
    """Delete every row of the site except the audit log; the site's own row last, so that an interrupted
    removal can be repeated. A site that is gone already is no error. Raises StorageError."""
    of_site = select(crawls.c.id).where(crawls.c.site_id == site_id)
    _remove(db, crawl_urls, ADDRESSES, crawl_urls.c.crawl_id.in_(of_site))
    _remove(db, conversations, CONVERSATIONS, conversations.c.site_id == site_id)
    _remove(db, chunks, CHUNKS, chunks.c.site_id == site_id)
    _remove_site(db, site_id)


def _remove_site(db: Database, site_id: str) -> bool:
    with db.begin() as connection:
        connection.execute(delete(incidents).where(incidents.c.site_id == site_id))
        forget_site(connection, site_id)
        # The other tables hang on this row.
        return connection.execute(delete(sites).where(sites.c.id == site_id)).rowcount == 1


def talked_since(db: Database, site_id: str, since: datetime) -> list[str]:
    """Ids of the site's conversations in which something was asked since then."""
    wanted = select(messages.c.conversation_id).distinct()
    wanted = wanted.where(messages.c.site_id == site_id, messages.c.asked_at >= since)
    with db.connect() as connection:
        return list(connection.execute(wanted).scalars())


def _remove(db: Database, table: Table, at_once: int, which: ColumnElement[bool]) -> None:
    """Delete matching rows of a table, `at_once` in a transaction."""
    keys = list(table.primary_key.columns)
    some = select(*keys).where(which).limit(at_once)
    removed = at_once
    while removed == at_once:
        with db.begin() as connection:
            found = connection.execute(some).all()
            # All but the last part of a key are the same in a batch of one site or crawl.
            for first in {row[:-1] for row in found}:
                last = [row[-1] for row in found if row[:-1] == first]
                same = [key == value for key, value in zip(keys, first, strict=False)]
                connection.execute(delete(table).where(*same, keys[-1].in_(last)))
        removed = len(found)
