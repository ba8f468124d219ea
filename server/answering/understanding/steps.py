"""Turns a question into a query by a list of steps, applied in order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from server.answering.trace import Trace
from server.domain.question import Query, Question
from server.indexes.spelling import SiteSpeller
from server.languages.loader import compiled, languages


@dataclass(frozen=True, slots=True)
class PageWords:
    """The page that a question refers to, and the words it adds to the query."""

    url: str
    """Stored address; empty for a page that is not indexed."""
    language: str
    """Empty for a page that is not indexed."""
    title: str
    """First words of the page's own title."""
    asked: str
    """The question without the words that refer to the page; may be empty."""
    marked: str
    """First words of the text that the visitor selected."""
    is_named: bool
    """Whether the question names the page itself ("this page")."""

    @property
    def added(self) -> str:
        """The words that are searched with the question."""
        return self.marked or self.title


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question and its query between two steps."""

    question: Question
    """The question for the next step. Earlier steps may have corrected or shortened its text."""
    query: Query
    page: PageWords | None = None


class UnderstandingStep(Protocol):
    """One step from a question to its query."""

    @property
    def name(self) -> str:
        """The name in the trace."""

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the next state, or `so_far` itself when the step changes nothing."""


def understand(question: Question, steps: Sequence[UnderstandingStep], trace: Trace) -> Query:
    """Apply the steps and return the query to search for."""
    so_far = Understanding(question, Query(question.text, question.language))
    for step in steps:
        trace.add_to("steps", step.name)
        so_far = step.apply(so_far)
    return so_far.query


class SpellingStep:
    """Replace misspelt words by words that the site uses.

    Everything later uses the corrected words: vectors, word index, grader and quotations.
    """

    name = "spelling"

    def __init__(self, speller: SiteSpeller) -> None:
        self._speller = speller

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the corrected question and query. Raises StorageError."""
        question = so_far.question
        corrected = self._speller.correct(question.text, question.language)
        if corrected == question.text:
            return so_far
        query = replace(so_far.query, text=corrected, typed=question.text)
        return replace(so_far, question=replace(question, text=corrected), query=query)


class AnnouncedStep:
    """Search for the "next" fair as sites announce it, as "upcoming": "next" is in too many texts to be
    searched for, and posts of earlier years say it of what is over."""

    name = "upcoming"

    def apply(self, so_far: Understanding) -> Understanding:
        """Return the state with the announced word in the query."""
        query = so_far.query
        dates = languages()[query.language].dates if query.language in languages() else None
        if dates is None or not dates.as_announced:
            return so_far
        announced = _next_one(query.language).sub(dates.as_announced, query.text)
        return so_far if announced == query.text else replace(so_far, query=replace(query, text=announced))


@cache
def _next_one(language: str) -> re.Pattern[str]:
    return compiled(rf"\b(?:{languages()[language].dates.next_one})")
