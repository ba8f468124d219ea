"""BM25 over Docent's own tokens: postings are stored in the SQL database and scored by numpy.

The database returns the postings of the query's tokens, and the score is computed here. SQLite and
PostgreSQL therefore rank the same. A question takes a few milliseconds on 100,000 chunks, a twentieth
of the time of SQLite's full-text search FTS5 (benchmarks/indexing.py).
"""

import json
import threading
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, TextClause, delete, text

from server.domain.chunk import Chunk
from server.indexes.postings import MOST, Lengths, Postings, best
from server.indexes.tokens import page_tokens, query_tokens
from server.indexes.vocabulary import Vocabulary, written_words
from server.indexes.word_tables import (
    VERSION,
    ensure_tables,
    note_version,
    word_blocks,
    word_chunks,
    word_forms,
    word_postings,
    word_sites,
)
from server.indexes.word_writer import IndexedChunk, WordTransaction
from server.storage.database import Database
from server.storage.statements import lock

Revisions = tuple[tuple[int, int], ...]

_REVISIONS = text("SELECT block, revision FROM word_blocks WHERE site_id = :site ORDER BY block")
_BLOCKS = text(
    "SELECT block, revision, languages, lengths FROM word_blocks WHERE site_id = :site ORDER BY block"
)
_PIECES = "SELECT token, block, postings FROM word_postings WHERE site_id = :site AND {block} AND {token}"
_FORMS = "SELECT words FROM word_forms WHERE site_id = :site AND {block}"
_ALL_IDS = text("SELECT chunk_id FROM word_chunks WHERE site_id = :site")
_IDS = "SELECT number, chunk_id FROM word_chunks WHERE site_id = :site AND {number}"


def _statement(dialect: str, sql: str) -> TextClause:
    """Replace `{name}` by the condition that column `name` is in the list bound to `name`."""
    one_of = "{0} = ANY(:{0})" if dialect == "postgresql" else "{0} IN (SELECT value FROM json_each(:{0}))"
    return text(sql.format(**{name: one_of.format(name) for name in ("block", "token", "number")}))


_DIALECTS = ("sqlite", "postgresql")
_STATEMENTS = {
    (dialect, name): _statement(dialect, sql)
    for dialect in _DIALECTS
    for name, sql in (("pieces", _PIECES), ("forms", _FORMS), ("ids", _IDS))
}


def _rows(
    connection: Connection, name: str, site_id: str, **lists: Sequence[str] | Sequence[int]
) -> Iterator[Any]:
    dialect = connection.dialect.name
    bound = {
        key: list(values) if dialect == "postgresql" else json.dumps(list(values))
        for key, values in lists.items()
    }
    return iter(connection.execute(_STATEMENTS[dialect, name], {"site": site_id, **bound}))


MOST_KEPT = 4_000_000
"""Maximum number of postings kept: 32 MB, which only sites of more than 40,000 chunks reach."""
MOST_IDS = 50_000
"""Maximum number of chunk ids kept: 5 MB."""


