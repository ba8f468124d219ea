"""BM25 over our own tokens, in SQL: postings in blocks of bytes, scored by numpy.

The database keeps the postings and gives those of the query's tokens; the score is computed here.
So SQLite and PostgreSQL rank alike, and a question costs a few milliseconds on 100,000 chunks,
where SQLite's own full text (FTS5) takes twenty times as long (benchmarks/indexing.py).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from sqlalchemy import Connection, delete

from server.domain.chunk import Chunk
from server.indexes.postings import MOST, best, bm25
from server.indexes.tokens import page_tokens, query_tokens
from server.indexes.vocabulary import Vocabulary, written_words
from server.indexes.word_reads import Revisions, all_ids, read_forms, read_ids, read_revisions
from server.indexes.word_snapshot import Snapshot
from server.indexes.word_tables import (
    VERSION,
    ensure_tables,
    lock,
    note_version,
    word_blocks,
    word_chunks,
    word_forms,
    word_postings,
    word_sites,
)
from server.indexes.word_writer import Entry, WordWriter
from server.storage.database import Database

TITLE_WEIGHT = 3
HEADING_WEIGHT = 2
"""A word in the title or a heading counts as so many in the text. Measured with K1 and B of postings.py
on two sets of real questions: weight 1 costs 4 points of MRR@10, 5 gains half a point over 3."""
TRANSACTION = 128
"""Chunks written at once. Other writers of SQLite, such as a visitor's answer, wait that long: 0.1 s."""


SIDE = "/"
"""Stands between a site's id and the name of an index beside that of its chunks."""


_TABLES = (word_postings, word_chunks, word_blocks, word_forms)


def drop_words(database: Database, site_id: str) -> None:
    """Removes every word index of a site. Raises StorageError."""
    ensure_tables(database)
    for table in (*_TABLES, word_sites):
        with database.begin() as connection:
            of_site = (table.c.site_id == site_id) | table.c.site_id.startswith(
                f"{site_id}{SIDE}", autoescape=True
            )
            connection.execute(delete(table).where(of_site))


class SqlWordIndex:
    """Implements WordIndex on the installation's database. Raises StorageError."""

    def __init__(self, database: Database, site_id: str, side: str = "") -> None:
        """`side` names an index beside that of the site's chunks."""
        ensure_tables(database)
        self._db = database
        self._site_id = site_id = f"{site_id}{SIDE}{side}" if side else site_id
        self._snapshot: Snapshot | None = None
        self._vocabularies: tuple[Revisions, dict[int, Vocabulary]] = ((), {})
        self._lock = zlib.crc32(f"words {site_id}".encode())

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Stores or replaces by chunk id."""
        for start in range(0, len(chunks), TRANSACTION):
            entries = [_entry(chunk) for chunk in chunks[start : start + TRANSACTION]]
            with self._db.begin() as connection:
                lock(connection, self._lock)
                WordWriter(connection, self._site_id).add(entries)

    def remove(self, ids: Sequence[str]) -> None:
        """Unknown ids are no error."""
        for start in range(0, len(ids), TRANSACTION):
            with self._db.begin() as connection:
                lock(connection, self._lock)
                WordWriter(connection, self._site_id).remove(ids[start : start + TRANSACTION])

    def search(self, text: str, limit: int) -> list[tuple[str, float]]:
        """(chunk id, BM25 score > 0), best first, at most `limit`. Any text is valid."""
        with self._db.connect() as connection:
            snapshot = self._state(connection)
            found = query_tokens(text, snapshot.languages)
            if not found or limit < 1:
                return []
            scores = bm25(snapshot.lengths, snapshot.postings(connection, found).values())
            ranked = [(snapshot.lengths.number(at), score) for at, score in best(scores, limit)]
            ids = read_ids(connection, self._site_id, [number for number, _ in ranked]) if ranked else {}
        return [(ids[number], score) for number, score in ranked if number in ids]

    def document_frequencies(self, tokens: Sequence[str]) -> dict[str, int]:
        """In how many chunks each token occurs; tokens that occur nowhere have 0."""
        with self._db.connect() as connection:
            found = self._state(connection).postings(connection, tokens)
        return {token: len(found[token][0]) for token in tokens}

    def query_tokens(self, text: str) -> list[str]:
        """The tokens that `search` looks for: in every language that the index holds."""
        with self._db.connect() as connection:
            return query_tokens(text, self._state(connection).languages)

    def languages(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """Of the chunks, most frequent first; and those that the site is written in."""
        with self._db.connect() as connection:
            state = self._state(connection)
        return state.languages, state.main_languages

    def vocabulary(self) -> Collection[Vocabulary]:
        """The words that the site writes, block by block."""
        with self._db.connect() as connection:
            return self._vocabulary(connection, self._state(connection).revisions)

    def count(self) -> int:
        """How many chunks are indexed."""
        with self._db.connect() as connection:
            return self._state(connection).lengths.count

    def ids(self) -> set[str]:
        """Ids of all chunks in the index."""
        with self._db.connect() as connection:
            return all_ids(connection, self._site_id)

    def drop(self) -> None:
        """Removes the whole index. Adding afterwards starts a new one."""
        with self._db.begin() as connection:
            lock(connection, self._lock)
            self._empty(connection)
            connection.execute(delete(word_sites).where(word_sites.c.site_id == self._site_id))

    def renew(self, chunks: Iterable[Chunk]) -> None:
        """Makes the index anew of all chunks of the site, as this version does. One that is cut off is
        `outdated` still."""
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

    def _state(self, connection: Connection) -> Snapshot:
        """The index as it is now."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.revisions != read_revisions(connection, self._site_id):
            self._snapshot = snapshot = Snapshot(connection, self._site_id)
        return snapshot

    def _vocabulary(self, connection: Connection, revisions: Revisions) -> Collection[Vocabulary]:
        """The words of every block; those of blocks that did not change are kept."""
        known, kept = self._vocabularies
        if known != revisions:
            same = {block for block, _ in set(known) & set(revisions)}
            read = {} if len(same) == len(revisions) else read_forms(connection, self._site_id)
            kept = {block: kept[block] for block in same if block in kept} | {
                block: Vocabulary(data) for block, data in read.items() if block not in same
            }
            self._vocabularies = (revisions, kept)
        return kept.values()


def _entry(chunk: Chunk) -> Entry:
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
    return Entry(chunk.id, chunk.language, length, weights, frozenset(forms))
