"""The tables of the word index, the same in SQLite and PostgreSQL, created on first use.

Everything in them is derived from chunks. If they are dropped, indexing restores them.
"""

from collections.abc import Mapping

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    inspect,
    text,
)

from server.storage.database import Database
from server.storage.statements import lock, upsert

LOCK = 0x776F726473
"""Key of the PostgreSQL advisory lock with which one process creates the tables."""

_metadata = MetaData()

word_chunks = Table(
    "word_chunks",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("chunk_id", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("language", Text, nullable=False),
    sqlite_with_rowid=False,
)
Index("ix_word_chunks_number", word_chunks.c.site_id, word_chunks.c.number, unique=True)

word_blocks = Table(
    "word_blocks",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("block", Integer, primary_key=True, autoincrement=False),
    Column("revision", BigInteger, nullable=False),
    Column("used", Integer, nullable=False),
    Column("languages", Text, nullable=False),
    Column("lengths", LargeBinary, nullable=False),
)
"""`revision` is a new random number after each change, so that readers know whether their data is current."""

word_postings = Table(
    "word_postings",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("block", Integer, primary_key=True, autoincrement=False),
    Column("token", Text, primary_key=True),
    Column("postings", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

word_forms = Table(
    "word_forms",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("block", Integer, primary_key=True, autoincrement=False),
    Column("words", LargeBinary, nullable=False),
)
"""The words of a block as written, for correcting typing errors."""

word_sites = Table(
    "word_sites",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
)
"""The `VERSION` with which a site's words were indexed; 0 while they are being indexed again."""
VERSION = 4
"""Raise it with every change to the stored data of a chunk: its tokens, their weights, its written words."""


def ensure_tables(database: Database, metadata: MetaData = _metadata) -> None:
    """Create the missing tables of `metadata`. Safe when several processes call it at once."""
    names = set(metadata.tables)
    with database.connect() as connection:
        if names <= set(inspect(connection).get_table_names()):
            return
    with database.begin() as connection:
        lock(connection, LOCK)
        metadata.create_all(connection)


def append_postings(connection: Connection, site_id: str, block: int, pieces: Mapping[str, bytes]) -> None:
    """Append bytes to each token's postings in one block."""
    if connection.dialect.name == "postgresql":
        row = {"site": site_id, "block": block, "tokens": list(pieces), "pieces": list(pieces.values())}
        connection.execute(_APPEND_ALL, row)
    else:
        rows = [(site_id, block, token, piece) for token, piece in pieces.items()]
        connection.exec_driver_sql(_APPEND_EACH, rows)


# One statement for thousands of tokens: a round trip for each would take seconds.
_APPEND_ALL = text(
    "INSERT INTO word_postings (site_id, block, token, postings) "
    "SELECT :site, :block, token, piece FROM unnest(CAST(:tokens AS text[]), CAST(:pieces AS bytea[])) "
    "AS new (token, piece) ON CONFLICT (site_id, block, token) "
    "DO UPDATE SET postings = word_postings.postings || EXCLUDED.postings"
)
# SQLite makes concatenated bytes a text without the cast.
_APPEND_EACH = (
    "INSERT INTO word_postings (site_id, block, token, postings) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (site_id, block, token) "
    "DO UPDATE SET postings = CAST(word_postings.postings || excluded.postings AS BLOB)"
)


def note_version(connection: Connection, site_id: str, version: int) -> None:
    """Store the version with which a site's words are indexed."""
    row = {"site_id": site_id, "version": version}
    connection.execute(upsert(connection.dialect.name, word_sites), row)


def note_outdated(database: Database, site_ids: list[str]) -> None:
    """Mark the words of these sites as outdated, for example after a restored backup."""
    ensure_tables(database)
    with database.begin() as connection:
        for site_id in site_ids:
            note_version(connection, site_id, 0)


def outdated(database: Database) -> list[str]:
    """Return the sites whose words were indexed by another version, or incompletely."""
    with database.connect() as connection:
        if not inspect(connection).has_table(word_blocks.name):
            return []
    ensure_tables(database)
    with database.connect() as connection:
        return list(connection.execute(_OUTDATED, {"version": VERSION}).scalars())


_OUTDATED = text(
    "SELECT site_id FROM word_sites WHERE version <> :version UNION "
    "SELECT site_id FROM word_blocks WHERE site_id NOT IN (SELECT site_id FROM word_sites) ORDER BY 1"
)
