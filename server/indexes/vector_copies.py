"""Copies of small vector indexes, which the answering process searches without an index structure.

A query to the Chroma server takes several milliseconds, most of them for the request itself. The vectors of a
typical site fit into a file that all processes of the machine map into memory. Comparing all of them is
faster, and exact. Chroma remains the store: after every change a new copy is made from it.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from sqlalchemy import Column, Float, MetaData, Table, Text, bindparam, select

from server.domain.protocols import Vector
from server.indexes.errors import IndexFailure
from server.indexes.word_tables import ensure_tables
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.statements import upsert

log = logging.getLogger(__name__)

SETTLED_S = 3.0
"""Seconds without a change after which a copy is made, because a crawl changes the vectors repeatedly."""

MOST_IDS = 500_000
"""Ids of all opened copies together: 50 MB. The vectors themselves are mapped and belong to no process."""

_metadata = MetaData()
_revisions = Table(
    "vector_revisions",
    _metadata,
    Column("name", Text, primary_key=True),
    Column("revision", Text, nullable=False),
    Column("changed_at", Float, nullable=False),
)
"""A new random revision for each change of a collection, and its time in seconds since 1970."""

_REVISION = select(_revisions.c.revision, _revisions.c.changed_at).where(_revisions.c.name == bindparam("of"))

Page = tuple[Sequence[str], Sequence[Vector]]


@dataclass(frozen=True, slots=True)
class _Copy:
    """All vectors of a collection at one revision; without ids if there are too many to copy."""

    revision: str
    ids: tuple[str, ...] = ()
    matrix: NDArray[np.float32] | None = None


class VectorCopies:
    """Vector copies of one process. Thread-safe. Raises StorageError."""

    def __init__(self, database: Database, folder: Path, most: int) -> None:
        """`folder` contains the files. Collections of more than `most` vectors are not copied."""
        ensure_tables(database, _metadata)
        self._db = database
        self._folder = folder
        self._most = most
        self._copies: dict[str, _Copy] = {}
        self._copying: set[str] = set()
        self._opening = threading.Lock()

    def note_change(self, name: str) -> None:
        """Mark every copy of the collection as outdated, in all processes."""
        row = {"name": name, "revision": uuid4().hex, "changed_at": time.time()}
        with self._db.begin() as connection:
            connection.execute(upsert(self._db.dialect, _revisions), row)

    def search(
        self, name: str, vector: Vector, limit: int, read: Callable[[], Iterator[Page]] | None
    ) -> list[tuple[str, float]] | None:
        """Return at most `limit` (chunk id, cosine), best first; None without a current copy. Then a copy
        for later questions is made in the background from the vectors that `read` yields."""
        with self._db.connect() as connection:
            row = connection.execute(_REVISION, {"of": name}).first()
        if row is None or not self._most:
            return None
        copy = self._copies.get(name)
        if copy is None or copy.revision != row.revision:
            copy = self._opened(name, row.revision)
            if copy is None:
                if read is not None and time.time() - row.changed_at > SETTLED_S:
                    self._copy_later(name, row.revision, read)
                return None
        return None if copy.matrix is None else _nearest(copy.ids, copy.matrix, vector, limit)

    def _opened(self, name: str, revision: str) -> _Copy | None:
        """Open a copy that another process or an earlier run made; None without one."""
        vectors, ids = self._files(name, revision)
        try:
            # The ids are written last, so if they exist, the vectors are complete.
            known = tuple(json.loads(ids.read_bytes()))
            matrix = np.load(vectors, mmap_mode="r") if known else None
        except (OSError, ValueError):
            return None
        copy = _Copy(revision, known, matrix)
        self._keep(name, copy)
        return copy

    def _keep(self, name: str, copy: _Copy) -> None:
        """Keep an opened copy, and forget those opened first when all together are too large."""
        with self._opening:
            self._copies.pop(name, None)
            self._copies[name] = copy
            total = sum(len(one.ids) for one in self._copies.values())
            while total > MOST_IDS and len(self._copies) > 1:
                total -= len(self._copies.pop(next(iter(self._copies))).ids)

    def _copy_later(self, name: str, revision: str, read: Callable[[], Iterator[Page]]) -> None:
        if name not in self._copying:
            self._copying.add(name)
            arguments = (name, revision, read)
            threading.Thread(target=self._copy, args=arguments, name="vector-copy", daemon=True).start()

    def _copy(self, name: str, revision: str, read: Callable[[], Iterator[Page]]) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / f"{name}.lock", timeout=0):
                if self._opened(name, revision) is None:
                    self._write(name, revision, read)
        except Timeout:
            pass  # another process is making it
        except (OSError, IndexFailure, StorageError) as error:
            log.warning("no copy of the vectors %s: %s. Chroma is asked instead.", name, error)
            self._keep(name, _Copy(revision))
        finally:
            self._copying.discard(name)

    def _write(self, name: str, revision: str, read: Callable[[], Iterator[Page]]) -> None:
        known: list[str] = []
        rows: list[NDArray[np.float32]] = []
        for ids, vectors in read():
            if len(vectors) != len(ids):
                return  # another process dropped the index while it was read
            known.extend(ids)
            rows.append(np.asarray(vectors, np.float32))
            if len(known) > self._most:
                known, rows = [], []
                break
        with self._db.connect() as connection:
            row = connection.execute(_REVISION, {"of": name}).first()
        if row is None or row.revision != revision:
            return  # changed while it was read
        for old in self._folder.glob(f"{name}-*"):
            old.unlink(missing_ok=True)
        file, id_file = self._files(name, revision)
        if known:
            matrix = np.concatenate(rows)
            np.save(file, matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12))
        id_file.write_text(json.dumps(known))

    def _files(self, name: str, revision: str) -> tuple[Path, Path]:
        return self._folder / f"{name}-{revision}.npy", self._folder / f"{name}-{revision}.json"


def _nearest(
    ids: Sequence[str], matrix: NDArray[np.float32], vector: Vector, limit: int
) -> list[tuple[str, float]]:
    asked = np.asarray(vector, np.float32)
    cosines = matrix @ (asked / max(float(np.linalg.norm(asked)), 1e-12))
    places = np.arange(len(cosines))
    if limit < len(cosines):
        places = np.argpartition(-cosines, limit)[:limit]
    places = places[np.argsort(-cosines[places], kind="stable")]
    return [
        (ids[place], cosine) for place, cosine in zip(places.tolist(), cosines[places].tolist(), strict=True)
    ]
