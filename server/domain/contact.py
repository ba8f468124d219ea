"""How a visitor of a site reaches a person, and what he wrote to one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Generic, TypeVar

from server.domain.business_hours import BusinessHours

OPTION = "contact"
"""The key of these settings in `Site.options`."""


Way = TypeVar("Way", bound=str)
"""Where something is sent."""


class Channel(StrEnum):
    """A way in which a message reaches people."""

    EMAIL = "email"
    WEBHOOK = "webhook"


class DeliveryState(StrEnum):
    """How far a message got on one way."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    """Every try was in vain; an operator may have it sent again."""


@dataclass(frozen=True, slots=True)
class ContactRequest:
    """What a visitor wrote to people."""

    id: str
    site_id: str
    reference: str
    """What the visitor is told, to come back to it."""
    visitor_id: str
    conversation_id: str | None
    at: datetime
    email: str
    message: str


@dataclass(frozen=True, slots=True)
class DeliveryTry:
    """One try to send a request."""

    at: datetime
    target: str
    """The address that it was sent to; empty when there was none."""
    arrived: bool
    says: str
    """What the other side answered, or what went wrong."""


@dataclass(frozen=True, slots=True)
class Delivery(Generic[Way]):
    """One way in which something is sent: a request of a visitor, or an event."""

    id: str
    request_id: str
    channel: Way
    state: DeliveryState
    tries: int
    """Since it was last asked for."""
    next_at: datetime
    """When it is tried next, while it waits."""
    log: tuple[DeliveryTry, ...] = ()
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class ContactOptions:
    """Where what visitors write is sent, and when somebody is there to read it. All may be empty."""

    email: str = ""
    """Address that gets it by e-mail."""
    webhook: str = ""
    """Address that gets it as a signed POST request."""
    secret: str = ""
    """What the webhook's signature is made with; never shown to visitors."""
    hours: str = ""
    """Such as "Mo-Fr 09:00-17:00, Sa 10:00-13:00"; always open when empty."""
    timezone: str = ""
    """IANA name, such as Europe/Berlin; UTC when empty."""
    link: str = ""
    """The site's own contact page."""

    @property
    def on(self) -> bool:
        """Whether visitors can leave a message: there is somewhere to send it."""
        return bool(self.channels)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Every way that is set."""
        return tuple(channel for channel in Channel if self.target(channel))

    def target(self, channel: Channel) -> str:
        """Where it leads; empty when it is not set."""
        return self.email if channel is Channel.EMAIL else self.webhook

    @property
    def page(self) -> str:
        """`link`, when it is a web address that can stand in a page."""
        return self.link if re.fullmatch(r"https?://[^\s<>\"]+", self.link) else ""

    @property
    def business_hours(self) -> BusinessHours:
        """Raises ValueError with a message that says what to write."""
        return BusinessHours.parse(self.hours, self.timezone)

    @classmethod
    def of(cls, options: Mapping[str, object]) -> ContactOptions:
        """Those of a site, from its `options`."""
        return cls.from_json(options.get(OPTION))

    @classmethod
    def from_json(cls, value: object) -> ContactOptions:
        """What is no text, or is not known, counts as empty."""
        given = value if isinstance(value, Mapping) else {}
        texts = {field.name: given.get(field.name) for field in fields(cls)}
        return cls(**{name: text.strip() for name, text in texts.items() if isinstance(text, str)})

    def to_json(self) -> dict[str, str]:
        """Only what is not empty."""
        return {name: text for name, text in asdict(self).items() if text}
