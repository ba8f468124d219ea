"""What a flow that looks at its own work asks on the way.

Each of these exists with a model and without one. Those with a model fall back on the other when it
fails: no grade costs a visitor the answer, so none of these raises ModelError.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from server.domain.answer import Answer
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question


@dataclass(frozen=True, slots=True)
class Grade:
    """What a grader says of a draft."""

    passed: bool
    score: float
    """In [0, 1]: which of two drafts is the better one."""
    reasons: tuple[str, ...] = ()
    """Of a groundedness grader: the claims that the pages do not support."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer that is not given yet."""

    answer: Answer
    read: tuple[ScoredChunk, ...]
    """What its writer was given."""
    removed: tuple[str, ...] = ()
    """Claims of the writer that verification took out already."""


class GroundednessGrader(Protocol):
    """Does everything in the draft stand in what was read?"""

    def grade(self, question: Question, draft: Draft) -> Grade: ...


class UsefulnessGrader(Protocol):
    """Does the draft answer what the visitor asked, whatever was searched for it?"""

    def grade(self, question: Question, query: Query, draft: Draft) -> Grade: ...


class QueryTransformer(Protocol):
    """Another wording, when the last one found nothing of use."""

    def transform(
        self, question: Question, tried: Sequence[Query], found: Sequence[ScoredChunk]
    ) -> Query | None:
        """A query unlike all that were tried, oldest first; None when there is nothing left to try."""
