"""What an operator wrote back to a visitor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one message, sent by e-mail to the address that its visitor left."""

    id: str
    request_id: str
    at: datetime
    operator: str
    """Who wrote it; the visitor is not told."""
    text: str
