"""What a run would take of models, before anything of it is paid."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from server.models.metered import read_prices
from server.services.evaluating import Evaluating

if TYPE_CHECKING:
    from server.services.container import Services

CALLS_AN_ANSWER = {"direct": 2, "self-rag": 6, "corrective": 4}
"""Calls that a flow makes for a question at most, in the order of size; others count as OTHER."""
OTHER = 4
REPLY = 400
"""Tokens of a reply, about."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Costs:
    """Calls by what they are for, and money in the currency of MODEL_PRICES (0 where no price is set)."""

    building: int
    answering: int
    judging: int
    cost: float

    @property
    def calls(self) -> int:
        return self.building + self.answering + self.judging

    def to_json(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return {**asdict(self), "calls": self.calls}


def costs_of(services: Services, evaluating: Evaluating) -> Costs:
    """At most so much, if nothing of it were kept from before."""
    plans = evaluating.plan().values()
    model, order = services.chat_model, evaluating.order
    answering = 0
    if model is not None and order.writes:
        answering = len(evaluating.cases) * sum(
            CALLS_AN_ANSWER.get(way.site.flow, OTHER) for way in evaluating.ways
        )
    judging = evaluating.judge_calls()
    settings = services.settings
    sent, received = read_prices(settings.model_prices).get(settings.chat_model_name, (0.0, 0.0))
    each = (settings.context_tokens * sent + REPLY * received) / MILLION
    cost = sum(plan.cost for plan in plans) + (answering + judging) * each
    return Costs(sum(plan.calls for plan in plans), answering, judging, round(cost, 4))
