"""What came of one question asked in one way, as it is kept and reported."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from server.answering.chat import response
from server.domain.answer import Answer
from server.domain.chunk import ScoredChunk
from server.evaluation.judging import NOT_ANSWERED, Verdicts
from server.evaluation.questions import Case

CONTEXTS = 5
"""Best retrieved chunks that judges read beside the answer."""


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """JSON values only."""

    id: str
    type: str
    question: str
    ranked_urls: list[str]
    verdicts: Verdicts
    search_ms: float
    answer: dict[str, Any] | None = None
    """As the API gives it, with the trace; None where only the ranking was wanted."""
    contexts: list[str] = field(default_factory=list)
    """Ids of the best chunks that the answer was made from."""
    answer_ms: float | None = None
    """From the question to the verified answer."""
    used: dict[str, float] = field(default_factory=dict)
    """Calls, tokens and money that the answer took."""

    @property
    def refused(self) -> bool:
        """Return whether there is an answer, and it tells nothing."""
        return self.answer is not None and self.answer["outcome"] in NOT_ANSWERED

    @property
    def text(self) -> str:
        """Text of the answer; empty for a refusal."""
        return "" if self.answer is None or self.refused else str(self.answer["answer"])


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """All questions asked in one way."""

    strategy: str
    flow: str
    model: str
    rows: tuple[EvaluatedRow, ...]
    index: Mapping[str, Any] = field(default_factory=dict)
    """What the index is and what building it took."""

    @property
    def name(self) -> str:
        """Unique among the runs of one report."""
        return f"{self.strategy}, {self.flow}"


def row_of(
    case: Case,
    ranked: Sequence[str],
    hits: Sequence[ScoredChunk],
    answer: Answer | None,
    verdicts: Verdicts,
    search_ms: float,
) -> EvaluatedRow:
    """The row of a question that was just asked; `hits` are what its search found."""
    found = [hit.chunk.id for hit in hits[:CONTEXTS]]
    row = EvaluatedRow(case.id, case.type, case.question, list(ranked), verdicts, search_ms, contexts=found)
    if answer is None:
        return row
    candidates = answer.trace.get("candidates")
    if isinstance(candidates, list) and candidates:
        found = [str(candidate["chunk"]) for candidate in candidates[:CONTEXTS]]
    usage = answer.trace.get("usage")
    return replace(
        row,
        answer={**response("", "", answer), "trace": answer.trace},
        contexts=found,
        answer_ms=round(sum(answer.timings_ms.values()), 2),
        used=dict(usage) if isinstance(usage, Mapping) else {},
    )


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
