"""The three sorts of messages that the outbox sends: visitors' messages, replies to them, and events."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from typing import Generic

from server.contact.channel import ContactMessage, Gone, NotDelivered, OutgoingMessage, pack
from server.contact.mail import MailServer, letter, reply_mail
from server.contact.webhook import body_of, event_body, headers_of, post
from server.domain.addresses import without_user
from server.domain.contact import Channel, ContactOptions, ContactRequest, Delivery, Way
from server.domain.protocols import Incidents
from server.domain.site import Site
from server.guards.network import for_mail, for_webhooks
from server.settings import Settings
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore, ReplyStore, reply_deliveries
from server.storage.delivery.deliveries import Deliveries, message_deliveries
from server.storage.delivery.events import EventStore, WebhookStore, event_deliveries
from server.storage.errors import UnknownConversation, UnknownRecord
from server.storage.sealed import Seal
from server.storage.sites.secrets import contact_secret
from server.storage.sites.sites import SiteStore

CONTACT_FAILED, REPLY_FAILED, WEBHOOK_FAILED = "contact_failed", "reply_failed", "webhook_failed"
"""Kinds of incidents: one for each sort that did not arrive."""


def resting(settings: Settings) -> tuple[Channel, ...]:
    """Return the channels to people whose messages wait because there is nothing to send them by."""
    return () if settings.contact.smtp_url else (Channel.EMAIL,)


@dataclass(eq=False)
class DeliveryChannel(ABC, Generic[Way]):
    """Things of one sort that are sent."""

    _db: Database
    _incidents: Incidents
    _settings: Callable[[], Settings]
    _seal: Callable[[], Seal]
    deliveries: Deliveries[Way] = field(init=False)
    """Which tries are due."""

    @abstractmethod
    def __post_init__(self) -> None:
        """Open the stores, `deliveries` among them."""

    def resting(self) -> Collection[Way]:
        """Return channels with nothing to send by: their deliveries wait, and no attempt is counted."""
        return ()

    @abstractmethod
    def pack(self, delivery: Delivery[Way]) -> OutgoingMessage:
        """Return what a delivery sends. Raises Gone."""

    def forget(self, before: datetime) -> None:
        """Delete what was settled before that moment, unless it goes with something else."""


class _People(DeliveryChannel[Channel]):
    """What channels to and from visitors have in common."""

    def __post_init__(self) -> None:
        self._requests = ContactStore(self._db)
        self._sites = SiteStore(self._db)

    def resting(self) -> Collection[Channel]:
        """E-mail while no mail server is set."""
        return resting(self._settings())

    def _asked(self, request_id: str) -> tuple[ContactRequest, Site]:
        """The request and its site. Raises Gone."""
        try:
            request = self._requests.get(request_id)
        except UnknownRecord as error:
            raise Gone(str(error)) from None
        site = self._sites.find(request.site_id)
        if site is None:
            raise Gone(f"the site of message {request.reference} is gone")
        return request, site


class VisitorChannel(_People):
    """Messages of visitors to people."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.deliveries = message_deliveries(self._db)
        self._conversations = ConversationStore(self._db)

    def pack(self, delivery: Delivery[Channel]) -> OutgoingMessage:
        """The message with the conversation before it. Raises Gone."""
        parcel, way = self._parcel(delivery), delivery.channel
        settings, seal = self._settings(), self._seal()
        options = ContactOptions.of(parcel.site.options)
        target, request = options.target(way), parcel.request

        def send() -> str:
            """Raises NotDelivered, SealBroken."""
            if not target:
                raise NotDelivered(f"the site has no {way.value} for messages any more")
            if way is Channel.WEBHOOK:
                body = body_of(parcel)
                headers = headers_of(body, contact_secret(parcel.site, seal), request.id)
                return post(target, body, headers, for_webhooks(settings), settings.contact.timeout_s)
            return _mailed(settings, lambda sender: letter(parcel, sender, target))

        def gave_up(says: str, tries: int) -> None:
            message = f"a visitor's message did not arrive by {way.value}: {says}"
            details = {"reference": request.reference, "page": parcel.page, "tries": tries}
            self._incidents.record(parcel.site.id, CONTACT_FAILED, message, details)

        shown = _place(target) if way is Channel.WEBHOOK else target
        return OutgoingMessage(f"message {request.reference} by {way.value}", shown, send, gave_up)

    def forget(self, before: datetime) -> None:
        """Delete messages that arrived on every way."""
        self._requests.forget_sent(before)

    def _parcel(self, delivery: Delivery[Channel]) -> ContactMessage:
        request, site = self._asked(delivery.request_id)
        conversation = None
        if request.conversation_id:
            try:
                conversation = self._conversations.get(request.conversation_id)
            except UnknownConversation:
                raise Gone(f"message {request.reference} was erased") from None
        return pack(site, request, conversation, self._settings().serving.base_url)


