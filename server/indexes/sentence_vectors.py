"""Vectors of the sentences, headings and tokens of chunks, stored after a crawl or on first use.

Ranking and grading compare a question with single sentences, and its tokens with those of a whole chunk. With
their vectors in the database, only the question itself has to be embedded. Everything here is derived from
chunks and can be computed again.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, LargeBinary, MetaData, Table, Text, bindparam, delete, func, select

from server.domain.chunk import Chunk
from server.domain.protocols import Embedder, embedded, reads, token_space
from server.indexes.word_tables import ensure_tables
from server.languages.scripts import script_of_language
from server.storage.database import Database
from server.storage.statements import among, upsert

REMOVED_AT_ONCE = 500
FILLED_AT_ONCE = 16
"""Number of chunks embedded together. Between batches, other work can use the model."""

_metadata = MetaData()
_table = Table(
    "sentence_vectors",
    _metadata,
    Column("site_id", Text, primary_key=True),
    Column("chunk_id", Text, primary_key=True),
    Column("embedder", Text, primary_key=True),
    Column("vectors", LargeBinary, nullable=False),
    Column("tokens", LargeBinary),
)
"""A row stores the texts of one chunk, each as the CRC of the text and its vector in half precision, and the
mark and the vectors of the chunk's tokens; null when they were not computed."""
MARK = 4
"""Bytes that tell of which text and of which space token vectors are."""

_OF_CHUNKS = {
    dialect: select(_table.c.chunk_id, _table.c.vectors, _table.c.tokens).where(
        _table.c.site_id == bindparam("site"),
        _table.c.embedder == bindparam("embedder"),
        among(dialect, _table.c.chunk_id, "ids"),
    )
    for dialect in ("sqlite", "postgresql")
}
_KNOWN = select(_table.c.chunk_id, func.substr(_table.c.tokens, 1, MARK, type_=LargeBinary)).where(
    _table.c.site_id == bindparam("site"), _table.c.embedder == bindparam("embedder")
)

Vectors = dict[int, NDArray[np.floating]]
"""Vectors by the CRC of their text."""
Matrix = NDArray[np.floating]
"""In half precision where it was stored."""


class ChunkVectors(NamedTuple):
    """What a question is compared with."""

    texts: Matrix
    """A row for each of the chunk's sentences and headings."""
    tokens: bytes | None
    """Vectors of the tokens of the chunk with its headings, as in `EmbeddedText`."""


