"""The parts that one site's answers are made by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from server.answering.verification import Verifier
from server.domain.answer import Answer
from server.domain.chunk import ScoredChunk
from server.domain.protocols import (
    Clarifier,
    Grader,
    Guard,
    Incidents,
    Reader,
    Retriever,
    Reviewer,
    Rewriter,
    Shortcut,
    Writer,
)
from server.domain.question import Question
from server.domain.spending import DailyLimit


@dataclass(frozen=True, slots=True)
class Steps:
    """Every flow is made of the same parts."""

    guards: Sequence[Guard]
    rewriter: Rewriter
    strategy: Retriever
    grader: Grader
    writers: Sequence[Writer]
    """In order of preference; the last one never fails."""
    page_text: Callable[[str], str]
    """What is indexed of a page, by the address that visitors open."""
    incidents: Incidents
    retrieve_limit: int = 10
    site_text: Callable[[str], str | None] = lambda url: None
    """What the website says on a page of which an operator corrected what is indexed; None for any other."""
    address: Callable[[str], str] = str
    """Where a visitor opens a page, by its stored address."""
    shortcuts: Sequence[Shortcut] = ()
    """Asked in turn before anything is retrieved."""
    fallbacks: Sequence[Shortcut] = ()
    """Asked in turn where the site would be said not to answer."""
    reader: Reader | None = None
    verifier: Callable[[Sequence[ScoredChunk], str], Verifier] = Verifier
    """Made anew for each answer, from the chunks that were read and the answer's language."""
    clarifiers: Sequence[Clarifier] = ()
    reviewers: Sequence[Reviewer] = ()
    remember: Callable[[Question, Answer], None] = lambda question, answer: None
    """Told every answer that was made anew and is not a refusal."""
    forget: Callable[[Question], None] = lambda question: None
    """Takes back what `remember` was told."""
    reading: Callable[[], AbstractContextManager[None]] = nullcontext
    """Around one question: the words of the site are seen in one state, see WordSearch.reading."""
    daily_limit: DailyLimit = field(default_factory=DailyLimit)
    """What models may take for the site in a day; then the last writer answers."""
