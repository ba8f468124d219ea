"""Sources of a site in addition to its website: files, folders, lists of addresses, questions with answers.

Uploads and pasted text are stored in the database, so that every replica has them; folders by their path.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from server.storage.columns import now
from server.storage.errors import SourceTooLarge, UnknownRecord, UnknownSite
from server.storage.schema.content import source_blobs, source_items, sources
from server.storage.statements import upsert
from server.storage.store import Store, existing, raising


class SourceKind(StrEnum):
    """Kinds of sources."""

    FILE = "file"
    FOLDER = "folder"
    ADDRESSES = "urls"
    PAIRS = "pairs"


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a site."""

    site_id: str
    id: str
    """Hash of kind and name. Adding the same name again replaces the source."""
    kind: str
    name: str
    """A file's name, a folder's path, otherwise the operator's name for it."""
    options: dict[str, Any] = field(default_factory=dict)
    """For a folder: "base", "include", "exclude"."""
    digest: str = ""
    """SHA-256 of its text or bytes; empty for a folder."""
    added_at: datetime = field(default_factory=now)
    read_at: datetime | None = None
    message: str = ""
    """Why it could not be read completely; usually empty."""


class SourceStore(Store):
    """Sources of all sites."""

    def put(
        self,
        site_id: str,
        kind: SourceKind,
        name: str,
        body: bytes = b"",
        *,
        options: Mapping[str, Any] | None = None,
        most_bytes: int,
    ) -> Source:
        """Add a source, or replace the one with the same kind and name.

        Raises UnknownSite, and SourceTooLarge if the site's sources would exceed `most_bytes`.
        """
        digest = digest_of(body) if body else ""
        source = Source(site_id, source_id(kind, name), kind, name, dict(options or {}), digest)
        gone = UnknownSite(f"there is no site {site_id!r} to add a source to")
        with raising(gone), self._db.begin() as connection:
            if body:
                _keep(connection, self._db.dialect, site_id, body, most_bytes)
            connection.execute(upsert(self._db.dialect, sources), asdict(source))
        return source

    def keep(self, site_id: str, body: bytes, *, most_bytes: int) -> str:
        """Store bytes that are not a source, such as a file of a folder; return their digest. The next `tidy`
        deletes them if no page refers to them. Raises SourceTooLarge."""
        with self._db.begin() as connection:
            return _keep(connection, self._db.dialect, site_id, body, most_bytes)

    def all(self, site_id: str) -> list[Source]:
        """Return the sources of a site, sorted by kind and name."""
        wanted = select(sources).where(sources.c.site_id == site_id)
        rows = self._rows(wanted.order_by(sources.c.kind, sources.c.name))
        return [Source(**row._mapping) for row in rows]

    def get(self, site_id: str, id: str) -> Source:
        """Return a source. Raises UnknownRecord."""
        rows = self._rows(select(sources).where(sources.c.site_id == site_id, sources.c.id == id))
        row = existing(rows, UnknownRecord(f"the site {site_id} has no source {id!r}"))
        return Source(**row._mapping)

    def remove(self, site_id: str, id: str) -> None:
        """Remove a source. The next refresh deletes its pages and its bytes. Raises UnknownRecord."""
        if not self._write(delete(sources).where(sources.c.site_id == site_id, sources.c.id == id)):
            raise UnknownRecord(f"the site {site_id} has no source {id!r}")

    def was_read(self, source: Source, message: str, options: Mapping[str, Any]) -> None:
        """Record that a source was read now. A source that was removed in the meantime is ignored."""
        own = (sources.c.site_id == source.site_id, sources.c.id == source.id)
        values = {"read_at": now(), "message": message, "options": dict(options)}
        self._write(update(sources).where(*own).values(**values))

    def body(self, site_id: str, digest: str) -> bytes | None:
        """Return the stored bytes with this digest, or None."""
        same = (source_blobs.c.site_id == site_id, source_blobs.c.digest == digest)
        found = self._scalar(select(source_blobs.c.body).where(*same))
        return None if found is None else bytes(found)

    def size(self, site_id: str) -> int:
        """Return the size of a site's sources in bytes."""
        with self._db.connect() as connection:
            return _size(connection, site_id)

    def counts(self, site_id: str) -> dict[str, dict[str, int]]:
        """Return the number of parts in each state, by source id and state."""
        counted = (
            select(source_items.c.source_id, source_items.c.state, func.count())
            .where(source_items.c.site_id == site_id)
            .group_by(source_items.c.source_id, source_items.c.state)
        )
        found: dict[str, dict[str, int]] = {}
        for id, state, number in self._rows(counted):
            found.setdefault(id, {})[state] = number
        return found


def source_id(kind: str, name: str) -> str:
    """Return the id of a source: twelve hexadecimal digits."""
    return digest_of(f"{kind}\0{name}".encode())[:12]


def digest_of(body: bytes) -> str:
    """Return the SHA-256 in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def _size(connection: Connection, site_id: str) -> int:
    total = select(func.coalesce(func.sum(source_blobs.c.size), 0)).where(source_blobs.c.site_id == site_id)
    return int(connection.execute(total).scalar_one())


def _keep(connection: Connection, dialect: str, site_id: str, body: bytes, most_bytes: int) -> str:
    digest = digest_of(body)
    same = select(source_blobs.c.size).where(
        source_blobs.c.site_id == site_id, source_blobs.c.digest == digest
    )
    if connection.execute(same).scalar() is not None:
        return digest
    if _size(connection, site_id) + len(body) > most_bytes:
        raise SourceTooLarge(
            f"the sources of {site_id} would take more than {most_bytes:,} bytes: remove some, or raise "
            "SOURCES_SITE_BYTES"
        )
    row = {"site_id": site_id, "digest": digest, "size": len(body), "body": body}
    connection.execute(upsert(dialect, source_blobs), row)
    return digest