class SentenceVectors:
    """Vectors of one site's chunks, by one embedder. Raises StorageError."""

    def __init__(
        self,
        database: Database,
        site_id: str,
        embedder: Embedder,
        texts: Callable[[Chunk], tuple[str, ...]],
    ) -> None:
        """`texts` returns the heading and the sentences of a chunk, in any language."""
        self._db = database
        self._site_id = site_id
        self._embedder = embedder
        self._texts = texts
        self._space = token_space(embedder)
        ensure_tables(database, _metadata)

    def fill(self, chunks: Iterable[Chunk], go_on: Callable[[], bool], *, sentences: bool = False) -> int:
        """Embed and store what questions in a chunk's own language are compared with, for those of a site's
        chunks that have none yet, while `go_on` returns true; with `sentences` also what questions in a
        language that is read are compared with. Remove what a question stored of a chunk that was removed
        meanwhile. Return the number of chunks that were embedded. Raises ModelError."""
        filled = 0
        with self._db.connect() as connection:
            known = {row[0]: row[1] for row in connection.execute(_KNOWN, self._key_values())}
        gone = set(known)

        def lacking() -> Iterator[Chunk]:
            for chunk in chunks:
                gone.discard(chunk.id)
                is_known = chunk.id in known and (not self._space or known[chunk.id] == self._mark(chunk))
                if not is_known and (not chunk.language or is_compared(self._embedder, chunk.language)):
                    yield chunk

        rest = lacking()
        while go_on():
            if not (batch := list(islice(rest, FILLED_AT_ONCE))):
                self.remove(sorted(gone))
                break
            self.of(batch, sentences=sentences)
            filled += len(batch)
        return filled

    def remove(self, ids: Sequence[str]) -> None:
        """Remove the vectors of these chunks. Unknown ids are ignored."""
        some = (_table.c.site_id == self._site_id, among(self._db.dialect, _table.c.chunk_id, "ids"))
        for start in range(0, len(ids), REMOVED_AT_ONCE):
            values = {"ids": list(ids[start : start + REMOVED_AT_ONCE])}
            with self._db.begin() as connection:
                connection.execute(delete(_table).where(*some), values)

    def of(self, chunks: Sequence[Chunk], *, sentences: bool = True) -> dict[str, ChunkVectors]:
        """Return the vectors of each chunk's texts and tokens, by its id. What is not stored is embedded and
        stored. Without `sentences`, the texts of chunks that the embedder does not read may be missing.
        Raises ModelError."""
        whole = {chunk.id: sentences or reads(self._embedder, chunk.language) for chunk in chunks}
        texts = {chunk.id: self._texts(chunk) if whole[chunk.id] else () for chunk in chunks}
        marks = {chunk.id: self._mark(chunk) for chunk in chunks}
        values = {**self._key_values(), "ids": list(texts)}
        with self._db.connect() as connection:
            rows = connection.execute(_OF_CHUNKS[self._db.dialect], values).all()
        found: dict[str, ChunkVectors] = {}
        old: dict[str, Vectors] = {}
        for chunk_id, data, held in rows:
            marked = self._space and held is not None and held[:MARK] == marks[chunk_id]
            has_texts = not whole[chunk_id] or data.startswith(_head(texts[chunk_id]))
            if has_texts and (marked or not self._space):
                found[chunk_id] = ChunkVectors(_matrix(data), held[MARK:] if marked else None)
            else:
                old[chunk_id] = dict(zip(_keys(data), _matrix(data), strict=True))
        if lacking := [chunk for chunk in chunks if chunk.id not in found]:
            made = self._embedded(lacking, texts, old)
            self._store(made, texts, marks)
            found |= made
        return found

    def _key_values(self) -> dict[str, str]:
        return {"site": self._site_id, "embedder": self._embedder.fingerprint}

    def _mark(self, chunk: Chunk) -> bytes:
        return _mark(self._space, chunk)

    def _embedded(
        self, chunks: Sequence[Chunk], texts: Mapping[str, tuple[str, ...]], old: Mapping[str, Vectors]
    ) -> dict[str, ChunkVectors]:
        """Embed chunks, each text once; texts that are in `old` have their vectors already."""
        wanted = [
            text for chunk in chunks for text in texts[chunk.id] if _key(text) not in old.get(chunk.id, {})
        ]
        whole = [chunk.indexed_text for chunk in chunks] if self._space else []
        distinct = list(dict.fromkeys([*wanted, *whole]))
        made = dict(zip(distinct, embedded(self._embedder, distinct), strict=True))
        vectors = {_key(text): np.asarray(one.vector, np.float32) for text, one in made.items()}
        return {
            chunk.id: ChunkVectors(
                np.array(
                    [(old.get(chunk.id, {}) | vectors)[_key(text)] for text in texts[chunk.id]], np.float32
                ),
                made[chunk.indexed_text].tokens if self._space else None,
            )
            for chunk in chunks
        }

    def _store(
        self,
        made: Mapping[str, ChunkVectors],
        texts: Mapping[str, tuple[str, ...]],
        marks: Mapping[str, bytes],
    ) -> None:
        rows = [
            {
                "site_id": self._site_id,
                "chunk_id": chunk_id,
                "embedder": self._embedder.fingerprint,
                "vectors": _written(texts[chunk_id], vectors),
                "tokens": None if tokens is None else marks[chunk_id] + tokens,
            }
            # Always in the same order, so that two questions with the same chunks do not wait for each other.
            for chunk_id, (vectors, tokens) in sorted(made.items())
        ]
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, _table), rows)


def is_compared(embedder: Embedder, language: str) -> bool:
    """Return whether texts of this language are compared: the embedder reads it, or makes vectors of tokens
    and reads another language with the same letters. Those tell it something of names, of words that both
    languages have, and of words that begin alike."""
    if not embedder.languages or language in embedder.languages:
        return True
    scripts = map(script_of_language, embedder.languages)
    return bool(token_space(embedder)) and script_of_language(language) in scripts


def drop_sentence_vectors(database: Database, site_id: str) -> None:
    """Remove a site's vectors of every embedder. Raises StorageError."""
    ensure_tables(database, _metadata)
    with database.begin() as connection:
        connection.execute(delete(_table).where(_table.c.site_id == site_id))


@lru_cache(maxsize=4_000)
def _mark(space: str, chunk: Chunk) -> bytes:
    return zlib.crc32(f"{space} {chunk.indexed_text}".encode("utf-8", "replace")).to_bytes(MARK)


@lru_cache(maxsize=4_000)
def _head(texts: tuple[str, ...]) -> bytes:
    """Return what the vectors of these texts are stored behind: the number of texts, and their keys."""
    return np.array([len(texts), *map(_key, texts)], np.uint32).tobytes()


def _key(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def _written(texts: tuple[str, ...], vectors: Matrix) -> bytes:
    return _head(texts) + vectors.astype(np.float16).tobytes()


def _keys(data: bytes) -> list[int]:
    keys: list[int] = np.frombuffer(data, np.uint32, _count(data), 4).tolist()
    return keys


def _matrix(data: bytes) -> Matrix:
    """Return the stored vectors, in the order of their texts."""
    count = _count(data)
    return np.frombuffer(data, np.float16, -1, 4 + 4 * count).reshape(count, -1 if count else 1)


def _count(data: bytes) -> int:
    return int.from_bytes(data[:4], sys.byteorder)
