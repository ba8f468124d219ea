"""Moves a single site between installations: a file like a backup, with the rows of one site.

Settings, schedule, sources, pages, facts, curated answers and test sets go with it, conversations and gaps
only if asked for. Vectors and the word index are made again; secrets (webhooks, API keys, headers of crawls),
people, crawls and what is still to be delivered stay. The site keeps its id, because addresses of its files
begin with it.
"""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, Select, Table, false, func, insert, literal, null, or_, select, update
from sqlalchemy.exc import DataError, IntegrityError

from server.backup.reading import Backup, batches, not_fitting, open_backup
from server.backup.shape import SITE_MANIFEST, Manifest, write_table
from server.storage import upgrade
from server.storage.columns import now
from server.storage.conversations.erasure import erase_again
from server.storage.conversations.search import index_rows
from server.storage.database import Database
from server.storage.errors import BadBackup, UnknownSite
from server.storage.schema import content, conversations, delivery, quality, sites
from server.storage.sites.secrets import without_plain_secrets

Row = dict[str, Any]

OF_THE_SITE = (
    sites.sites,
    sites.site_notes,
    sites.schedules,
    content.pages,
    content.chunks,
    content.page_moves,
    content.page_facts,
    content.site_facts,
    content.page_decisions,
    content.page_quotes,
    content.sources,
    content.source_items,
    content.source_pages,
    content.source_blobs,
    content.model_replies,
    conversations.curated_answers,
    quality.testsets,
    quality.test_cases,
    quality.quality_gates,
)
OF_VISITORS = (
    conversations.conversations,
    conversations.messages,
    conversations.feedback,
    conversations.cited,
    conversations.conversation_labels,
    conversations.model_usage,
    quality.gaps,
    quality.gap_questions,
    quality.gap_events,
    delivery.contact_requests,
    delivery.replies,
)
"""Each table after those that it refers to."""
COUNTED = ("pages", "sources", "curated_answers", "testsets", "conversations")
STAYS: dict[str, Row] = {
    "sites": {"leaving": False, "contact_secret": "", "crawl_headers": ""},
    "pages": {"died": None, "missed_in": 0},
    "chunks": {"died": None},
    "testsets": {"holder": "", "beat_at": None},
    "gaps": {"total": None, "embedded": 0},
    "gap_questions": {"vector": None},
}
"""Values that mean something in one installation only, and what a file says instead."""


def write_site(
    database: Database, out: BinaryIO, version: str, site_id: str, *, with_conversations: bool
) -> Manifest:
    """Write the site as it is at one moment to `out`, which need not be seekable. Raises UnknownSite,
    StorageError."""
    notes = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        with database.snapshot() as connection:
            the_site = select(sites.sites.c.generation, sites.sites.c.options)
            found = connection.execute(the_site.where(sites.sites.c.id == site_id)).first()
            if found is None:
                raise UnknownSite(f"there is no site {site_id!r}")
            for table in OF_THE_SITE + OF_VISITORS * with_conversations:
                fixed = STAYS.get(table.name, {})
                if table is sites.sites:
                    fixed = {**fixed, "options": without_plain_secrets(found.options)}
                wanted = _rows_of(
                    table, site_id, found.generation, fixed, with_conversations=with_conversations
                )
                notes[table.name] = write_table(archive, connection, table, wanted)
        counted = [name for name in COUNTED if name in notes]
        manifest = Manifest(
            now().isoformat(timespec="seconds"), version, upgrade.newest(), notes,
            summary={name: notes[name].rows for name in counted}, site=site_id,
        )  # fmt: skip
        archive.writestr(SITE_MANIFEST, manifest.to_json())
    return manifest


def _rows_of(
    table: Table, site_id: str, generation: int, fixed: Row, *, with_conversations: bool
) -> Select[Any]:
    columns = [
        (null() if fixed[column.name] is None else literal(fixed[column.name], column.type)).label(
            column.name
        )
        if column.name in fixed
        else column
        for column in table.c
    ]
    wanted = select(*columns).select_from(table)
    if table is sites.sites:
        return wanted.where(table.c.id == site_id)
    if "site_id" in table.c:
        wanted = wanted.where(table.c.site_id == site_id)
    else:
        column, parent = _parents(table)[0]
        wanted = wanted.where(column.in_(select(parent.c.id).where(parent.c.site_id == site_id)))
    if table in (content.pages, content.chunks):  # a crawl may be writing the next ones
        live = or_(table.c.died.is_(None), table.c.died > generation)
        wanted = wanted.where(table.c.born <= generation, live)
    if table is quality.test_cases and not with_conversations:
        wanted = wanted.where(table.c.from_visitor == false())
    return wanted.order_by(*table.primary_key) if table.autoincrement_column is not None else wanted


