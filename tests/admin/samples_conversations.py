"""What operators did about conversations: labels, a reply that did not arrive, thumbs, costs of answers."""

from datetime import UTC, datetime, timedelta

from server.domain.contact import DeliveryState, DeliveryTry
from server.domain.spending import Used
from server.storage.conversations.feedback import FeedbackStore, LabelStore
from server.storage.delivery.contact import ReplyStore, reply_deliveries
from tests.admin.samples import ask

PAGES = {
    "overview_today": "/admin/?days=1&site=lantern",
    "conversations_found": "/admin/conversations?search=parcel&thumbs=down&from=2026-01-01&to=2025-01-01",
    "visitor_erase": "/admin/conversations/{conversation_id}/erase",
}


def fill(runtime):
    """After `write_messages`: the conversation is that of the first message to people."""
    request = next(known for known in runtime.delivery.contact.recent() if known.conversation_id)
    labels = LabelStore(runtime.database)
    for label in ("wrong price", "a label of forty letters, no more than that"[:40]):
        labels.add("lantern", request.conversation_id, label, "ada@example.com")
    first = runtime.dialogue.conversations.get(request.conversation_id).messages[0]
    FeedbackStore(runtime.database).put(
        first.id, "visitor-1", False, "I asked for islands, not for the country."
    )
    ReplyStore(runtime.database).add(
        request.id, "ada@example.com", "We call you today.\n\nAda of Lantern Shop"
    )
    store = reply_deliveries(runtime.database)
    claimed = store.claim(datetime.now(UTC), timedelta(minutes=1))
    refused = "mail.lantern.example:587 refused the recipient: 550 5.1.1 No such user here"
    tried = DeliveryTry(datetime.now(UTC), request.email, False, refused)
    store.record(claimed, tried, DeliveryState.FAILED)
    usage = {"usage": {"calls": 1, "tokens_in": 1800, "tokens_out": 140, "cost": 0.00042}, "support": 0.42}
    for days in range(0, 12, 3):
        ask(runtime, model="gpt-4o-mini", trace=usage, asked_at=datetime.now(UTC) - timedelta(days=days))
    runtime.stores.usage.add("lantern", "gpt-4o-mini", Used(4, 7200, 560, 0.00168))
