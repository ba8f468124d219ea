"""Messages of visitors to people, as the outbox sends them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from server.contact.channel import ContactMessage, Gone, NotDelivered, pack
from server.contact.mail import MailServer, letter
from server.contact.webhook import Webhooks, body_of, headers_of
from server.domain.contact import Channel, ContactOptions, Delivery
from server.domain.protocols import Incidents
from server.settings import Settings
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore
from server.storage.delivery.deliveries import message_deliveries
from server.storage.errors import UnknownContactRequest, UnknownConversation
from server.storage.sites.sites import SiteStore

KIND = "contact_failed"


class VisitorChannel:
    """Implements Post."""

    def __init__(
        self, database: Database, incidents: Incidents, settings: Callable[[], Settings], webhooks: Webhooks
    ) -> None:
        self.deliveries = message_deliveries(database)
        self._requests = ContactStore(database)
        self._conversations = ConversationStore(database)
        self._sites = SiteStore(database)
        self._incidents = incidents
        self._settings = settings
        self._webhooks = webhooks

    def pack(self, delivery: Delivery[Channel]) -> VisitorMessage:
        """The message with the conversation before it. Raises Gone."""
        try:
            parcel = self._parcel(delivery)
        except UnknownContactRequest as error:
            raise Gone(str(error)) from None
        return VisitorMessage(
            parcel, delivery.channel, ContactOptions.of(parcel.site.options), self._settings(),
            self._webhooks, self._incidents,
        )  # fmt: skip

    def forget(self, before: datetime) -> int:
        """Deletes messages that arrived on every way."""
        return self._requests.forget_sent(before)

    def _parcel(self, delivery: Delivery[Channel]) -> ContactMessage:
        request = self._requests.get(delivery.request_id)
        site = self._sites.find(request.site_id)
        if site is None:
            raise UnknownContactRequest(f"the site of message {request.reference} is gone")
        conversation = None
        if request.conversation_id:
            try:
                conversation = self._conversations.get(request.conversation_id)
            except UnknownConversation:
                raise UnknownContactRequest(f"message {request.reference} was erased") from None
        return pack(site, request, conversation, self._settings().serving.base_url)


@dataclass(frozen=True, slots=True)
class VisitorMessage:
    """One message on one way."""

    parcel: ContactMessage
    channel: Channel
    options: ContactOptions
    settings: Settings
    webhooks: Webhooks
    incidents: Incidents

    @property
    def name(self) -> str:
        """Without what the visitor wrote."""
        return f"message {self.parcel.request.reference} by {self.channel.value}"

    @property
    def target(self) -> str:
        return self.options.target(self.channel)

    def send(self) -> str:
        """Raises NotDelivered."""
        if not self.target:
            raise NotDelivered(f"the site has no {self.channel.value} for messages any more")
        if self.channel is Channel.WEBHOOK:
            body = body_of(self.parcel)
            headers = headers_of(body, self.options.secret, self.parcel.request.id)
            private = self.parcel.site.allow_private or self.settings.crawling.allow_private
            return self.webhooks.send(self.target, body, headers, allow_private=private)
        if not self.settings.contact.smtp_url:
            raise NotDelivered("no mail server is known: set SMTP_URL and MAIL_FROM under Settings")
        mail = letter(self.parcel, self.settings.contact.mail_from, self.target)
        return MailServer(self.settings.contact.smtp_url, self.settings.contact.timeout_s).send(mail)

    def gave_up(self, says: str, tries: int) -> None:
        """An incident, without what the visitor wrote."""
        message = f"a visitor's message did not arrive by {self.channel.value}: {says}"
        details = {"reference": self.parcel.request.reference, "page": self.parcel.page, "tries": tries}
        self.incidents.record(self.parcel.site.id, KIND, message, details)
