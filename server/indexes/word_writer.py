"""Write transactions on the word index of a site.

Chunks are numbered in order of arrival, `BLOCK` to a block. A number is not reused while its block exists:
a removed chunk leaves its postings behind, and its length becomes 0, which hides it from every search. When
less than half of a full block is left, its chunks are moved to the end and the block is deleted. So at most
half of the postings are dead.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import getrandbits

import numpy as np
from sqlalchemy import Connection, bindparam, delete, insert, select

from server.indexes.postings import BLOCK, LENGTH, MOST, POSTING, encode
from server.indexes.tokens import query_tokens
from server.indexes.vocabulary import pack, unpack
from server.indexes.word_tables import (
    VERSION,
    append_postings,
    note_version,
    word_blocks,
    word_chunks,
    word_forms,
    word_postings,
    word_sites,
)
from server.storage.statements import among, upsert


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk in the form of the word index."""

    chunk_id: str
    language: str
    length: int
    """Number of tokens, at least 1."""
    weights: Mapping[str, int]
    """Weight of each token, at most `MOST`."""
    forms: frozenset[str] = frozenset()
    """Its words in the form of `server.indexes.vocabulary`."""


@dataclass(slots=True)
class _Block:
    number: int
    used: int
    lengths: bytearray
    languages: Counter[str]

    @property
    def alive(self) -> int:
        return int(np.count_nonzero(np.frombuffer(self.lengths, LENGTH)))

    def put(self, entry: IndexedChunk) -> int:
        """Add a chunk and return its position."""
        self.lengths += min(max(entry.length, 1), MOST).to_bytes(2, "little")
        self.languages[entry.language] += 1
        self.used += 1
        return self.used - 1

    def hide(self, place: int, language: str) -> None:
        self.lengths[2 * place : 2 * place + 2] = b"\0\0"
        self.languages[language] -= 1


