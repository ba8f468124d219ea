"""Additional parts of the flows that grade their own work."""

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
    """Keeps the relevant paragraphs of kept chunks, in their order."""
    confidence: Callable[[Query, Sequence[ScoredChunk]], float]
    """Returns how likely it is, in [0, 1], that these chunks answer."""
    nearness: Nearness = lambda query, chunks: list(chunks)
    """Scores chunks that another wording found against the question."""
    max_count: int = 3
    """Maximum number of retrievals for one question."""
    max_retries: int = 2
    """Maximum number of drafts for one question."""
