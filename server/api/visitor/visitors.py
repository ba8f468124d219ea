"""Visitors: issues tokens, and exports and erases a visitor's data."""

from flask import Response, jsonify

from server.api.access import configuration, delivery, dialogue, engine, proof_of_work, shared, visitor_tokens
from server.api.caller import calling_origin, json_body, known_caller, known_site, limit, network_address
from server.api.errors import ApiError
from server.api.schemas import VisitorRequest
from server.domain.answer import Message
from server.domain.site import Site
from server.domain.visiting import Consent, proof_bits
from server.guards.proof_of_work import ProofRefused
from server.guards.surges import BITS
from server.storage.conversations.feedback import Feedback
from server.storage.conversations.history import erase_visitor


def issue_token() -> Response:
    """Handle POST /api/v1/visitors: issue a token for the calling page's visitor."""
    body = json_body(VisitorRequest)
    limit(configuration().settings.limits.token_limit, f"token:{network_address()}")
    site = known_site(body.site)
    origin = calling_origin(site)
    consent = _consent(site, origin, body)
    _require_proof(site, origin, body)
    token = visitor_tokens().issue(site.id, origin, body.visitor, consent)
    shared().sightings.note(site.id, origin)
    return jsonify(token=token, expires_in=visitor_tokens().lifetime_s)


def erase() -> Response:
    """Handle DELETE /api/v1/visitors/me: erase the visitor's questions and answers."""
    caller = known_caller()
    limit(configuration().settings.limits.visitor_limit, f"erase:{caller.key}")
    conversations, history, cache = dialogue().conversations, engine().history, shared().cache
    erased = erase_visitor(conversations, history, cache, caller.site.id, caller.visitor_id)
    return jsonify(erased=erased)


def export() -> Response:
    """Handle GET /api/v1/visitors/me/export: all that is stored about the visitor."""
    caller = known_caller()
    limit(configuration().settings.limits.visitor_limit, f"export:{caller.key}")
    talked = dialogue().conversations.of_visitor(caller.site.id, caller.visitor_id)
    judged = dialogue().feedback.of([one.id for conversation in talked for one in conversation.messages])
    written = delivery().contact.of_visitor(caller.site.id, caller.visitor_id)
    replies = delivery().replies.of([request.id for request in written])
    response = jsonify(
        site=caller.site.id,
        visitor=caller.visitor_id,
        conversations=[
            {
                "id": conversation.id,
                "started_at": conversation.started_at.isoformat(),
                "disclosure": conversation.disclosure,
                "messages": [_exported(one, judged.get(one.id)) for one in conversation.messages],
            }
            for conversation in talked
        ],
        messages_to_people=[
            {
                "reference": request.reference,
                "at": request.at.isoformat(),
                "email": request.email,
                "message": request.message,
                "conversation_id": request.conversation_id,
                "replies": [
                    {"at": reply.at.isoformat(), "text": reply.text}
                    for reply, _ in replies.get(request.id, ())
                ],
            }
            for request in written
        ],
    )
    response.headers["Content-Disposition"] = "attachment; filename=my-data.json"
    return response


def _exported(message: Message, judged: Feedback | None) -> dict[str, object]:
    rating = (
        {"helpful": judged.helpful, "comment": judged.comment, "at": judged.at.isoformat()}
        if judged
        else None
    )
    return {
        "id": message.id,
        "asked_at": message.asked_at.isoformat(),
        "question": message.question,
        "language": message.language,
        "outcome": message.answer.outcome.value,
        "answer": message.answer.text,
        "source": message.answer.sources,
        "feedback": rating,
    }


def _consent(site: Site, origin: str, body: VisitorRequest) -> str:
    """Return the consent mark for the token, given now or in the renewed token. Raises ApiError."""
    consent = Consent.of(site.options)
    if not consent.needed or body.consent:
        return consent.mark
    earlier = visitor_tokens().known(body.visitor, site.id, origin)
    if earlier is None or earlier.consent != consent.mark:
        raise ApiError(
            403,
            "consent_required",
            "The site wants its visitors to agree before they ask: show them its consent text, then send "
            "consent as true.",
        )
    return consent.mark


def _bits(site: Site) -> int:
    """How hard the proof of work is: as the site is set, or harder during a surge."""
    bits = proof_bits(site.options)
    is_surge = configuration().settings.limits.proof_on_surge and shared().surges.since(site.id)
    return max(bits, BITS) if is_surge else bits


def _require_proof(site: Site, origin: str, body: VisitorRequest) -> None:
    """Require a proof of work of new visitors and expired tokens, if the site wants it. Raises ApiError."""
    bits = _bits(site)
    earlier = visitor_tokens().known(body.visitor, site.id, origin)
    if not bits or (earlier and visitor_tokens().is_valid(body.visitor)):
        return None
    proof = body.proof
    reason = "a new visitor of this site needs a proof of work"
    try:
        if proof:
            return proof_of_work().check(proof.challenge, proof.nonce, site.id, origin, bits)
    except ProofRefused as refused:
        reason = str(refused)
    challenge = proof_of_work().challenge(site.id, origin, bits)
    raise ApiError(
        428,
        "proof_required",
        f"No token: {reason}. Find a nonce with which SHA-256 of CHALLENGE:NONCE begins with {bits} zero "
        "bits, and send both as proof within five minutes.",
        details={"challenge": challenge.text, "bits": challenge.bits},
    )
