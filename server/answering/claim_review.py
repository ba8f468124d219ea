"""A model's second look at a model's answer: each claim it finds unsupported is taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from server.domain.answer import Answer, Outcome
from server.domain.chunk import ScoredChunk
from server.domain.question import Question
from server.domain.reflection import Draft, GroundednessGrader

EMBEDDED = "embedded"
_ENDS = ".!?。！？"
_MARKERS = r"(?:\s*\[\d{1,3}\])*"


class ClaimReviewer:
    """Implements Reviewer, after verification; quotations are the pages' own words and not graded."""

    def __init__(self, grader: GroundednessGrader) -> None:
        self._grader = grader

    def review(self, question: Question, answer: Answer, chunks: Sequence[ScoredChunk]) -> Answer | None:
        """None when no cited claim is left."""
        if answer.outcome is not Outcome.ANSWERED or answer.model == EMBEDDED:
            return answer
        grade = self._grader.grade(question, Draft(answer, tuple(chunks)))
        if grade.passed:
            return answer
        text = answer.text
        for claim in grade.reasons:
            text = _without(text, claim)
        cited = tuple(citation for citation in answer.citations if f"[{citation.number}]" in text)
        removed = {"removed_by_grading": list(grade.reasons)}
        return (
            replace(answer, text=text, citations=cited, trace={**answer.trace, **removed}) if cited else None
        )


def _without(text: str, claim: str) -> str:
    """The text without the claim, its markers and a list marker that it leaves behind."""
    bare = re.sub(rf"{_MARKERS}[{_ENDS}]?\s*$", "", claim.strip())
    words = re.sub(_MARKERS, "", bare).rstrip(_ENDS).split()
    if not words:
        return text
    said = (_MARKERS + r"\s+").join(map(re.escape, words))
    item = r"(?:^[ ]*(?:[-*]|\d+\.)[ ]+)?"
    pattern = rf"{item}{said}[{_ENDS}]?{_MARKERS}[{_ENDS}]?[ ]*\n?"
    return re.sub(pattern, "", text, flags=re.M).strip()
