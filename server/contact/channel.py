"""What the outbox sends: messages of visitors to people, and events to other systems."""

from collections.abc import Callable
from dataclasses import dataclass

from server.domain.answer import Conversation, Message
from server.domain.contact import ContactRequest
from server.domain.site import Site


class Gone(Exception):
    """What was to be sent was erased meanwhile."""


class NotDelivered(Exception):
    """A try was in vain. The message is one line for the operator and says why."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One thing that is to be sent."""

    name: str
    """How the log calls it, without what was written."""
    target: str
    """Where it goes, as the delivery log shows it: of a webhook the host only. Empty: nowhere."""
    send: Callable[[], str]
    """Sends it; returns what to note. Raises NotDelivered."""
    gave_up: Callable[[str, int], None]
    """Told why and after how many tries, once every try was in vain."""


LAST = 50
"""The most questions of a conversation that are sent along; the dashboard shows all."""


@dataclass(frozen=True, slots=True)
class ContactMessage:
    """One request, with what surrounds it."""

    site: Site
    request: ContactRequest
    messages: tuple[Message, ...]
    """Questions of the conversation, oldest first, up to the moment of the request."""
    left_out: int
    """How many earlier ones are not in it."""
    page: str
    """Where the dashboard shows the request."""

    @property
    def title(self) -> str:
        """What the site calls itself, on one line."""
        return " ".join((self.site.title or self.site.name).split())


def pack(
    site: Site, request: ContactRequest, conversation: Conversation | None, base_url: str
) -> ContactMessage:
    """Put together what is sent. `conversation` is that of the request, if it has one."""
    said = [one for one in conversation.messages if one.asked_at <= request.at] if conversation else []
    page = f"{base_url}/admin/messages/{request.id}"
    return ContactMessage(site, request, tuple(said[-LAST:]), max(0, len(said) - LAST), page)
