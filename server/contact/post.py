"""What the outbox sends: messages of visitors to people, and events to other systems."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from server.domain.contact import Delivery
from server.storage.deliveries import Deliveries

Way = TypeVar("Way", bound=str)


class Gone(Exception):
    """What was to be sent was erased meanwhile."""


class Letter(Protocol):
    """One thing that is to be sent, packed."""

    @property
    def name(self) -> str:
        """How the log calls it."""

    @property
    def target(self) -> str:
        """Where it goes, as the delivery log shows it; empty when there is nowhere."""

    def send(self) -> str:
        """Sends it; returns what to note. Raises NotDelivered."""

    def gave_up(self, says: str, tries: int) -> None:
        """Every try was in vain."""


class Post(Protocol[Way]):
    """Things of one sort that are sent."""

    @property
    def deliveries(self) -> Deliveries[Way]:
        """Which tries are due."""

    def pack(self, delivery: Delivery[Way]) -> Letter:
        """What a delivery sends. Raises Gone."""

    def forget(self, before: datetime) -> int:
        """Deletes what was settled before that moment; returns how much."""
