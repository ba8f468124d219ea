"""What passes between the messages and the gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from server.domain.gap import Why


@dataclass(frozen=True, slots=True)
class Badly:
    """A question that was not answered, or not well."""

    number: int
    message_id: str
    site_id: str
    visitor_id: str
    question: str
    query: str
    language: str
    at: datetime
    why: Why
    is_first: bool
    """Whether nothing was said before it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A question on its way into a gap."""

    badly: Badly
    text: str
    """As it is compared: stands alone."""
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A gap as it is compared with further questions."""

    id: str
    question: str
    language: str
    is_touched: bool
    """Whether an operator said something of it."""
    total: bytes | None
    embedded: int
    size: int
    samples: tuple[tuple[str, str, bytes | None], ...]
    """(question, language, vector)."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What was not looked at yet."""

    badly: Sequence[Badly]
    more: bool
    """Whether further ones wait."""
    marks: dict[str, str]
    """How far the messages are looked at when these are stored."""
