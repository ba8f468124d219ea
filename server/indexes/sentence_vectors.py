"""Vectors of the sentences and headings of chunks, stored after a crawl or on first use.

Grading compares a question with single sentences. With their vectors in the database, only the question
itself has to be embedded. Everything here is derived from chunks and can be computed again.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, LargeBinary, MetaData, Table, Text, bindparam, delete, select

from server.domain.chunk import Chunk
from server.domain.protocols import Embedder
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
)
"""A row stores the texts of one chunk, each as the CRC of the text and its vector in half precision."""

_OF_CHUNKS = {
    dialect: select(_table.c.chunk_id, _table.c.vectors).where(
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


class SentenceVectors:
    """Sentence vectors of one site's chunks, by one embedder. Raises StorageError."""

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
        """Embed and store the texts of chunks that have no vectors yet and whose language the embedder
        reads, while `go_on` returns true. Return the number of chunks. Raises ModelError."""
        reads, filled = self._embedder.languages, 0
        with self._db.connect() as connection:
            known = set(connection.execute(_KNOWN, self._key_values()).scalars())
        lacking = (
            chunk
            for chunk in chunks
            if chunk.id not in known and (not reads or not chunk.language or chunk.language in reads)
        )
        while go_on() and (batch := list(islice(lacking, FILLED_AT_ONCE))):
            self._store({}, self._missing({}, {chunk.id: self._texts(chunk) for chunk in batch}))
            filled += len(batch)
        return filled

    def remove(self, ids: Sequence[str]) -> None:
        """Remove the vectors of these chunks. Unknown ids are ignored."""
        for start in range(0, len(ids), REMOVED_AT_ONCE):
            some = list(ids[start : start + REMOVED_AT_ONCE])
            with self._db.begin() as connection:
                connection.execute(_REMOVED[self._db.dialect], {"site": self._site_id, "ids": some})

    def of(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, Matrix]:
        """Return a row for the vector of each text, by chunk id; `wanted` lists texts by chunk id. Texts
        without a stored vector are embedded and stored. Raises ModelError."""
        values = {**self._key_values(), "ids": list(wanted)}
        with self._db.connect() as connection:
            rows = connection.execute(_OF_CHUNKS[self._db.dialect], values).all()
        keys = {chunk_id: list(map(_key, texts)) for chunk_id, texts in wanted.items()}
        found, others = {}, {}
        for chunk_id, data in rows:
            known, matrix = _read(data)
            if known == keys[chunk_id]:
                found[chunk_id] = matrix
            else:
                others[chunk_id] = dict(zip(known, matrix, strict=True))
        lacking = {chunk_id: wanted[chunk_id] for chunk_id in keys if chunk_id not in found}
        if missing := self._missing(others, lacking):
            self._store(others, missing)
        for chunk_id in lacking:
            own = {**others.get(chunk_id, {}), **missing.get(chunk_id, {})}
            found[chunk_id] = np.array([own[key] for key in keys[chunk_id]])
        return found

    def _key_values(self) -> dict[str, str]:
        return {"site": self._site_id, "embedder": self._embedder.fingerprint}

    def _missing(
        self, stored: Mapping[str, Vectors], wanted: Mapping[str, Sequence[str]]
    ) -> dict[str, Vectors]:
        """Embed the texts that are not stored with their chunk, each text once."""
        lacking = {
            chunk_id: [text for text in texts if _key(text) not in stored.get(chunk_id, {})]
            for chunk_id, texts in wanted.items()
        }
        texts = list(dict.fromkeys(text for some in lacking.values() for text in some))
        if not texts:
            return {}
        vectors = self._embedder.embed(texts)
        made = {text: np.asarray(vector, np.float32) for text, vector in zip(texts, vectors, strict=True)}
        return {
            chunk_id: {_key(text): made[text] for text in some} for chunk_id, some in lacking.items() if some
        }

    def _store(self, stored: Mapping[str, Vectors], new: Mapping[str, Vectors]) -> None:
        rows = [
            {
                "site_id": self._site_id,
                "chunk_id": chunk_id,
                "embedder": self._embedder.fingerprint,
                "vectors": _written({**stored.get(chunk_id, {}), **vectors}),
            }
            for chunk_id, vectors in new.items()
        ]
        if not rows:
            return
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
    matrix = np.frombuffer(data, np.float16, -1, 4 + 4 * count).reshape(count, -1).astype(np.float32)
    return keys.tolist(), matrix
