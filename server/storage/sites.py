"""The sites that Docent answers for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from server.domain.site import Site
from server.storage.columns import now
from server.storage.database import Database
from server.storage.errors import SiteExists, UnknownSite
from server.storage.statements import AnyRow
from server.storage.tables import incidents, sites

_FIELDS = tuple(column for column in sites.c if column.name not in ("created_at", "leaving"))
_STAYING = select(*_FIELDS).where(sites.c.leaving.is_(False))
_ALL = _STAYING.order_by(sites.c.created_at, sites.c.id)
_ONE = _STAYING.where(sites.c.id == bindparam("id"))


class SiteStore:
    """Sites by id, in the order in which they were made. A site that is being removed is not there any
    more, though its id is still taken."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def create(self, site: Site) -> Site:
        """Stores a new site, with no live generation yet, and returns it. Raises SiteExists."""
        new = replace(site, generation=0)
        try:
            with self._db.begin() as connection:
                connection.execute(insert(sites).values(**_values(new), generation=0, created_at=now()))
        except IntegrityError as error:
            what = "is still being removed" if site.id in self.leaving() else "exists"
            raise SiteExists(f"a site with the id {site.id!r} {what}: choose another id") from error
        return new

    def get(self, id: str) -> Site:
        """The site. Raises UnknownSite."""
        site = self.find(id)
        if site is None:
            raise UnknownSite(self._unknown(id))
        return site

    def find(self, id: str) -> Site | None:
        """The site, or None."""
        with self._db.connect() as connection:
            row = connection.execute(_ONE, {"id": id}).first()
        return None if row is None else _site(row)

    def all(self) -> list[Site]:
        """Every site, the oldest first."""
        with self._db.connect() as connection:
            return [_site(row) for row in connection.execute(_ALL)]

    def update(self, site: Site) -> None:
        """Stores every field but `generation`, which only the content store moves. Raises UnknownSite."""
        with self._db.begin() as connection:
            changed = connection.execute(update(sites).where(sites.c.id == site.id).values(**_values(site)))
        if not changed.rowcount:
            raise UnknownSite(self._unknown(site.id))

    def change(self, id: str, made: Callable[[Site], Site]) -> Site:
        """Stores what `made` makes of the site as it is now; nobody changes it in between. `made` may raise,
        and must not use the database. Raises UnknownSite."""
        with self._db.begin() as connection:
            row = connection.execute(_ONE.with_for_update(), {"id": id}).first()
            if row is not None:
                changed = made(_site(row))
                connection.execute(update(sites).where(sites.c.id == id).values(**_values(changed)))
                return changed
        raise UnknownSite(self._unknown(id))

    def leave(self, id: str) -> None:
        """The site is to be removed: from now on it is found no more. Raises UnknownSite."""
        marked = update(sites).where(sites.c.id == id, sites.c.leaving.is_(False)).values(leaving=True)
        with self._db.begin() as connection:
            if not connection.execute(marked).rowcount:
                raise UnknownSite(self._unknown(id))

    def leaving(self) -> list[str]:
        """Ids of the sites that are to be removed and whose rows are still there."""
        wanted = select(sites.c.id).where(sites.c.leaving).order_by(sites.c.created_at)
        with self._db.connect() as connection:
            return list(connection.execute(wanted).scalars())

    def delete(self, id: str) -> None:
        """Removes the row of a site that nothing is known of yet, with what hangs on it. Raises
        UnknownSite."""
        with self._db.begin() as connection:
            connection.execute(delete(incidents).where(incidents.c.site_id == id))
            removed = connection.execute(delete(sites).where(sites.c.id == id))
        if not removed.rowcount:
            raise UnknownSite(self._unknown(id))

    def _unknown(self, id: str) -> str:
        known = ", ".join(site.id for site in self.all())
        if not known:
            return f"there is no site {id!r}, nor any other: add one with `python -m server crawl URL`"
        return f"there is no site {id!r}; known: {known}"


def _values(site: Site) -> Mapping[str, Any]:
    return {
        "id": site.id,
        "name": site.name,
        "title": site.title,
        "start_urls": site.start_urls,
        "origins": site.origins,
        "language": site.language,
        "strategy": site.strategy,
        "flow": site.flow,
        "allow_private": site.allow_private,
        "options": site.options,
    }


def _site(row: AnyRow) -> Site:
    values = dict(row._mapping)
    values["start_urls"] = tuple(values["start_urls"])
    values["origins"] = tuple(values["origins"])
    return Site(**values)
