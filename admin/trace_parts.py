"""What the trace of an answer is made of, as a page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STEPS = {
    "guard": "Guards",
    "shortcut": "Known answers",
    "rewrite": "Rewriting",
    "retrieve": "Retrieval",
    "filter": "Grading what was found",
    "transform": "Other wording",
    "write": "Writing",
    "verify": "Verifying claims",
    "cite": "Citing",
    "grade": "Grading the draft",
}
"""Step -> how a page calls it, in the order in which they happen."""
SCORES = {
    "dense": "Meaning",
    "words": "Words",
    "coverage": "Coverage",
    "title": "Title",
    "heading": "Heading",
    "history": "Earlier turns",
    "expanded": "Searched beside",
    "model": "Second look",
    "relevance": "Second look",
}
"""Score of a candidate -> its column; others come after these."""
SHORTCUTS = {
    "curated": "one of the operator’s own answers",
    "answer-cache": "the answer that was given before",
    "small-talk": "small talk",
    "handoff": "how to reach people",
    "overview": "what the site says of itself",
}


@dataclass(frozen=True, slots=True)
class Spent:
    """One step's share of the time."""

    label: str
    ms: float
    start: float
    share: float
    """Both in percent of the whole."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One passage that was found."""

    rank: int
    heading: str
    url: str
    score: float | None
    scores: list[float | None]
    why: str
    kept: bool
    cited: bool
    text: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim and what became of it."""

    text: str
    support: float | None
    kept: bool
    why: str
    citations: list[int]
    ranks: list[int]
    """Places of its passages among the candidates."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """One call of the model."""

    step: str
    system: str
    user: str
    reply: str
    error: str
    note: str


@dataclass(frozen=True, slots=True)
class TraceView:
    """Everything that `_trace.html` writes down."""

    came: str
    """How the answer came about where nothing was searched for it; else empty."""
    query: str
    facts: list[tuple[str, str]]
    floor: tuple[float, float] | None
    columns: list[str]
    candidates: list[Candidate]
    nodes: list[tuple[str, list[tuple[str, str]], float | None]]
    claims: list[ClaimRow]
    support: float | None
    prompts: list[Prompted]
    incidents: list[str]
    spent: list[Spent]
    total_ms: float
    usage: Mapping[str, float]
    json: str
    judged: bool = False
    """Whether it is known what the grader kept."""


def rows_in(value: object) -> list[Mapping[str, object]]:
    """The mappings of a list; [] for anything else."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def mapping_in(value: object) -> Mapping[str, object]:
    """The mapping; {} for anything else."""
    return value if isinstance(value, Mapping) else {}


def text_of(value: object) -> str:
    """The value as text; empty for None."""
    return "" if value is None else str(value)


def number_of(value: object) -> float | None:
    """The number; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
