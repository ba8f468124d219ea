"""What is sent: a visitor's message with the conversation before it."""

from __future__ import annotations

from dataclasses import dataclass

from server.domain.contact import ContactRequest
from server.domain.conversation import Conversation, Message
from server.domain.site import Site

LAST = 50
"""Of a long conversation only so many questions travel; the dashboard shows all."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request, with what surrounds it."""

    site: Site
    request: ContactRequest
    messages: tuple[Message, ...]
    """Of the conversation, oldest first, up to the moment of the request."""
    left_out: int
    """How many earlier ones are not in it."""
    page: str
    """Where the dashboard shows the request."""

    @property
    def title(self) -> str:
        """What the site calls itself, on one line."""
        return " ".join((self.site.title or self.site.name).split())


def pack(site: Site, request: ContactRequest, conversation: Conversation | None, base_url: str) -> Parcel:
    """Puts together what is sent. `conversation` is that of the request, if it has one."""
    said = [one for one in conversation.messages if one.asked_at <= request.at] if conversation else []
    page = f"{base_url}/admin/messages/{request.id}"
    return Parcel(site, request, tuple(said[-LAST:]), max(0, len(said) - LAST), page)
