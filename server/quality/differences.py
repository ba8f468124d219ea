"""What differs between two variants that answered the same questions, question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from server.evaluation.comparing import LOWER_IS_BETTER, MAIN, TIMES, Comparison, compare

METRICS = ("mrr@10", "hit@5", "ndcg@10", "citation_correct", "refused_answerable", "refused_unanswerable",
           "answer_ms", "search_ms")  # fmt: skip
SAME_MS = 0.25
"""Share by which a time may differ and count as equal: the same question takes a little longer or shorter
each time."""
BETTER, WORSE, EQUAL = "better", "worse", "equal"

Values = tuple[tuple[str, tuple[tuple[str, float], ...]], ...]


@dataclass(frozen=True, slots=True)
class QuestionDifference:
    """One question in both variants, by one metric."""

    id: str
    question: str
    type: str
    before: float | None
    after: float | None
    gain: float
    """After less before, turned so that more is better."""
    verdict: str


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two variants."""

    rows: tuple[QuestionDifference, ...]
    """The largest loss first; only questions that both were judged by."""
    comparisons: tuple[Comparison, ...]
    """Every metric, with the interval of its mean difference."""
    only_one: int
    """Questions that only one of them was asked."""

    def count(self, verdict: str) -> int:
        """How many questions came out so."""
        return sum(row.verdict == verdict for row in self.rows)


def differences(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], metric: str
) -> Differences:
    """`before` and `after` are rows of reports, of one variant each."""
    known = {row["id"]: row for row in before}
    found = []
    for row in after:
        one = known.get(row["id"])
        made = _difference(one, row, metric) if one else None
        if made is not None:
            found.append(made)
    found.sort(key=lambda one: (one.gain, one.id))
    asked = {row["id"] for row in after}
    comparisons = _compared(_values(before), _values(after))
    return Differences(tuple(found), comparisons, len(asked ^ known.keys()))


def value_of(row: Mapping[str, Any], metric: str) -> float | None:
    """A figure of a row; None where the question is not judged by it."""
    value = row[metric] if metric in TIMES else row["verdicts"].get(metric)
    return None if value is None else float(value)


def _difference(
    before: Mapping[str, Any], after: Mapping[str, Any], metric: str
) -> QuestionDifference | None:
    was, now = value_of(before, metric), value_of(after, metric)
    if was is None or now is None:
        if was == now or metric != "citation_correct":
            return None
        # An answer that became a refusal cites nothing: that is as bad as a wrong citation, and no less.
        was, now = was or 0.0, now or 0.0
    gain = was - now if metric in LOWER_IS_BETTER else now - was
    equal = abs(gain) <= SAME_MS * max(was, now) if metric in TIMES else gain == 0
    verdict = EQUAL if equal else BETTER if gain > 0 else WORSE
    return QuestionDifference(after["id"], after["question"], after["type"], was, now, gain, verdict)


def _values(rows: Sequence[Mapping[str, Any]]) -> Values:
    found = []
    for name in MAIN:
        known = ((row["id"], value_of(row, name)) for row in rows)
        if values := tuple((id, value) for id, value in known if value is not None):
            found.append((name, values))
    return tuple(found)


@lru_cache(maxsize=32)
def _compared(before: Values, after: Values) -> tuple[Comparison, ...]:
    """Resampling thousands of questions takes a while, and a reader turns many pages of one comparison."""
    variants = {"before": _opened(before), "after": _opened(after)}
    return tuple(compare(variants)) if before and after else ()


def _opened(values: Values) -> dict[str, dict[str, float]]:
    return {name: dict(of) for name, of in values}
