"""Questions with typing errors, searched as they were meant."""

from __future__ import annotations

from dataclasses import replace

from server.domain.protocols import Rewriter, Speller
from server.domain.question import Query, Question


class SpellingRewriter:
    """Implements Rewriter around another one, which then sees the words that the site knows.

    All that follows reads the query: vectors, words, the grader's coverage and the quotations.
    """

    def __init__(self, rewriter: Rewriter, speller: Speller) -> None:
        self._rewriter = rewriter
        self._speller = speller

    def rewrite(self, question: Question) -> Query:
        """Raises what the speller raises: StorageError."""
        corrected = self._speller.correct(question.text, question.language)
        query = self._rewriter.rewrite(replace(question, text=corrected))
        return query if corrected == question.text else replace(query, typed=question.text)
