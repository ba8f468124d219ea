"""POST /api/v1/contact: a visitor's message to the operator, with the conversation before it."""

import logging
from datetime import UTC, datetime

from flask import Response, jsonify

from server.api.access import configuration, delivery, dialogue
from server.api.caller import (
    Caller,
    json_body,
    known_caller,
    limit,
    message_text,
    network_address,
    require_consent,
)
from server.api.errors import ApiError
from server.api.schemas import ContactRequest
from server.domain.contact import ContactOptions
from server.domain.site import Site
from server.guards.mail_addresses import mail_address
from server.storage.errors import UnknownConversation

log = logging.getLogger(__name__)


def write() -> tuple[Response, int]:
    """Store the message and reply immediately; a job worker sends it."""
    caller = known_caller()
    require_consent(caller)
    body = json_body(ContactRequest)
    options = ContactOptions.of(caller.site.options)
    if not options.on:
        raise ApiError(
            409, "contact_off", "This site takes no messages here. Its pages say how to get in touch."
        )
    email, message = _email(body.email), message_text(body.message, "Write a message.")
    settings = configuration().settings
    limit(settings.limits.visitor_limit, f"contact-visitor:{caller.key}")
    limit(settings.contact.limit, f"contact:{network_address()}")
    conversation_id = _own_conversation(caller, body.conversation_id)
    try:
        request = delivery().contact.add(
            caller.site.id, caller.visitor_id, email, message, conversation_id, options.channels
        )
    except UnknownConversation:
        raise _unknown() from None
    return jsonify(reference=request.reference), 201


def public_contact(site: Site, now: datetime | None = None) -> dict[str, object]:
    """Return the public contact settings: whether messages are accepted, and the business hours."""
    options = ContactOptions.of(site.options)
    moment = now or datetime.now(UTC)
    try:
        hours = options.business_hours
        opening = hours.next_opening(moment)
    except ValueError as error:
        # Settings are validated when they are saved. If they were changed in another way, the widget
        # must still work.
        log.warning("the business hours of %s count as always open: %s", site.id, error)
        opening = None
    return {
        "on": options.on,
        "open": opening is None,
        "hours": options.hours,
        "opens": opening.isoformat() if opening else "",
        "link": options.page,
    }


def _email(text: str) -> str:
    try:
        return mail_address(text)
    except ValueError as error:
        raise ApiError(422, "email_invalid", f"This is no e-mail address. {error}") from None


def _own_conversation(caller: Caller, conversation_id: str | None) -> str | None:
    if conversation_id is None:
        return None
    if not dialogue().conversations.belongs(conversation_id, caller.site.id, caller.visitor_id):
        raise _unknown()
    return conversation_id


def _unknown() -> ApiError:
    return ApiError(
        404,
        "conversation_unknown",
        "This conversation is not yours or was erased. Leave conversation_id out to write without it.",
    )
