"""A derived index as a value: built whole, stored whole, loaded whole, never changed."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import orjson

from server.domain.derived import Record

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


@dataclass(frozen=True)
class Artefact:
    """Records by kind, with arrays and facts of any kind beside them."""

    records: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    """In an order that the strategy may rely on: arrays can speak of the n-th record of a kind."""
    arrays: Mapping[str, Array] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
    """JSON values."""

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
        """What `from_bytes` reads; no pickle in it."""
        records = {kind: [_row(record) for record in of_kind] for kind, of_kind in self.records.items()}
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
        records = {kind: [_record(row) for row in rows] for kind, rows in texts["records"].items()}
        return cls(records, arrays, texts["facts"])


def _row(record: Record) -> list[object]:
    page = [record.url, record.title, record.language]
    return [record.id, record.text, record.sources, *page, record.data]


def _record(row: list[object]) -> Record:
    chunk_id, text, sources, url, title, language, data = row
    return Record(str(chunk_id), str(text), tuple(sources), str(url), str(title), str(language), data)  # type: ignore[arg-type]
