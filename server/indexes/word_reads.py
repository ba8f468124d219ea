"""What a search reads from the tables of the word index, in one statement each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, TextClause, text

Revisions = tuple[tuple[int, int], ...]

_REVISIONS = text("SELECT block, revision FROM word_blocks WHERE site_id = :site ORDER BY block")
_BLOCKS = text(
    "SELECT block, revision, languages, lengths FROM word_blocks WHERE site_id = :site ORDER BY block"
)
_PIECES = "SELECT token, block, postings FROM word_postings WHERE site_id = :site AND {block} AND {token}"
_FORMS = text("SELECT block, words FROM word_forms WHERE site_id = :site")
_ALL_IDS = text("SELECT chunk_id FROM word_chunks WHERE site_id = :site")
_IDS = "SELECT number, chunk_id FROM word_chunks WHERE site_id = :site AND {number}"


def _statement(dialect: str, sql: str) -> TextClause:
    """`{name}` becomes: the column `name` is one of the values in the list bound to `name`."""
    one_of = "{0} = ANY(:{0})" if dialect == "postgresql" else "{0} IN (SELECT value FROM json_each(:{0}))"
    return text(sql.format(**{name: one_of.format(name) for name in ("block", "token", "number")}))


_DIALECTS = ("sqlite", "postgresql")
_STATEMENTS = {
    (dialect, name): _statement(dialect, sql)
    for dialect in _DIALECTS
    for name, sql in (("pieces", _PIECES), ("ids", _IDS))
}


@dataclass(frozen=True, slots=True)
class BlockRows:
    """All blocks of an index, as one statement saw them."""

    revisions: Revisions
    lengths: dict[int, bytes]
    languages: tuple[str, ...]
    """Of the chunks, most frequent first."""
    main_languages: frozenset[str]
    """Those of one chunk in twenty at least: fewer are mostly quotations, or mistaken."""


def read_revisions(connection: Connection, site_id: str) -> Revisions:
    """(block, revision) of every block: what tells whether anything changed."""
    return tuple((row[0], row[1]) for row in connection.execute(_REVISIONS, {"site": site_id}).all())


def read_blocks(connection: Connection, site_id: str) -> BlockRows:
    """Everything about the blocks but their postings."""
    rows = connection.execute(_BLOCKS, {"site": site_id}).all()
    languages: Counter[str] = Counter()
    for row in rows:
        languages.update(json.loads(row.languages))
    return BlockRows(
        tuple((row.block, row.revision) for row in rows),
        {row.block: row.lengths for row in rows},
        tuple(language for language, _ in languages.most_common()),
        frozenset(name for name, count in languages.items() if count * 20 >= languages.total()),
    )


def read_pieces(
    connection: Connection, site_id: str, blocks: Sequence[int], tokens: Sequence[str]
) -> dict[str, list[tuple[int, bytes]]]:
    """(block, postings) of each token that occurs."""
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for token, block, data in _rows(connection, "pieces", site_id, block=blocks, token=tokens):
        found[token].append((block, data))
    return found


def read_forms(connection: Connection, site_id: str) -> dict[int, bytes]:
    """The words of each block as they are written."""
    return {row.block: row.words for row in connection.execute(_FORMS, {"site": site_id}).all()}


def read_ids(connection: Connection, site_id: str, numbers: Sequence[int]) -> dict[int, str]:
    """Chunk ids by number; numbers of chunks that are gone are left out."""
    return {number: chunk_id for number, chunk_id in _rows(connection, "ids", site_id, number=numbers)}


def all_ids(connection: Connection, site_id: str) -> set[str]:
    """Of every chunk in the index."""
    return set(connection.execute(_ALL_IDS, {"site": site_id}).scalars())


def _rows(
    connection: Connection, name: str, site_id: str, **lists: Sequence[str] | Sequence[int]
) -> list[Any]:
    dialect = connection.dialect.name
    bound = {
        key: list(values) if dialect == "postgresql" else json.dumps(list(values))
        for key, values in lists.items()
    }
    return list(connection.execute(_STATEMENTS[dialect, name], {"site": site_id, **bound}).all())