class WordTransaction:
    """Writes to a site's index. Use one instance per transaction, while holding the site's lock."""

    def __init__(self, connection: Connection, site_id: str) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._site = {"site": site_id}
        self._site_id = site_id

    def add(self, entries: Sequence[IndexedChunk]) -> None:
        """Store or replace chunks by id."""
        self.remove([entry.chunk_id for entry in entries])
        rest = list({entry.chunk_id: entry for entry in entries}.values())
        while rest:
            block = self._last_block()
            room = BLOCK - block.used
            self._fill(block, rest[:room])
            rest = rest[room:]

    def remove(self, ids: Sequence[str]) -> None:
        """Hide chunks from searches. Unknown ids are ignored."""
        known = (
            delete(word_chunks)
            .where(
                word_chunks.c.site_id == bindparam("site"),
                among(self._dialect, word_chunks.c.chunk_id, "ids"),
            )
            .returning(word_chunks.c.number, word_chunks.c.language)
        )
        places: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for number, language in self._connection.execute(known, {**self._site, "ids": list(ids)}):
            places[number // BLOCK].append((number % BLOCK, language))
        moved: list[IndexedChunk] = []
        for number, hidden in places.items():
            block = self._block(number)
            for place, language in hidden:
                block.hide(place, language)
            self._connection.execute(upsert(self._dialect, word_blocks), self._row(block))
            if block.used == BLOCK and block.alive < BLOCK // 2:
                moved += self._delete_block(block)
        if moved:
            self.add(moved)

    def _fill(self, block: _Block, entries: Sequence[IndexedChunk]) -> None:
        """Add chunks to the free positions of a block."""
        found: dict[str, list[int]] = defaultdict(list)
        rows = []
        for entry in entries:
            place = block.put(entry)
            rows.append(
                {
                    "site_id": self._site_id,
                    "chunk_id": entry.chunk_id,
                    "number": block.number * BLOCK + place,
                    "language": entry.language,
                }
            )
            for token, weight in entry.weights.items():
                found[token].append(place | weight << 16)
        self._connection.execute(insert(word_chunks), rows)
        self._connection.execute(upsert(self._dialect, word_blocks), self._row(block))
        self._add_forms(block.number, set().union(*(entry.forms for entry in entries)))
        if found:
            # Sorted by key, so that the database walks its tree once.
            pieces = {token: encode(found[token]) for token in sorted(found)}
            append_postings(self._connection, self._site_id, block.number, pieces)

    def _add_forms(self, block: int, forms: set[str]) -> None:
        known = self._forms(block)
        if not forms <= known:
            row = {"site_id": self._site_id, "block": block, "words": pack(known | forms)}
            self._connection.execute(upsert(self._dialect, word_forms), row)

    def _forms(self, block: int) -> set[str]:
        same = (word_forms.c.site_id == bindparam("site"), word_forms.c.block == bindparam("block"))
        asked = {**self._site, "block": block}
        data = self._connection.execute(select(word_forms.c.words).where(*same), asked).scalar()
        return unpack(data) if data else set()

    def _delete_block(self, block: _Block) -> list[IndexedChunk]:
        """Delete a block and return its remaining chunks."""
        first = block.number * BLOCK
        in_block = (
            word_chunks.c.site_id == self._site_id,
            word_chunks.c.number >= first,
            word_chunks.c.number < first + BLOCK,
        )
        columns = (word_chunks.c.chunk_id, word_chunks.c.language, word_chunks.c.number)
        chunks = {
            row.number - first: row for row in self._connection.execute(select(*columns).where(*in_block))
        }
        weights: dict[int, dict[str, int]] = {place: {} for place in chunks}
        own = (word_postings.c.site_id == self._site_id, word_postings.c.block == block.number)
        pieces = select(word_postings.c.token, word_postings.c.postings).where(*own)
        for token, data in self._connection.execute(pieces):
            for place, weight in np.frombuffer(data, POSTING).tolist():
                if place in weights:
                    weights[place][token] = weight
        lengths = np.frombuffer(block.lengths, LENGTH)
        forms = self._remaining_forms(block, weights)
        self._connection.execute(delete(word_chunks).where(*in_block))
        for table in (word_postings, word_blocks, word_forms):
            same = (table.c.site_id == self._site_id, table.c.block == block.number)
            self._connection.execute(delete(table).where(*same))
        return [
            IndexedChunk(row.chunk_id, row.language, int(lengths[place]), weights[place], forms)
            for place, row in chunks.items()
        ]

    def _remaining_forms(self, block: _Block, weights: Mapping[int, Mapping[str, int]]) -> frozenset[str]:
        """Return the words of a block that still occur in its remaining chunks."""
        living = set().union(*weights.values())
        languages = [language for language, count in block.languages.items() if count > 0]
        return frozenset(
            form for form in self._forms(block.number) if living.intersection(query_tokens(form, languages))
        )

    def _last_block(self) -> _Block:
        """Return the last block, or a new one if it is full."""
        last = select(word_blocks).where(word_blocks.c.site_id == bindparam("site"))
        row = self._connection.execute(last.order_by(word_blocks.c.block.desc()).limit(1), self._site).first()
        if row is None:
            known = select(word_sites.c.version).where(word_sites.c.site_id == self._site_id)
            if self._connection.execute(known).first() is None:
                note_version(self._connection, self._site_id, VERSION)
            return _Block(0, 0, bytearray(), Counter())
        if row.used == BLOCK:
            return _Block(row.block + 1, 0, bytearray(), Counter())
        return _Block(row.block, row.used, bytearray(row.lengths), Counter(json.loads(row.languages)))

    def _block(self, number: int) -> _Block:
        same = (word_blocks.c.site_id == bindparam("site"), word_blocks.c.block == bindparam("number"))
        row = self._connection.execute(
            select(word_blocks).where(*same), {**self._site, "number": number}
        ).one()
        return _Block(row.block, row.used, bytearray(row.lengths), Counter(json.loads(row.languages)))

    def _row(self, block: _Block) -> dict[str, object]:
        return {
            "site_id": self._site_id,
            "block": block.number,
            "revision": getrandbits(62),
            "used": block.used,
            "lengths": bytes(block.lengths),
            "languages": json.dumps({name: count for name, count in block.languages.items() if count > 0}),
        }
