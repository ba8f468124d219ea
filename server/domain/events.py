"""Events that webhooks report to other systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """Each webhook chooses which of them it is sent."""

    GAP_OPENED = "gap.opened"
    """Visitors ask what the site does not answer."""
    CRAWL_FAILED = "crawl.failed"
    BUDGET_SPENT = "budget.spent"
    """Today's tokens or money are spent; answers are quoted until midnight (UTC)."""
    ANSWER_NEGATIVE = "answer.negative"
    """A visitor said that an answer did not help."""
    TEST = "test"
    """Sent by the operator to try a webhook; every webhook gets its own."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""

    id: str
    kind: EventKind
    site_id: str
    """Empty when it concerns no one site."""
    at: datetime
    data: Mapping[str, object]
