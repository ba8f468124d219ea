"""Events for other systems, as the outbox sends them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from server.contact.channel import Gone
from server.contact.webhook import Webhooks, headers_of
from server.domain.contact import Delivery
from server.domain.events import Event
from server.domain.protocols import Incidents
from server.settings import Settings
from server.storage.database import Database
from server.storage.delivery.events import EventHook, EventStore, WebhookStore, event_deliveries
from server.storage.errors import UnknownWebhook
from server.storage.sealed import Seal

KIND = "webhook_failed"


class EventChannel:
    """Implements Post."""

    def __init__(
        self,
        database: Database,
        incidents: Incidents,
        settings: Callable[[], Settings],
        webhooks: Webhooks,
        seal: Callable[[], Seal],
    ) -> None:
        self.deliveries = event_deliveries(database)
        self._events = EventStore(database)
        self._hooks = WebhookStore(database)
        self._incidents = incidents
        self._settings = settings
        self._webhooks = webhooks
        self._seal = seal

    def pack(self, delivery: Delivery[str]) -> EventMessage:
        """Raises Gone."""
        event = self._events.get(delivery.request_id)
        try:
            hook = self._hooks.get(delivery.channel)
        except UnknownWebhook as error:
            raise Gone(str(error)) from None
        if event is None:
            raise Gone(f"the event {delivery.request_id} is forgotten")
        return EventMessage(event, hook, self._settings(), self._webhooks, self._seal(), self._incidents)

    def forget(self, before: datetime) -> int:
        """Deletes events, sent or not."""
        return self._events.forget(before)


@dataclass(frozen=True, slots=True)
class EventMessage:
    """One event for one webhook."""

    event: Event
    hook: EventHook
    settings: Settings
    webhooks: Webhooks
    seal: Seal
    incidents: Incidents

    @property
    def name(self) -> str:
        return f"event {self.event.kind.value} {self.event.id}"

    @property
    def target(self) -> str:
        return self.hook.url

    def send(self) -> str:
        """Raises NotDelivered, SealBroken."""
        body = body_of(self.event, self.settings.serving.base_url)
        headers = headers_of(body, self.seal.open(self.hook.secret), self.event.id)
        # Whoever owns the installation chose the address: it may lie in its own network.
        return self.webhooks.send(
            self.hook.url, body, headers, allow_private=self.settings.contact.webhook_allow_private
        )

    def gave_up(self, says: str, tries: int) -> None:
        """An incident."""
        message = f"the event {self.event.kind.value} did not reach a webhook: {says}"
        self.incidents.record(self.event.site_id, KIND, message, {"webhook": self.hook.url, "tries": tries})


def body_of(event: Event, base_url: str) -> bytes:
    """The JSON that is posted."""
    value = {
        "type": event.kind.value,
        "id": event.id,
        "at": event.at.isoformat(),
        "site": event.site_id or None,
        "data": dict(event.data),
        "dashboard": f"{base_url}/admin/",
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8")
