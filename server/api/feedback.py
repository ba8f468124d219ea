"""POST /api/v1/feedback: whether an answer helped."""

from __future__ import annotations

from flask import Response

from server.api.access import services
from server.api.bodies import json_body
from server.api.caller import known_caller, limit
from server.api.errors import ApiError
from server.api.schemas import FeedbackRequest
from server.storage.errors import UnknownMessage


def judge() -> Response:
    """Stores or replaces the visitor's judgement of one of his answers."""
    caller = known_caller()
    body = json_body(FeedbackRequest)
    limit(services().settings.visitor_limit, f"feedback:{caller.key}")
    comment = body.comment.replace("\x00", " ").strip()
    try:
        services().feedback.put(body.message_id, caller.visitor_id, body.helpful, comment)
    except UnknownMessage:
        raise ApiError(404, "message_unknown", "This answer is not yours or was erased.") from None
    if not body.helpful:
        services().forget_answer(body.message_id)
    return Response(status=204)