class WordSnapshot:
    """Cache of one state of the index, identified by its `revisions`: lengths, and postings used so far.

    Threads share it. At worst, two of them read the same postings.
    """

    def __init__(self, connection: Connection, site_id: str) -> None:
        rows = connection.execute(_BLOCKS, {"site": site_id}).all()
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(json.loads(row.languages))
        self.revisions: Revisions = tuple((row.block, row.revision) for row in rows)
        self.languages = tuple(language for language, _ in counts.most_common())
        """Languages of the chunks, most frequent first."""
        self.main_languages = frozenset(
            name for name, count in counts.items() if count * 20 >= counts.total()
        )
        """Languages of at least 5% of the chunks. Rarer ones are mostly quotations or detection errors."""
        self.lengths = Lengths({row.block: row.lengths for row in rows})
        self._site_id = site_id
        self._postings: dict[str, Postings] = {}
        self._kept = 0
        self._ids: dict[int, str] = {}

    def is_current(self, connection: Connection) -> bool:
        """Return whether the index has not changed since."""
        rows = connection.execute(_REVISIONS, {"site": self._site_id})
        return self.revisions == tuple((row.block, row.revision) for row in rows)

    def postings(self, connection: Connection, tokens: Sequence[str]) -> dict[str, Postings]:
        """Return the existing chunks that contain each token."""
        kept = self._postings  # another thread may replace it
        found = {token: kept[token] for token in tokens if token in kept}
        unknown = [token for token in tokens if token not in found]
        if unknown:
            pieces: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
            rows = _rows(connection, "pieces", self._site_id, block=self.lengths.blocks, token=unknown)
            for token, block, data in rows:
                pieces[token].append((block, data))
            read = {token: self.lengths.postings(pieces.get(token, ())) for token in unknown}
            self._keep(read)
            found |= read
        return found

    def known(self, tokens: Sequence[str]) -> dict[str, Postings] | None:
        """Return the same if all of it is cached, else None."""
        kept = self._postings
        found = {token: kept[token] for token in tokens if token in kept}
        return found if len(found) == len(set(tokens)) else None

    def ids(self, connection: Connection, numbers: Sequence[int]) -> list[str | None]:
        """Return the ids of chunks by their numbers; None for a removed chunk."""
        kept = self._ids
        found = [*map(kept.get, numbers)]
        if None in found:
            unknown = [number for number in numbers if number not in kept]
            if len(kept) + len(unknown) > MOST_IDS:
                self._ids = kept = dict(list(kept.items())[MOST_IDS // 2 :])
            read = dict(map(tuple, _rows(connection, "ids", self._site_id, number=unknown)))
            found = [id or read.get(number) for number, id in zip(numbers, found, strict=True)]
            kept.update(read)
        return found

    def _keep(self, read: dict[str, Postings]) -> None:
        size = sum(len(places) + 1 for places, _ in read.values())
        if self._kept + size > MOST_KEPT:
            newest = list(self._postings.items())[len(self._postings) // 2 :]
            self._postings = dict(newest)
            self._kept = sum(len(places) + 1 for _, (places, _) in newest)
            if self._kept + size > MOST_KEPT:
                self._postings, self._kept = {}, 0
        if size <= MOST_KEPT:
            self._postings.update(read)
            self._kept += size


TITLE_WEIGHT = 3
HEADING_WEIGHT = 2
"""A word in the title or a heading counts as this many in the text. Measured with K1 and B of postings.py
on two sets of real questions: weight 1 costs 4 points of MRR@10, 5 gains half a point over 3."""
TRANSACTION = 128
"""Chunks written per transaction. It takes 0.1 s, during which other writers of SQLite wait."""


FEW_CHANGED = 8
"""The words of an index are merged again when one in this many of its blocks has changed."""

SIDE = "/"
"""Separator between a site's id and the name of an additional index."""


_TABLES = (word_postings, word_chunks, word_blocks, word_forms)


def drop_words(database: Database, site_id: str) -> None:
    """Remove every word index of a site. Raises StorageError."""
    ensure_tables(database)
    for table in (*_TABLES, word_sites):
        with database.begin() as connection:
            of_site = (table.c.site_id == site_id) | table.c.site_id.startswith(
                f"{site_id}{SIDE}", autoescape=True
            )
            connection.execute(delete(table).where(of_site))


@dataclass(slots=True)
class _Reading:
    """The state of an index that one thread reads consistently."""

    snapshot: WordSnapshot | None = None
    is_open: bool = True


class SqlWordIndex:
    """BM25 over our own tokens (server.indexes.tokens), among the chunks of one site, in the installation's
    database. Raises StorageError."""

    def __init__(self, database: Database, site_id: str, side: str = "") -> None:
        """`side` names an additional index of the site, separate from its chunks."""
        ensure_tables(database)
        self._db = database
        self._site_id = site_id = f"{site_id}{SIDE}{side}" if side else site_id
        self._snapshot: WordSnapshot | None = None
        self._readings = threading.local()
        self._merged: tuple[Revisions, Vocabulary] = ((), Vocabulary(b""))
        self._vocabularies: tuple[Revisions, list[Vocabulary]] = ((), [])
        self._lock = zlib.crc32(f"words {site_id}".encode())

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Store or replace chunks by id."""
        for start in range(0, len(chunks), TRANSACTION):
            entries = [_entry(chunk) for chunk in chunks[start : start + TRANSACTION]]
            with self._db.begin() as connection:
                lock(connection, self._lock)
                WordTransaction(connection, self._site_id).add(entries)

    def remove(self, ids: Sequence[str]) -> None:
        """Remove chunks. Unknown ids are ignored."""
        for start in range(0, len(ids), TRANSACTION):
            with self._db.begin() as connection:
                lock(connection, self._lock)
                WordTransaction(connection, self._site_id).remove(ids[start : start + TRANSACTION])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let this thread see one state of the index, whose revision is read once; otherwise every call reads
        it again. One question is one reading. Nested calls belong to the outer one."""
        if self._open_reading() is not None:
            yield
            return
        reading = self._readings.now = _Reading()
        try:
            yield
        finally:
            # Another thread may end it when a stream is abandoned, so a closed reading is not used.
            reading.is_open, reading.snapshot = False, None

    def search(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Return at most `limit` (chunk id, BM25 score > 0), best first, for any text."""
        with self._db.connect() as connection:
            snapshot = self._state(connection)
            found = query_tokens(text, snapshot.languages)
            if not found or limit < 1:
                return []
            lengths, postings = snapshot.lengths, snapshot.postings(connection, found)
            hits = best(lengths.size, [postings[token] for token in found], limit)
            ids = snapshot.ids(connection, lengths.numbers([at for at, _ in hits]))
        return [(id, score) for id, (_, score) in zip(ids, hits, strict=True) if id is not None]

    def document_frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """Return in how many chunks each token occurs, 0 if in none."""
        read = self._read()
        found = read.known(tokens) if read is not None else None
        if found is None:
            with self._db.connect() as connection:
                found = self._state(connection).postings(connection, tokens)
        return {token: len(found[token][0]) for token in tokens}

    def languages(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the languages of the chunks, most frequent first, and the site's main languages."""
        state = self._now()
        return state.languages, state.main_languages

    def vocabulary(self) -> Collection[Vocabulary]:
        """Return the words of the site in a few parts. Words of removed chunks may be among them."""
        with self._db.connect() as connection:
            return self._vocabulary(connection, self._state(connection).revisions)

    def count(self) -> int:
        """Return the number of indexed chunks."""
        return self._now().lengths.count

    def ids(self) -> set[str]:
        """Return the ids of all chunks in the index."""
        with self._db.connect() as connection:
            return set(connection.execute(_ALL_IDS, {"site": self._site_id}).scalars())

    def drop(self) -> None:
        """Remove the whole index. Adding afterwards starts a new one."""
        with self._db.begin() as connection:
            lock(connection, self._lock)
            self._empty(connection)
            connection.execute(delete(word_sites).where(word_sites.c.site_id == self._site_id))

    def renew(self, chunks: Iterable[Chunk]) -> None:
        """Build the index again from all chunks of the site, with the current version. If interrupted, it
        stays `outdated`."""
        with self._db.begin() as connection:
            lock(connection, self._lock)
            note_version(connection, self._site_id, 0)
            self._empty(connection)
        rest = iter(chunks)
        while batch := list(islice(rest, TRANSACTION)):
            self.add(batch)
        with self._db.begin() as connection:
            note_version(connection, self._site_id, VERSION)

    def _empty(self, connection: Connection) -> None:
        for table in _TABLES:
            connection.execute(delete(table).where(table.c.site_id == self._site_id))

    def _now(self) -> WordSnapshot:
        """Return `_state`, without a connection if this thread's reading has a snapshot."""
        if (read := self._read()) is not None:
            return read
        with self._db.connect() as connection:
            return self._state(connection)

    def _state(self, connection: Connection) -> WordSnapshot:
        """Return the current state of the index, or the state of this thread's reading."""
        if (read := self._read()) is not None:
            return read
        snapshot = self._snapshot
        if snapshot is None or not snapshot.is_current(connection):
            self._snapshot = snapshot = WordSnapshot(connection, self._site_id)
        if reading := self._open_reading():
            reading.snapshot = snapshot
        return snapshot

    def _read(self) -> WordSnapshot | None:
        """Return the snapshot of this thread's reading, or None if it has none yet."""
        reading = self._open_reading()
        return reading.snapshot if reading else None

    def _open_reading(self) -> _Reading | None:
        """Return this thread's reading, or None outside of one."""
        now: _Reading | None = getattr(self._readings, "now", None)
        return now if now is not None and now.is_open else None

    def _vocabulary(self, connection: Connection, revisions: Revisions) -> list[Vocabulary]:
        """Return the words of all blocks merged, and those of the blocks that changed since. Most words occur
        in every block, so that a merged search takes little longer on a large site."""
        known, kept = self._vocabularies
        if known == revisions:
            return kept
        merged_at, merged = self._merged
        blocks = [block for block, _ in revisions]
        changed = {block for block, _ in set(revisions).symmetric_difference(merged_at)}
        if len(changed) * FEW_CHANGED > len(blocks):
            words: set[bytes] = set()
            for (some,) in _rows(connection, "forms", self._site_id, block=blocks):
                words.update(some.split(b"\n"))
            merged = Vocabulary(b"\n".join(sorted(words - {b""})))
            self._merged, changed = (revisions, merged), set()
        new = _rows(connection, "forms", self._site_id, block=sorted(changed)) if changed else ()
        kept = [merged, *(Vocabulary(some) for (some,) in new)]
        self._vocabularies = (revisions, kept)
        return kept


def _entry(chunk: Chunk) -> IndexedChunk:
    title = page_tokens(chunk.title, chunk.language)
    headings = [heading for heading in chunk.heading_path if heading != chunk.title]
    heading = page_tokens("\n".join(headings), chunk.language)
    body = page_tokens(chunk.text, chunk.language)
    weights: Counter[str] = Counter(body)
    for token in heading:
        weights[token] += HEADING_WEIGHT
    for token in title:
        weights[token] += TITLE_WEIGHT
    if weights and max(weights.values()) > MOST:
        weights = Counter({token: min(weight, MOST) for token, weight in weights.items()})
    forms = written_words("\n".join((chunk.title, *headings, chunk.text)), chunk.language)
    length = len(title) + len(heading) + len(body)
    return IndexedChunk(chunk.id, chunk.language, length, weights, frozenset(forms))
