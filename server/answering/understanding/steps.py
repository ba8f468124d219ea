"""How a question becomes a query: a flat list of steps, walked in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from server.answering.trace import Trace
from server.domain.protocols import Speller
from server.domain.question import Query, Question


@dataclass(frozen=True, slots=True)
class PageWords:
    """The page that a question points at, and what it adds to the query."""

    url: str
    """Stored address; empty for a page that is not indexed."""
    language: str
    """Empty for a page that is not indexed."""
    title: str
    """First words of the page's own title."""
    asked: str
    """The question without the words that point at the page; may be empty."""
    marked: str
    """First words of the text that the visitor marked."""
    is_named: bool
    """The question names the page itself ("this page")."""

    @property
    def added(self) -> str:
        """The words that are searched with the question."""
        return self.marked or self.title


@dataclass(frozen=True, slots=True)
class Understanding:
    """What is known of a question so far."""

    question: Question
    """As the next step reads it: earlier steps may have corrected or shortened its text."""
    query: Query
    page: PageWords | None = None


class UnderstandingStep(Protocol):
    """One step from a question to its query."""

    @property
    def name(self) -> str:
        """Recorded in the trace."""

    def apply(self, so_far: Understanding) -> Understanding:
        """The next state; `so_far` itself where the step has nothing to add."""


def understand(question: Question, steps: Sequence[UnderstandingStep], trace: Trace) -> Query:
    """Walk the steps and return the query that the question is searched by."""
    so_far = Understanding(question, Query(question.text, question.language))
    for step in steps:
        trace.add_to("steps", step.name)
        so_far = step.apply(so_far)
    return so_far.query


class SpellingStep:
    """Replace misspelt words by words that the site uses.

    Everything after it reads the corrected words: vectors, word index, grader and quotations.
    """

    name = "spelling"

    def __init__(self, speller: Speller) -> None:
        self._speller = speller

    def apply(self, so_far: Understanding) -> Understanding:
        """Raises what the speller raises: StorageError."""
        question = so_far.question
        corrected = self._speller.correct(question.text, question.language)
        if corrected == question.text:
            return so_far
        query = replace(so_far.query, text=corrected, typed=question.text)
        return replace(so_far, question=replace(question, text=corrected), query=query)
