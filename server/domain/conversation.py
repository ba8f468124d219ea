"""What is kept of the talk between a visitor and a site."""

from dataclasses import dataclass
from datetime import datetime

from server.domain.answer import Answer


@dataclass(frozen=True, slots=True)
class Message:
    """A question with its answer, as stored for the operator."""

    id: str
    conversation_id: str
    site_id: str
    asked_at: datetime
    question: str
    query: str
    language: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Conversation:
    """All of one visitor's talk with a site until it is started again."""

    id: str
    site_id: str
    visitor_id: str
    started_at: datetime
    messages: tuple[Message, ...] = ()
    """Oldest first."""
