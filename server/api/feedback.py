"""POST /api/v1/feedback: whether an answer helped."""

from __future__ import annotations

from flask import Response

from server.api.access import services
from server.api.bodies import json_body
from server.api.caller import known_caller, limit
from server.api.errors import ApiError
from server.api.schemas import FeedbackRequest
from server.domain.events import EventKind
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
        _tell(caller.site.id, body.message_id, comment)
    return Response(status=204)


def _tell(site_id: str, message_id: str, comment: str) -> None:
    """Once for each answer, however often the visitor changes his mind."""
    data = {"message": message_id, "comment": comment}
    services().events.emit(EventKind.ANSWER_NEGATIVE, site_id, data, f"answer.negative:{message_id}")
