"""What one answer took and why it came out as it did: for the operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from server.domain.chunk import ScoredChunk

_step: ContextVar[str] = ContextVar("step", default="")


def current_step() -> str:
    """The innermost step that is under way here; empty outside of any."""
    return _step.get()


class Trace:
    """Timings by step in milliseconds, and notes by name."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self.notes: dict[str, object] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Adds the time of the block to `name`, also when it raises."""
        started = perf_counter()
        before = _step.set(name)
        try:
            yield
        finally:
            _step.reset(before)
            spent = 1000 * (perf_counter() - started)
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + spent, 2)

    def note(self, name: str, value: object) -> None:
        """Keeps a JSON-like value under `name`."""
        self.notes[name] = value

    def note_candidates(self, hits: Sequence[ScoredChunk]) -> None:
        """Keeps what was retrieved, with every score."""
        self.notes["candidates"] = [
            {"chunk": hit.chunk.id, "url": hit.chunk.url, "heading": hit.chunk.heading,
             "score": round(hit.score, 4), "scores": {**hit.scores}, **({"why": hit.why} if hit.why else {})}
            for hit in hits
        ]  # fmt: skip

    def add_to(self, name: str, value: object) -> None:
        """Appends to the list under `name`."""
        noted = self.notes.setdefault(name, [])
        if isinstance(noted, list):
            noted.append(value)

    def listed(self, name: str) -> list[object]:
        """What was appended under `name`."""
        value = self.notes.get(name)
        return value if isinstance(value, list) else []
