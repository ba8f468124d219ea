"""What an evaluation has come to, line by line, so that a run which was cut off goes on where it ended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson

JOURNAL = "journal.jsonl"


class Journal:
    """Values by key in a file that only grows. A line that was cut off is as if it had not been written."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        """`fresh` forgets what is there."""
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / JOURNAL
        if fresh:
            self._path.unlink(missing_ok=True)
        self._known: dict[str, Any] = {}
        self._read()

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str) -> Any:
        """The value; None when there is none."""
        return self._known.get(key)

    def add(self, key: str, value: Any) -> None:
        """On the disk when this returns."""
        line = orjson.dumps({"key": key, "value": value}, default=str)
        with self._path.open("ab") as file:
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._known[key] = orjson.loads(line)["value"]

    def _read(self) -> None:
        if not self._path.is_file():
            return
        body = self._path.read_bytes()
        for line in body.splitlines():
            try:
                row = orjson.loads(line)
                self._known[str(row["key"])] = row["value"]
            except (ValueError, KeyError, TypeError):
                continue  # cut off while it was written: asked again
        if body and not body.endswith(b"\n"):
            with self._path.open("ab") as file:
                file.write(b"\n")
