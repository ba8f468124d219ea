"""What flows that look at their own work are made of, beside the stages of every flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from server.answering.flows.graders import Nearness
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Grader
from server.domain.question import Query
from server.domain.reflection import GroundednessGrader, QueryTransformer, UsefulnessGrader


@dataclass(frozen=True, slots=True)
class Reflection:
    """Graders and limits."""

    documents: Grader
    groundedness: GroundednessGrader
    usefulness: UsefulnessGrader
    transformer: QueryTransformer
    strips: Grader
    """Keeps the paragraphs of kept chunks that bear on the question, in their order."""
    confidence: Callable[[Query, Sequence[ScoredChunk]], float]
    """How likely it is, in [0, 1], that these chunks answer."""
    nearness: Nearness = lambda query, chunks: list(chunks)
    """Sets chunks that were found by another wording in relation to the question."""
    max_count: int = 3
    """Retrievals for one question at most."""
    max_retries: int = 2
    """Drafts for one question at most."""