def _parents(table: Table) -> list[tuple[Any, Table]]:
    """Return the columns that refer to other rows of the site, with the tables of these rows."""
    return [
        (key.parent, key.column.table)
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name)
        if key.column.table is not sites.sites and key.column.name == "id" and "site_id" in key.column.table.c
        and key.parent.name != "site_id"
    ]  # fmt: skip


@contextmanager
def open_site(source: Path | BinaryIO, folders: Sequence[Path]) -> Iterator[Backup]:
    """Open the export of a site like a backup. Raises BadBackup."""
    with open_backup(source, folders, SITE_MANIFEST) as found:
        names = {table.name for table in OF_THE_SITE + OF_VISITORS}
        if foreign := sorted(found.manifest.tables.keys() - names):
            raise BadBackup(f"this is no export of a site: it holds {foreign[0]}")
        yield found


def bring_site(database: Database, exported: Backup) -> str:
    """Add the site, or change nothing; return its id. Call `exported.check` first. Raises BadBackup."""
    site_id = exported.manifest.site
    try:
        with database.begin() as connection:
            if connection.execute(select(sites.sites.c.id).where(sites.sites.c.id == site_id)).scalar():
                raise BadBackup(f"there is a site {site_id} here already: remove it first")
            _Arrival(connection, site_id).bring(exported)
            erase_again(connection)
    except (IntegrityError, DataError) as error:
        raise not_fitting(error) from None
    except (KeyError, TypeError):
        raise BadBackup("the file is damaged: a value is missing or has another type") from None
    return site_id


class _Arrival:
    """A site on its way into the database. Numbers that the other database gave are replaced by new ones."""

    def __init__(self, connection: Connection, site_id: str) -> None:
        self._connection, self._site_id = connection, site_id
        self._numbers: dict[Table, dict[int, int]] = {quality.testsets: {}, conversations.curated_answers: {}}

    def bring(self, exported: Backup) -> None:
        for table in OF_THE_SITE + OF_VISITORS:
            for rows in batches(table, map(partial(self._own, table), exported.rows(table))):
                self._check_parents(table, rows)
                self._put(table, rows)
            if table is sites.sites and not self._there(sites.sites.c.id, {self._site_id}):
                raise BadBackup(f"the file does not hold the site {self._site_id!r} that it names")
        at = conversations.messages.c
        number = select(at.number).where(at.id == conversations.cited.c.message_id).scalar_subquery()
        cited = update(conversations.cited).where(conversations.cited.c.site_id == self._site_id)
        self._connection.execute(cited.values(message_number=number))

    def _own(self, table: Table, row: Row) -> Row:
        """Check that the row is of this site, and give it what is valid here."""
        if row.get("id" if table is sites.sites else "site_id", self._site_id) != self._site_id:
            raise BadBackup(f"a row of {table.name} belongs to another site")
        row |= STAYS.get(table.name, {})
        if table is sites.sites:
            row["options"] = without_plain_secrets(row["options"])
        for column, parent in _parents(table):
            if parent in self._numbers and row.get(column.name) is not None:
                row[column.name] = self._numbers[parent].get(row[column.name], 0)
        if table is quality.gaps and isinstance(solved := row.get("solved_by"), dict):
            curated = self._numbers[conversations.curated_answers]
            row["solved_by"] = solved | {"curated": curated.get(solved.get("curated", 0), 0), "crawl": 0}
        return row

    def _check_parents(self, table: Table, rows: list[Row]) -> None:
        """A row that refers to a row of another site would be a way into that site."""
        for column, parent in _parents(table):
            wanted = {row[column.name] for row in rows if row.get(column.name) is not None}
            condition = parent.c.site_id == self._site_id
            if not self._there(parent.c.id, wanted, condition):
                raise BadBackup(f"a row of {table.name} refers to a row of {parent.name} that the file lacks")

    def _there(self, column: Any, wanted: set[Any], *conditions: Any) -> bool:
        found = select(func.count()).where(column.in_(wanted), *conditions)
        return not wanted or self._connection.execute(found).scalar_one() == len(wanted)

    def _put(self, table: Table, rows: list[Row]) -> None:
        numbered = table.autoincrement_column
        before = [row.pop(numbered.name, None) for row in rows] if numbered is not None else []
        if table in self._numbers:
            for old, row in zip(before, rows, strict=True):
                made = self._connection.execute(insert(table).values(row)).inserted_primary_key
                self._numbers[table][old] = made[0]  # type: ignore[index]
            return
        self._connection.execute(insert(table), rows)
        if table is conversations.messages:
            wanted = select(table.c.number, table.c.question, table.c.text)
            ids = [row["id"] for row in rows]
            found = self._connection.execute(wanted.where(table.c.id.in_(ids))).all()
            index_rows(self._connection, [tuple(row) for row in found])
