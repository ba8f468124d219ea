"""Vectors of the sentences, headings and tokens of chunks, stored after a crawl or on first use.

Ranking and grading compare a question with single sentences, and its tokens with those of a whole chunk. With
their vectors in the database, only the question itself has to be embedded. Everything here is derived from
chunks and can be computed again.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, LargeBinary, MetaData, Table, Text, bindparam, delete, select

from server.domain.chunk import Chunk
from server.domain.protocols import Embedder, embedded, gives_tokens
from server.indexes.word_tables import ensure_tables
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
vectors of the chunk's tokens; null when they were not computed."""

_OF_CHUNKS = {
    dialect: select(_table.c.chunk_id, _table.c.vectors, _table.c.tokens).where(
        _table.c.site_id == bindparam("site"),
        _table.c.embedder == bindparam("embedder"),
        among(dialect, _table.c.chunk_id, "ids"),
    )
    for dialect in ("sqlite", "postgresql")
}
_KNOWN = select(_table.c.chunk_id).where(
    _table.c.site_id == bindparam("site"), _table.c.embedder == bindparam("embedder")
)
_REMOVED = {
    dialect: delete(_table).where(
        _table.c.site_id == bindparam("site"), among(dialect, _table.c.chunk_id, "ids")
    )
    for dialect in ("sqlite", "postgresql")
}

Vectors = dict[int, NDArray[np.float32]]
"""Vectors by the CRC of their text."""
Matrix = NDArray[np.float32]


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
        texts: Callable[[Chunk], Sequence[str]],
    ) -> None:
        """`texts` returns the sentences and headings of a chunk."""
        self._db = database
        self._site_id = site_id
        self._embedder = embedder
        self._texts = texts
        ensure_tables(database, _metadata)

    def fill(self, chunks: Iterable[Chunk], go_on: Callable[[], bool]) -> int:
        """Embed and store the texts and tokens of chunks that have none yet and whose language the embedder
        reads, while `go_on` returns true. Return the number of chunks. Raises ModelError."""
        reads, filled = self._embedder.languages, 0
        known_query = _KNOWN.where(_table.c.tokens.is_not(None)) if gives_tokens(self._embedder) else _KNOWN
        with self._db.connect() as connection:
            known = set(connection.execute(known_query, self._key_values()).scalars())
        lacking = (
            chunk
            for chunk in chunks
            if chunk.id not in known and (not reads or not chunk.language or chunk.language in reads)
        )
        while go_on() and (batch := list(islice(lacking, FILLED_AT_ONCE))):
            self.of(batch)
            filled += len(batch)
        return filled

    def remove(self, ids: Sequence[str]) -> None:
        """Remove the vectors of these chunks. Unknown ids are ignored."""
        for start in range(0, len(ids), REMOVED_AT_ONCE):
            some = list(ids[start : start + REMOVED_AT_ONCE])
            with self._db.begin() as connection:
                connection.execute(_REMOVED[self._db.dialect], {"site": self._site_id, "ids": some})

    def of(self, chunks: Sequence[Chunk]) -> dict[str, ChunkVectors]:
        """Return the vectors of each chunk's texts and tokens, by its id. What is not stored is embedded and
        stored. Raises ModelError."""
        texts = {chunk.id: self._texts(chunk) for chunk in chunks}
        values = {**self._key_values(), "ids": list(texts)}
        with self._db.connect() as connection:
            rows = connection.execute(_OF_CHUNKS[self._db.dialect], values).all()
        tokens = {chunk_id: held for chunk_id, _, held in rows if held is not None}
        vectors: dict[str, Vectors] = {}
        found: dict[str, ChunkVectors] = {}
        for chunk_id, data, _ in rows:
            known, matrix = _read(data)
            if known == list(map(_key, texts[chunk_id])):
                found[chunk_id] = ChunkVectors(matrix, tokens.get(chunk_id))
            else:
                tokens.pop(chunk_id, None)  # of another text
            vectors[chunk_id] = dict(zip(known, matrix, strict=True))
        wants_tokens = gives_tokens(self._embedder)
        lacking = [
            chunk
            for chunk in chunks
            if chunk.id not in found or (wants_tokens and found[chunk.id].tokens is None)
        ]
        if lacking:
            self._embed(lacking, texts, vectors, tokens)
            self._store([chunk.id for chunk in lacking], vectors, tokens)
        for chunk in lacking:
            own = vectors[chunk.id]
            matrix = np.array([own[_key(text)] for text in texts[chunk.id]], np.float32)
            found[chunk.id] = ChunkVectors(matrix, tokens.get(chunk.id))
        return found

    def _key_values(self) -> dict[str, str]:
        return {"site": self._site_id, "embedder": self._embedder.fingerprint}

    def _embed(
        self,
        chunks: Sequence[Chunk],
        texts: Mapping[str, Sequence[str]],
        vectors: dict[str, Vectors],
        tokens: dict[str, bytes],
    ) -> None:
        """Add what `vectors` and `tokens` lack of these chunks; each text is embedded once."""
        lacking = {
            chunk.id: [text for text in texts[chunk.id] if _key(text) not in vectors.get(chunk.id, {})]
            for chunk in chunks
        }
        whole = {chunk.id: chunk.indexed_text for chunk in chunks if chunk.id not in tokens}
        if not gives_tokens(self._embedder):
            whole = {}
        wanted = list(dict.fromkeys([*(text for some in lacking.values() for text in some), *whole.values()]))
        made = dict(zip(wanted, embedded(self._embedder, wanted), strict=True))
        for chunk_id, some in lacking.items():
            own = {_key(text): np.asarray(made[text].vector, np.float32) for text in some}
            vectors[chunk_id] = {**vectors.get(chunk_id, {}), **own}
        for chunk_id, text in whole.items():
            found = made[text].tokens
            if found is not None:
                tokens[chunk_id] = found

    def _store(self, ids: Sequence[str], vectors: Mapping[str, Vectors], tokens: Mapping[str, bytes]) -> None:
        rows = [
            {
                "site_id": self._site_id,
                "chunk_id": chunk_id,
                "embedder": self._embedder.fingerprint,
                "vectors": _written(vectors[chunk_id]),
                "tokens": tokens.get(chunk_id),
            }
            for chunk_id in ids
        ]
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, _table), rows)


def drop_sentence_vectors(database: Database, site_id: str) -> None:
    """Remove a site's vectors of every embedder. Raises StorageError."""
    ensure_tables(database, _metadata)
    with database.begin() as connection:
        connection.execute(delete(_table).where(_table.c.site_id == site_id))


def _key(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def _written(vectors: Vectors) -> bytes:
    """Encode vectors as the number of texts, their keys and their vectors."""
    keys = np.fromiter(vectors, np.uint32, len(vectors))
    matrix = np.asarray(list(vectors.values()), np.float16)
    return np.uint32(len(vectors)).tobytes() + keys.tobytes() + matrix.tobytes()


def _read(data: bytes) -> tuple[list[int], Matrix]:
    """Return the keys of the texts and their vectors, in the same order."""
    count = int(np.frombuffer(data, np.uint32, 1)[0])
    keys = np.frombuffer(data, np.uint32, count, 4)
    numbers = np.frombuffer(data, np.float16, -1, 4 + 4 * count).astype(np.float32)
    return keys.tolist(), numbers.reshape(count, -1 if count else 1)
