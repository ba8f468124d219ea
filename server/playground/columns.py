"""What a run came to, side by side, and where its variants differ."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from server.domain.answer import Answer, Outcome
from server.playground.order import Variant
from server.playground.store import ASKING, DONE, FAILED, KeptRun, KeptVariant

LOST_AFTER_S = 30.0
"""A variant that has not ended this long after its time limit is lost: the server was restarted."""

_ANSWER = TypeAdapter(Answer)
Pages = tuple[tuple[str, str], ...]
"""(address, title)"""


@dataclass(frozen=True, slots=True)
class Column:
    """One variant of a run."""

    number: int
    """From 1."""
    variant: Variant
    state: str
    answer: Answer
    """Empty but for its trace where there is none."""
    problem: str = ""
    plan: Mapping[str, Any] | None = None
    """What building the missing index would take."""
    incidents: tuple[str, ...] = ()
    took_ms: float = 0.0
    """Opening the variant and answering; `answer.timings_ms` is what a visitor would have waited."""
    tokens: int = 0
    cost: float = 0.0
    same_as: int = 0
    """Number of the first variant with the same answer; 0 for the first one itself."""
    only_cited: Pages = ()
    only_found: Pages = ()
    """Pages that no other variant of the run cited, and that no other found."""

    @property
    def is_done(self) -> bool:
        return self.state == DONE

    @property
    def answer_ms(self) -> float:
        """What a visitor would have waited."""
        return sum(self.answer.timings_ms.values())

    @property
    def support(self) -> float | None:
        """The lowest support among the claims that were given."""
        value = self.answer.trace.get("support")
        return float(value) if isinstance(value, int | float) else None


def columns_of(run: KeptRun, variants: Sequence[Variant], seconds: float, now: datetime) -> list[Column]:
    """The results of a run in the order of `variants`, which were asked for; each may take `seconds`."""
    late = now - run.asked_at > timedelta(seconds=seconds + LOST_AFTER_S)
    known = {variant.number: variant for variant in run.variants}
    made = [
        _column(number, variant, known.get(number, KeptVariant(number, ASKING, {})), late=late)
        for number, variant in enumerate(variants)
    ]
    return _compared(made)


def variants_of(run: KeptRun) -> list[Variant]:
    """As they were asked for."""
    variants = run.asked.get("ways", [])
    return [Variant(*(str(one.get(name, "")) for name in ("strategy", "flow", "writer"))) for one in variants]


def _column(number: int, variant: Variant, kept: KeptVariant, *, late: bool) -> Column:
    result = kept.result
    if kept.state == ASKING and late:
        lost = "it was not finished: the server was restarted while it was being asked"
        return Column(number + 1, variant, FAILED, _nothing({}), lost)
    used = result.get("used") or {}
    column = Column(
        number=number + 1,
        variant=variant,
        state=kept.state,
        answer=_ANSWER.validate_python(result["answer"]) if "answer" in result else _nothing(result),
        problem=str(result.get("problem", "")),
        plan=result.get("plan"),
        took_ms=float(result.get("took_ms", 0.0)),
        tokens=int(used.get("tokens_in", 0)) + int(used.get("tokens_out", 0)),
        cost=float(used.get("cost", 0.0)),
    )
    known = {str(one.get("message")) for one in column.answer.trace.get("incidents") or []}  # type: ignore[attr-defined]
    further = [str(one) for one in result.get("incidents", []) if str(one) not in known]
    return replace(column, incidents=tuple(further))


def _nothing(result: Mapping[str, Any]) -> Answer:
    trace: dict[str, object] = {"prompts": result["prompts"]} if result.get("prompts") else {}
    return Answer(Outcome.REFUSED, "", trace=trace)


def _compared(columns: Sequence[Column]) -> list[Column]:
    first: dict[tuple[str, str], int] = {}
    compared = []
    done = [column for column in columns if column.is_done]
    for column in columns:
        if not column.is_done:
            compared.append(column)
            continue
        words = re.findall(r"\w+", re.sub(r"\[\d{1,3}\]", "", column.answer.text).casefold())
        same = first.setdefault((column.answer.outcome.value, " ".join(words)), column.number)
        others = [other for other in done if other is not column]
        compared.append(
            replace(
                column,
                same_as=same if same != column.number else 0,
                only_cited=_only(_cited(column), map(_cited, others)) if others else (),
                only_found=_only(_found(column), map(_found, others)) if others else (),
            )
        )
    return compared


def _cited(column: Column) -> dict[str, str]:
    return {one.url: one.title for one in column.answer.citations}


def _found(column: Column) -> dict[str, str]:
    rows = column.answer.trace.get("candidates")
    found = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return {str(row.get("url", "")): str(row.get("heading", "")).split(" › ")[0] for row in found}


def _only(own: Mapping[str, str], others: Any) -> Pages:
    elsewhere = {url for other in others for url in other}
    return tuple((url, title) for url, title in own.items() if url and url not in elsewhere)
