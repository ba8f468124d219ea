"""Asks the questions of a gap anew, and tells whether they are answered now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from server.answering.same_question import plain
from server.domain.answer import Answer, Outcome
from server.domain.gap import Gap, Solved, Why
from server.domain.question import Question

ASKED = 3
"""Wordings of a gap that are asked."""

Ask = Callable[[Question], Answer]


def wordings(gap: Gap, questions: Iterable[str], limit: int = ASKED) -> list[str]:
    """The question that stands for the gap, and a few that differ from it; the newest come first."""
    different: dict[str, str] = {}
    for text in (gap.question, *questions):
        different.setdefault(plain(text), text)
    return list(different.values())[:limit]


def ask_again(
    gap: Gap, texts: Sequence[str], ask: Ask, disliked: frozenset[str], support: float, crawl: int = 0
) -> tuple[Outcome, Solved | None]:
    """How the first of `texts` ends now; and what answers, when it and at least half of the others are.

    `disliked` are quotes of answers that did not help: an answer that has no others is no new one. An answer
    of less support than `support` is none.
    """
    first, *others = texts
    answer = ask(Question(first, gap.site_id, (), gap.language))
    if not is_answered(answer, gap, disliked, support):
        return answer.outcome, None
    ended = [ask(Question(text, gap.site_id, (), gap.language)) for text in others]
    if sum(is_answered(other, gap, disliked, support) for other in ended) * 2 < len(others):
        return Outcome.REFUSED, None
    return answer.outcome, solution(answer, crawl)


def is_answered(answer: Answer, gap: Gap, disliked: frozenset[str], support: float) -> bool:
    """Whether the answer closes the gap."""
    if answer.outcome is Outcome.CURATED:
        return True
    if answer.outcome is not Outcome.ANSWERED or not answer.citations:
        return False
    held = answer.trace.get("support")
    if isinstance(held, int | float) and held < support:
        return False
    if Why.THUMBS_DOWN in gap.why:
        return not {citation.quote for citation in answer.citations} <= disliked
    return True


def solution(answer: Answer, crawl: int = 0) -> Solved:
    """What answers."""
    curated = answer.trace.get("curated")
    if answer.outcome is Outcome.CURATED and isinstance(curated, dict):
        return Solved(curated=int(curated["id"]), crawl=crawl)
    cited = answer.citations[0]
    return Solved(cited.url, cited.title, cited.quote, cited.link, crawl)
