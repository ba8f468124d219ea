"""Sends what visitors wrote, again and again with growing pauses, until it arrives or tries run out.

The database is the queue: what is due stands there, so nothing is lost when a worker ends, and a
worker that is busy with long crawls does not hold messages back, for the outbox has its own threads.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime, timedelta

from server.contact.errors import NotDelivered
from server.contact.letter import letter
from server.contact.mail import MailServer
from server.contact.parcel import Parcel, pack
from server.contact.webhook import Webhooks, body_of, headers_of
from server.domain.contact import Channel, ContactOptions, Delivery, DeliveryState, DeliveryTry
from server.domain.protocols import Incidents
from server.settings import Settings
from server.storage.contact import ContactStore
from server.storage.conversations import ConversationStore
from server.storage.database import Database
from server.storage.deliveries import DeliveryStore
from server.storage.errors import StorageError, UnknownContactRequest, UnknownConversation
from server.storage.sites import SiteStore

log = logging.getLogger(__name__)

LOOKS_S = 1.0
SENDERS = 3
"""Threads: a server that is slow to answer must not hold up the messages to others."""
LEASE = 6
"""A try that took as many times the timeout was cut off, and is made again."""
GOODBYE_S = 1.5
GROWTH = 3
LONGEST_PAUSE = timedelta(days=1)
FORGETS_EVERY = timedelta(hours=1)
KIND = "contact_failed"


class Outbox:
    """What a job worker runs beside its crawls."""

    def __init__(self, database: Database, incidents: Incidents, settings: Settings) -> None:
        self._requests = ContactStore(database)
        self._deliveries = DeliveryStore(database)
        self._conversations = ConversationStore(database)
        self._sites = SiteStore(database)
        self._incidents = incidents
        self._settings = settings
        self._webhooks = Webhooks(settings.contact_timeout_s)
        self._senders: list[threading.Thread] = []
        self._forgot_at = datetime.min.replace(tzinfo=UTC)

    def start(self, ending: threading.Event) -> None:
        """Sends in the background until `ending` is set."""
        for number in range(SENDERS):
            name, tidies = f"outbox-{number}", {"tidies": not number}
            thread = threading.Thread(target=self.run, args=(ending,), kwargs=tidies, name=name, daemon=True)
            thread.start()
            self._senders.append(thread)

    def finish(self) -> None:
        """Gives what is just being sent a moment to end; else it is sent again by the next worker."""
        ending = time.monotonic() + GOODBYE_S
        for thread in self._senders:
            thread.join(max(0.0, ending - time.monotonic()))

    def run(self, ending: threading.Event, *, tidies: bool = True) -> None:
        """Until `ending` is set."""
        while not ending.is_set():
            try:
                while not ending.is_set() and self.send_next():
                    pass
                if tidies:
                    self._forget_old(datetime.now(UTC))
            except StorageError as error:
                log.warning("the outbox is looked into again in %g s: %s", LOOKS_S, error)
            except Exception:
                # A defect must not end the thread: the next message may be none of its kind.
                log.exception("the outbox is looked into again in %g s", LOOKS_S)
            ending.wait(LOOKS_S)

    def send_next(self) -> bool:
        """Makes the try that is due longest; False when none is due."""
        lease = timedelta(seconds=self._settings.contact_timeout_s * LEASE)
        delivery = self._deliveries.claim(datetime.now(UTC), lease)
        if delivery is None:
            return False
        try:
            parcel = self._parcel(delivery)
        except UnknownContactRequest:
            return True  # erased since
        target = ""
        try:
            options = ContactOptions.of(parcel.site.options)
            target = options.target(delivery.channel)
            says = self._send(parcel, delivery.channel, options)
        except NotDelivered as error:
            self._note(parcel, delivery, DeliveryTry(datetime.now(UTC), target, False, str(error)))
        except Exception as error:
            # Whatever it is, the thread must live on for the other messages, and this one is tried again.
            log.exception("message %s was not sent", parcel.request.reference)
            self._note(parcel, delivery, DeliveryTry(datetime.now(UTC), target, False, repr(error)[:300]))
        else:
            self._note(parcel, delivery, DeliveryTry(datetime.now(UTC), target, True, says))
        return True

    def _parcel(self, delivery: Delivery) -> Parcel:
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
        return pack(site, request, conversation, self._settings.base_url)

    def _send(self, parcel: Parcel, channel: Channel, options: ContactOptions) -> str:
        target = options.target(channel)
        if not target:
            raise NotDelivered(f"the site has no {channel.value} for messages any more")
        if channel is Channel.WEBHOOK:
            body = body_of(parcel)
            headers = headers_of(body, options.secret, parcel.request.id)
            private = parcel.site.allow_private or self._settings.crawl_allow_private
            return self._webhooks.send(target, body, headers, allow_private=private)
        if not self._settings.smtp_url:
            raise NotDelivered("no mail server is known: set SMTP_URL and MAIL_FROM, then start Docent again")
        mail = letter(parcel, self._settings.mail_from, target)
        return MailServer(self._settings.smtp_url, self._settings.contact_timeout_s).send(mail)

    def _note(self, parcel: Parcel, delivery: Delivery, tried: DeliveryTry) -> None:
        reference = parcel.request.reference
        if tried.arrived:
            log.info("message %s was sent by %s", reference, delivery.channel.value)
            self._deliveries.record(delivery, tried, DeliveryState.SENT)
        elif delivery.tries < self._settings.contact_tries:
            pause = self.pause(delivery.tries)
            log.warning("message %s was not sent, again in %s: %s", reference, pause, tried.says)
            self._deliveries.record(delivery, tried, DeliveryState.WAITING, tried.at + pause)
        else:
            log.error("message %s was not sent: %s", reference, tried.says)
            self._deliveries.record(delivery, tried, DeliveryState.FAILED)
            message = f"a visitor's message did not arrive by {delivery.channel.value}: {tried.says}"
            details = {"reference": reference, "page": parcel.page, "tries": delivery.tries}
            self._incidents.record(parcel.site.id, KIND, message, details)

    def pause(self, tries: int) -> timedelta:
        """Until the next try, after so many."""
        seconds = self._settings.contact_retry_s * float(GROWTH) ** (tries - 1)
        return timedelta(seconds=min(seconds, LONGEST_PAUSE.total_seconds()))

    def _forget_old(self, at: datetime) -> None:
        if self._settings.contact_days and at - self._forgot_at > FORGETS_EVERY:
            self._forgot_at = at
            self._requests.forget_sent(at - timedelta(days=self._settings.contact_days))
