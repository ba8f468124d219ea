"""How a visitor of a site reaches a person, and what he wrote to one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UTC = ZoneInfo("UTC")
EXAMPLE = "write hours such as “Mo-Fr 09:00-17:00, Sa 10:00-13:00”"
DAY_MINUTES = 24 * 60
_DASH = re.compile(r"\s*[-\u2013\u2014]\s*")
_HOURS = re.compile(r"(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)")

Span = tuple[int, int]
"""First and last minute of a day; the last one is not part of it."""


@dataclass(frozen=True, slots=True)
class BusinessHours:
    """Spans of each day of the week, Monday first, in the wall-clock time of `zone`."""

    days: tuple[tuple[Span, ...], ...] = ()
    """Seven; none at all when it is always open."""
    zone: ZoneInfo = _UTC

    @classmethod
    def parse(cls, text: str, timezone: str = "") -> BusinessHours:
        """Reads "Mo-Fr 09:00-17:00, Sa 10:00-13:00"; no text means always open, no time zone UTC.

        Raises ValueError with a message that says what to write.
        """
        return cls(_days(text), _zone(timezone))

    def is_open(self, now: datetime) -> bool:
        """`now` needs a time zone, whichever."""
        if not self.days:
            return True
        local = now.astimezone(self.zone)
        minute = local.hour * 60 + local.minute
        return any(start <= minute < end for start, end in self.days[local.weekday()])

    def next_opening(self, now: datetime) -> datetime | None:
        """When it opens next, in the time zone of the site; None while it is open."""
        if self.is_open(now):
            return None
        today = now.astimezone(self.zone).date()
        # Eight days, for today's hours of next week; one more for an hour that a clock change swallows.
        for day in (today + timedelta(days=number) for number in range(9)):
            for start, _ in self.days[day.weekday()]:
                local = datetime.combine(day, time(*divmod(start, 60)), self.zone)
                moment = local.astimezone(UTC)
                if moment > now and self.is_open(moment):
                    return moment.astimezone(self.zone)
        return None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name.strip() or "UTC")
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"there is no time zone {name.strip()!r}: write one such as Europe/Berlin or America/New_York"
        ) from None


def _days(text: str) -> tuple[tuple[Span, ...], ...]:
    """Hours belong to all the days that were named just before them."""
    words = re.split(r"[\s,;]+", _DASH.sub("-", text.strip()))
    if words == [""]:
        return ()
    spans: list[list[Span]] = [[] for _ in DAYS]
    named: set[int] = set()
    has_hours = True
    for word in filter(None, words):
        if not word[0].isdigit():
            named = _named(word) | (set() if has_hours else named)
            has_hours = False
            continue
        for day in named:
            spans[day].append(_span(word))
        if not named:
            raise ValueError(f"{word} comes before any day: {EXAMPLE}")
        has_hours = True
    if not named or not has_hours:
        raise ValueError(f"the last days have no hours: {EXAMPLE}")
    return tuple(tuple(_apart(day)) for day in spans)


def _named(word: str) -> set[int]:
    """The days of "Mo", "Mo-Fr" or "Sa-Mo"."""
    first, dash, last = word.partition("-")
    start = _day(first)
    length = (_day(last) - start) % 7 if dash else 0
    return {(start + number) % 7 for number in range(length + 1)}


def _day(word: str) -> int:
    name = word.rstrip(".").lower()
    for number, day in enumerate(DAYS):
        if len(name) > 1 and day.startswith(name):
            return number
    raise ValueError(f"{word!r} is no day (Mo, Tu, We, Th, Fr, Sa, Su): {EXAMPLE}")


def _span(word: str) -> Span:
    found = _HOURS.fullmatch(word)
    if not found:
        raise ValueError(f"{word!r} is no span of time such as 09:00-17:00: {EXAMPLE}")
    numbers = [int(number) for number in found.groups()]
    start, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
    if max(numbers[1], numbers[3]) > 59 or max(start, end) > DAY_MINUTES:
        raise ValueError(f"{word} has a time that no clock shows: the day goes from 00:00 to 24:00")
    if start >= end:
        raise ValueError(
            f"{word} ends before it begins: for hours over midnight write two spans, "
            "such as “Fr 22:00-24:00, Sa 00:00-06:00”"
        )
    return start, end


def _apart(spans: list[Span]) -> list[Span]:
    ordered = sorted(spans)
    for before, after in pairwise(ordered):
        if after[0] < before[1]:
            raise ValueError(f"hours of the same day overlap: {EXAMPLE}")
    return ordered


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
    """What the webhook's signature is made with, as earlier versions stored it. It is now sealed, in
    `Site.contact_secret`."""
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
        """Return those of a site, from its `options`; what is no text, or is not known, counts as empty."""
        value = options.get(OPTION)
        given = value if isinstance(value, Mapping) else {}
        texts = {field.name: given.get(field.name) for field in fields(cls)}
        return cls(**{name: text.strip() for name, text in texts.items() if isinstance(text, str)})

    def to_json(self) -> dict[str, str]:
        """Only what is not empty."""
        return {name: text for name, text in asdict(self).items() if text}


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one message, sent by e-mail to the address that its visitor left."""

    id: str
    request_id: str
    at: datetime
    operator: str
    """Who wrote it; the visitor is not told."""
    text: str
