"""Timings and notes of one answer, which show the operator how it was made."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from server.domain.chunk import ScoredChunk
from server.tracing import span

_step: ContextVar[str] = ContextVar("step", default="")


def current_step() -> str:
    """Return the innermost step that is running, or "" outside of any step."""
    return _step.get()


class Trace:
    """Timings by step in milliseconds, and notes by name."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self.notes: dict[str, Any] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Add the time of the block to `name`, even when the block raises."""
        started = perf_counter()
        before = _step.set(name)
        try:
            with span(f"answer {name}"):
                yield
        finally:
            _step.reset(before)
            spent = 1000 * (perf_counter() - started)
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + spent, 2)

    def note(self, name: str, value: object) -> None:
        """Keep a JSON-like value under `name`."""
        self.notes[name] = value

    def note_candidates(self, hits: Sequence[ScoredChunk]) -> None:
        """Keep the retrieved chunks with all their scores."""
        self.notes["candidates"] = [
            {"chunk": hit.chunk.id, "url": hit.chunk.url, "heading": hit.chunk.heading,
             "score": round(hit.score, 4), "scores": {**hit.scores}, **({"why": hit.why} if hit.why else {})}
            for hit in hits
        ]  # fmt: skip

    def add_to(self, name: str, value: object) -> None:
        """Append to the list under `name`."""
        self.notes.setdefault(name, []).append(value)

    def listed(self, name: str) -> list[Any]:
        """Return the values appended under `name`."""
        return list(self.notes.get(name, []))
