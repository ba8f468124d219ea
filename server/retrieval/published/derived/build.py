"""What a derived index is built with, and the value that a build returns: made whole, stored whole,
loaded whole."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from server.domain.chunk import Chunk
from server.domain.derived import Monitor, Record, SiteText
from server.domain.protocols import Embedder, Vector, VectorIndex
from server.retrieval.parts import SideIndexes
from server.retrieval.published.derived.asking import ModelTasks

T = TypeVar("T")
V = TypeVar("V")
Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


@dataclass(frozen=True)
class Artefact:
    """Records by kind, with arrays and facts of any kind in addition to them."""

    records: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    """In an order that the strategy may rely on: arrays can speak of the n-th record of a kind."""
    arrays: Mapping[str, Array] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    """JSON values."""
    _views: dict[Callable[[Artefact], object], object] = field(default_factory=dict, compare=False)

    def view(self, make: Callable[[Artefact], V]) -> V:
        """Return what `make` makes of this state, which is made once."""
        if make not in self._views:
            self._views[make] = make(self)
        return cast(V, self._views[make])

    @cached_property
    def by_id(self) -> dict[str, Record]:
        """Every record of every kind."""
        return {record.id: record for records in self.records.values() for record in records}

    @cached_property
    def place(self) -> dict[str, int]:
        """Record id -> its number among those of its kind."""
        return {record.id: at for records in self.records.values() for at, record in enumerate(records)}

    @cached_property
    def of_source(self) -> dict[str, list[Record]]:
        """Chunk id -> the records that come from it, of every kind."""
        found: dict[str, list[Record]] = {}
        for records in self.records.values():
            for record in records:
                for source in record.sources:
                    found.setdefault(source, []).append(record)
        return found

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads; no pickle in it."""
        records = {
            kind: [[r.id, r.text, r.sources, r.url, r.title, r.language, r.data] for r in of_kind]
            for kind, of_kind in self.records.items()
        }
        texts = orjson.dumps({"records": records, "facts": self.facts}, option=orjson.OPT_SERIALIZE_NUMPY)
        packed = np.frombuffer(zlib.compress(texts, 1), np.uint8)
        out = io.BytesIO()
        np.savez(out, **{"texts": packed, **{f"array.{name}": array for name, array in self.arrays.items()}})  # type: ignore[arg-type]
        return out.getvalue()

    @classmethod
    def from_bytes(cls, body: bytes) -> Artefact:
        """The artefact that `to_bytes` wrote."""
        with np.load(io.BytesIO(body), allow_pickle=False) as stored:
            texts = orjson.loads(zlib.decompress(stored["texts"].tobytes()))
            arrays = {name.removeprefix("array."): stored[name] for name in stored.files if name != "texts"}
        records = {
            kind: [Record(id, text, tuple(sources), *others) for id, text, sources, *others in rows]
            for kind, rows in texts["records"].items()
        }
        return cls(records, arrays, texts["facts"])


BATCH = 256
"""Texts embedded at once."""

Vectors = NDArray[np.float32]


@dataclass
class Kit:
    """One build. Records written to the side indexes are seen once the artefact that holds them is live."""

    text: SiteText
    asking: ModelTasks
    embedder: Embedder
    monitor: Monitor
    chunk_vectors_of: VectorIndex
    """The vectors of the chunks."""
    side: Callable[[str], SideIndexes]
    written: dict[str, set[str]] = field(default_factory=dict)
    """Kind -> ids of the records that this build put into side indexes."""
    load_before: Callable[[], Artefact | None] = lambda: None
    """Returns the newest state of the same index, for those whose build goes on from there."""

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All of the site, by page and position."""
        return [chunk for page in self.text.pages() for chunk in page]

    def chunk_vectors(self, chunks: Sequence[Chunk]) -> Vectors:
        """One row for each, of length 1; those that no index holds are made, and not kept."""
        ids = [chunk.id for chunk in chunks]
        known = self.chunk_vectors_of.vectors(ids)
        new = [chunk for chunk in chunks if chunk.id not in known]
        for batch in batched(self.monitor, "chunk vectors", new, BATCH):
            made = self.embedder.embed([chunk.indexed_text for chunk in batch])
            known |= {chunk.id: vector for chunk, vector in zip(batch, made, strict=True)}
        return _matrix([known[id] for id in ids])

    def vectors(self, kind: str, records: Sequence[Record]) -> Vectors:
        """One row for each record, of length 1; searchable with `nearest` of the strategy from then on.
        Records that are stored under their id are not embedded again."""
        if self.asking.trial:
            return np.zeros((len(records), 1), np.float32)
        index = self.side(kind).vectors
        known = index.vectors([record.id for record in records])
        new = list({record.id: record for record in records if record.id not in known}.values())
        for batch in batched(self.monitor, f"vectors of {kind}", new, BATCH):
            made = self.embedder.embed([record.text for record in batch])
            index.add([record.as_chunk() for record in batch], made)
            known |= {record.id: vector for record, vector in zip(batch, made, strict=True)}
        self.written.setdefault(kind, set()).update(record.id for record in records)
        return _matrix([known[record.id] for record in records])

    def words(self, kind: str, records: Sequence[Record]) -> None:
        """Makes records searchable by their words."""
        self.word_chunks(kind, [record.as_chunk() for record in records])

    def word_chunks(self, kind: str, chunks: Sequence[Chunk]) -> None:
        """Make texts with headings of their own searchable by words; ids are those of records."""
        if self.asking.trial:
            return
        index = self.side(kind).words
        known = index.ids()
        new = [chunk for chunk in chunks if chunk.id not in known]
        for batch in batched(self.monitor, f"words of {kind}", new, BATCH):
            index.add(batch)
        self.written.setdefault(kind, set()).update(chunk.id for chunk in chunks)


def watched(monitor: Monitor, name: str, items: Sequence[T], every: int) -> Iterator[T]:
    """The items; the monitor is told how far it is before each `every` of them. Raises BuildStopped."""
    for n, item in enumerate(items):
        if n % every == 0:
            monitor.step(name, n, len(items))
        yield item


def batched(monitor: Monitor, name: str, items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items, so many at once; the monitor is told before each batch. Raises BuildStopped."""
    for start in range(0, len(items), size):
        monitor.step(name, start, len(items))
        yield items[start : start + size]


def _matrix(vectors: Sequence[Vector]) -> Vectors:
    return np.asarray(vectors, np.float32).reshape(len(vectors), -1 if vectors else 0)
