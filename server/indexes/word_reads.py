"""What a search reads from the tables of the word index, in one statement each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, TextClause, text

_BLOCKS = text("SELECT block, lengths, languages FROM word_blocks WHERE site_id = :site")
_COUNT = text("SELECT count(*) FROM word_chunks WHERE site_id = :site")
_PIECES = "SELECT token, block, postings FROM word_postings WHERE site_id = :site AND {block} AND {token}"
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


def read_blocks(connection: Connection, site_id: str) -> tuple[dict[int, bytes], Counter[str]]:
    """Lengths by block, and how many chunks there are in each language."""
    lengths: dict[int, bytes] = {}
    languages: Counter[str] = Counter()
    for block, data, counts in connection.execute(_BLOCKS, {"site": site_id}):
        lengths[block] = data
        languages.update(json.loads(counts))
    return lengths, languages


def read_pieces(
    connection: Connection, site_id: str, blocks: Sequence[int], tokens: Sequence[str]
) -> dict[str, list[tuple[int, bytes]]]:
    """(block, postings) of each token that occurs."""
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for token, block, data in _rows(connection, "pieces", site_id, block=blocks, token=tokens):
        found[token].append((block, data))
    return found


def read_ids(connection: Connection, site_id: str, numbers: Sequence[int]) -> dict[int, str]:
    """Chunk ids by number; numbers of chunks that are gone are left out."""
    return {number: chunk_id for number, chunk_id in _rows(connection, "ids", site_id, number=numbers)}


def read_count(connection: Connection, site_id: str) -> int:
    """How many chunks there are."""
    return int(connection.execute(_COUNT, {"site": site_id}).scalar_one())


def _rows(
    connection: Connection, name: str, site_id: str, **lists: Sequence[str] | Sequence[int]
) -> list[Any]:
    dialect = connection.dialect.name
    bound = {
        key: list(values) if dialect == "postgresql" else json.dumps(list(values))
        for key, values in lists.items()
    }
    return list(connection.execute(_STATEMENTS[dialect, name], {"site": site_id, **bound}))
