"""Replies of operators to visitors, as the outbox sends them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr

from server.contact.channel import Gone, NotDelivered
from server.contact.mail import MailServer, address_of, one_line, printable
from server.domain.contact import Channel, ContactOptions, ContactRequest, Delivery, Reply
from server.domain.protocols import Incidents
from server.domain.site import Site
from server.settings import Settings
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore, ReplyStore, reply_deliveries
from server.storage.errors import UnknownContactRequest
from server.storage.sites.sites import SiteStore

KIND = "reply_failed"


class ReplyChannel:
    """Implements Post."""

    def __init__(self, database: Database, incidents: Incidents, settings: Callable[[], Settings]) -> None:
        self.deliveries = reply_deliveries(database)
        self._replies = ReplyStore(database)
        self._requests = ContactStore(database)
        self._sites = SiteStore(database)
        self._incidents = incidents
        self._settings = settings

    def pack(self, delivery: Delivery[Channel]) -> ReplyMessage:
        """The reply with what it answers. Raises Gone."""
        reply = self._replies.find(delivery.request_id)
        if reply is None:
            raise Gone(f"reply {delivery.request_id} was erased")
        try:
            request = self._requests.get(reply.request_id)
        except UnknownContactRequest as error:
            raise Gone(str(error)) from None
        site = self._sites.find(request.site_id)
        if site is None:
            raise Gone(f"the site of message {request.reference} is gone")
        return ReplyMessage(site, request, reply, self._settings(), self._incidents)

    def forget(self, before: datetime) -> int:
        """Nothing: replies go with the messages that they answer."""
        return 0


@dataclass(frozen=True, slots=True)
class ReplyMessage:
    """One reply."""

    site: Site
    request: ContactRequest
    reply: Reply
    settings: Settings
    incidents: Incidents

    @property
    def name(self) -> str:
        """Without what was written."""
        return f"the reply to message {self.request.reference}"

    @property
    def target(self) -> str:
        return self.request.email

    def send(self) -> str:
        """Raises NotDelivered."""
        if not self.settings.contact.smtp_url:
            raise NotDelivered("no mail server is known: set SMTP_URL and MAIL_FROM under Settings")
        mail = reply_mail(self.site, self.request, self.reply, self.settings.contact.mail_from)
        return MailServer(self.settings.contact.smtp_url, self.settings.contact.timeout_s).send(mail)

    def gave_up(self, says: str, tries: int) -> None:
        """An incident, without what was written and to whom."""
        page = f"{self.settings.serving.base_url}/admin/messages/{self.request.id}"
        details = {"reference": self.request.reference, "page": page, "tries": tries}
        message = "a reply to a visitor did not arrive; the message's page says why"
        self.incidents.record(self.site.id, KIND, message, details)


def reply_mail(site: Site, request: ContactRequest, reply: Reply, sender: str) -> EmailMessage:
    """The e-mail: plain text, what it answers quoted below. Raises NotDelivered when an address is none."""
    title = one_line(site.title or site.name)
    mail = EmailMessage(policy=SMTP)
    name, address = parseaddr(sender)
    mail["From"] = address_of(address, name or title)
    mail["To"] = address_of(request.email)
    if answers_to := ContactOptions.of(site.options).email:
        mail["Reply-To"] = address_of(answers_to)
    mail["Subject"] = f"Re: {title} ({request.reference})"
    mail["Date"] = format_datetime(reply.at)
    # The same at each try, so that one that arrives twice is known for it.
    mail["Message-ID"] = f"<{reply.id}@{address_of(address).domain}>"
    quoted = "\n".join(f"> {line}" for line in request.message.splitlines())
    wrote = f"{request.at:%Y-%m-%d %H:%M} UTC, {one_line(request.email)} wrote:"
    text = f"{reply.text.strip()}\n\n{wrote}\n{quoted}\n"
    mail.set_content("".join(map(printable, text)), cte="quoted-printable")
    return mail
