"""Sends messages of visitors and events for other systems, and retries with growing pauses until each has
arrived or has no tries left.

The database is the queue: what is due is stored there, so nothing is lost when a worker ends, and a
worker that is busy with long crawls does not hold messages back, for the outbox has its own threads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from server.contact.channel import Gone, NotDelivered, OutgoingMessage
from server.contact.messages import DeliveryChannel, EventChannel, ReplyChannel, VisitorChannel
from server.domain.contact import Delivery, DeliveryState, DeliveryTry
from server.domain.protocols import Incidents
from server.metrics import DELIVERIES
from server.settings import Settings
from server.storage.database import Database
from server.storage.delivery.deliveries import Deliveries
from server.storage.errors import StorageError
from server.storage.sealed import Seal

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


def open_outbox(
    database: Database,
    incidents: Incidents,
    settings: Callable[[], Settings],
    seal: Callable[[], Seal],
) -> Outbox:
    """One that sends everything; `settings` is called at each try."""
    kinds = (VisitorChannel, ReplyChannel, EventChannel)
    return Outbox([kind(database, incidents, settings, seal) for kind in kinds], settings)


class Outbox:
    """Sends in threads of the job worker, at the same time as its crawls."""

    def __init__(self, posts: Sequence[DeliveryChannel[Any]], settings: Callable[[], Settings]) -> None:
        self._posts = posts
        self._settings = settings
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
        """Makes the try that is due longest, of each sort; False when none is due."""
        # Each sort has its turn: a webhook with many events must not hold up visitors' messages.
        return any([self._send_one(post) for post in self._posts])

    def _send_one(self, post: DeliveryChannel[Any]) -> bool:
        lease = timedelta(seconds=self._settings().contact.timeout_s * LEASE)
        delivery = post.deliveries.claim(datetime.now(UTC), lease, post.resting())
        if delivery is None:
            return False
        try:
            letter = post.pack(delivery)
        except Gone:
            return True  # erased since
        try:
            says, arrived = letter.send(), True
        except NotDelivered as error:
            says, arrived = str(error), False
        except Exception as error:
            # Whatever it is, the thread must live on for the other messages, and this one is tried again.
            log.exception("%s was not sent", letter.name)
            says, arrived = repr(error)[:300], False
        tried = DeliveryTry(datetime.now(UTC), letter.target, arrived, says)
        self._note(post.deliveries, letter, delivery, tried)
        return True

    def _note(
        self,
        deliveries: Deliveries[Any],
        letter: OutgoingMessage,
        delivery: Delivery[Any],
        tried: DeliveryTry,
    ) -> None:
        if tried.arrived:
            log.info("%s was sent", letter.name)
            DELIVERIES.count("sent")
            deliveries.record(delivery, tried, DeliveryState.SENT)
        elif delivery.tries < self._settings().contact.tries:
            pause = self.pause(delivery.tries)
            DELIVERIES.count("retried")
            log.warning("%s was not sent, again in %s: %s", letter.name, pause, tried.says)
            deliveries.record(delivery, tried, DeliveryState.WAITING, tried.at + pause)
        else:
            DELIVERIES.count("failed")
            log.error("%s was not sent: %s", letter.name, tried.says)
            deliveries.record(delivery, tried, DeliveryState.FAILED)
            letter.gave_up(tried.says, delivery.tries)

    def pause(self, tries: int) -> timedelta:
        """Until the next try, after so many."""
        seconds = self._settings().contact.retry_s * float(GROWTH) ** (tries - 1)
        return timedelta(seconds=min(seconds, LONGEST_PAUSE.total_seconds()))

    def _forget_old(self, at: datetime) -> None:
        days = self._settings().contact.days
        if days and at - self._forgot_at > FORGETS_EVERY:
            self._forgot_at = at
            for post in self._posts:
                post.forget(at - timedelta(days=days))