class ReplyChannel(_People):
    """Replies of operators to visitors. They are deleted with the messages that they answer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.deliveries = reply_deliveries(self._db)
        self._replies = ReplyStore(self._db)

    def pack(self, delivery: Delivery[Channel]) -> OutgoingMessage:
        """The reply with what it answers. Raises Gone."""
        reply = self._replies.find(delivery.request_id)
        if reply is None:
            raise Gone(f"reply {delivery.request_id} was erased")
        request, site = self._asked(reply.request_id)
        settings = self._settings()

        def send() -> str:
            return _mailed(settings, lambda sender: reply_mail(site, request, reply, sender))

        def gave_up(says: str, tries: int) -> None:
            page = f"{settings.serving.base_url}/admin/messages/{request.id}"
            message = "a reply to a visitor did not arrive; the message's page says why"
            details = {"reference": request.reference, "page": page, "tries": tries}
            self._incidents.record(site.id, REPLY_FAILED, message, details)

        return OutgoingMessage(f"the reply to message {request.reference}", request.email, send, gave_up)


class EventChannel(DeliveryChannel[str]):
    """Events for other systems."""

    def __post_init__(self) -> None:
        self.deliveries = event_deliveries(self._db)
        self._events = EventStore(self._db)
        self._hooks = WebhookStore(self._db)

    def pack(self, delivery: Delivery[str]) -> OutgoingMessage:
        """One event for one webhook. Raises Gone."""
        event = self._events.among([delivery.request_id]).get(delivery.request_id)
        try:
            hook = self._hooks.get(delivery.channel)
        except UnknownRecord as error:
            raise Gone(str(error)) from None
        if event is None:
            raise Gone(f"the event {delivery.request_id} is forgotten")
        settings, seal = self._settings(), self._seal()

        def send() -> str:
            """Raises NotDelivered, SealBroken."""
            body = event_body(event, settings.serving.base_url)
            headers = headers_of(body, seal.open(hook.secret), event.id)
            return post(hook.url, body, headers, for_webhooks(settings), settings.contact.timeout_s)

        def gave_up(says: str, tries: int) -> None:
            message = f"the event {event.kind.value} did not reach a webhook: {says}"
            details = {"webhook": _place(hook.url), "tries": tries}
            self._incidents.record(event.site_id, WEBHOOK_FAILED, message, details)

        return OutgoingMessage(f"event {event.kind.value} {event.id}", _place(hook.url), send, gave_up)

    def forget(self, before: datetime) -> None:
        """Delete events, sent or not."""
        self._events.forget(before)


def _place(url: str) -> str:
    """Return a webhook's address up to its host. The path is the secret that opens it at many services."""
    found = re.match(r"\w+://[^/?#]*", without_user(url))
    return found[0] if found else ""


def _mailed(settings: Settings, write: Callable[[str], EmailMessage]) -> str:
    """Send what `write` makes for the sender's address; return what to note. Raises NotDelivered."""
    contact = settings.contact
    if not contact.smtp_url:  # it was removed a moment ago
        raise NotDelivered("no mail server is known: set SMTP_URL and MAIL_FROM under Settings")
    server = MailServer(contact.smtp_url, contact.timeout_s, for_mail(settings))
    return server.send(write(contact.mail_from))
