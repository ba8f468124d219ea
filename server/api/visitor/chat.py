"""POST /api/v1/chat: answers a question, as one JSON object or as a stream of events."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from flask import Response, jsonify, request

from server.answering.chat import Chat, Exchange
from server.answering.chat import response as answer_response
from server.answering.disclosure import seen_text
from server.api.access import chat, configuration, delivery, dialogue, runtime, streams
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
from server.api.schemas import ChatRequest, DisclosureRequest, FeedbackRequest, PageRequest
from server.api.visitor.streams import Event, UnknownStream
from server.domain.answer import Answer, Citation
from server.domain.events import EventKind
from server.domain.question import VisitorPage
from server.storage.conversations.questions import QuestionLog
from server.storage.errors import UnknownConversation, UnknownRecord

LAST_EVENT = "Send the id of the last event that arrived as Last-Event-ID: MESSAGE_ID:NUMBER."


def ask() -> Response:
    """Answer a question, or with `resume` continue an interrupted answer."""
    caller = known_caller()
    body = json_body(ChatRequest)
    if body.resume:
        return _resumed(caller)
    require_consent(caller)
    message = message_text(body.message or "", "Send a question as message.")
    settings = configuration().settings
    limit(settings.limits.visitor_limit, f"visitor:{caller.key}")
    limit(settings.limits.address_limit, f"address:{network_address()}")
    page = _page(caller, body.page)
    try:
        exchange = chat().ask(
            caller.site,
            message,
            visitor_id=caller.visitor_id,
            conversation_id=body.conversation_id,
            page=page,
            disclosure=_seen(caller, body.disclosure),
        )
    except UnknownConversation:
        raise ApiError(
            404,
            "conversation_unknown",
            "This conversation is not yours or was erased. Leave conversation_id out to start a new one.",
        ) from None
    if not body.stream:
        return jsonify(whole(exchange))
    asked = {"text": message, "conversation_id": exchange.conversation_id, "page": page and asdict(page)}
    return _event_stream(streams().start(exchange.message_id, caller.key, asked, lambda: _events(exchange)))


def resume() -> Response:
    """Handle GET /api/v1/chat/events, which does the same as a POST with `resume`."""
    caller = known_caller()
    if "Last-Event-ID" not in request.headers:
        raise ApiError(422, "last_event_missing", LAST_EVENT)
    return _resumed(caller)


def _page(caller: Caller, page: PageRequest | None) -> VisitorPage | None:
    """Return the parts of the page that the site allows to be used. Never fails: the page is optional."""
    if page is None:
        return None
    longest = configuration().settings.limits.selection_chars
    return VisitorPage.allowed(caller.site, page.url, page.title, page.selection or "", longest)


def _seen(caller: Caller, shown: DisclosureRequest | None) -> str:
    return seen_text(caller.site, shown.text, shown.more) if shown else ""


def whole(exchange: Exchange) -> dict[str, object]:
    """The finished answer, as one JSON object."""
    *_, answer = exchange.events()
    assert isinstance(answer, Answer), "an exchange ends with its answer"
    return answer_response(exchange.conversation_id, exchange.message_id, answer)


def _events(exchange: Exchange) -> Iterable[Event]:
    yield "meta", {"conversation_id": exchange.conversation_id, "message_id": exchange.message_id}
    for event in exchange.events():
        if isinstance(event, Answer):
            yield "done", answer_response(exchange.conversation_id, exchange.message_id, event)
        elif isinstance(event, Citation):
            yield "citation", asdict(event)
        else:
            yield "delta", {"text": event.text}


def _again(
    caller: Caller, message_id: str, chat: Chat, questions: QuestionLog, asked: dict[str, Any]
) -> Iterable[Event]:
    """Answer a question whose process died. Its answer may have been stored already."""
    stored = questions.find(message_id)
    if stored is not None:
        yield "done", answer_response(stored.conversation_id, message_id, stored.answer)
        return
    exchange = chat.ask(
        caller.site,
        asked["text"],
        visitor_id=caller.visitor_id,
        conversation_id=asked["conversation_id"],
        page=VisitorPage(**asked["page"]) if asked["page"] else None,
        message_id=message_id,
    )
    yield from _events(exchange)


def _resumed(caller: Caller) -> Response:
    limit(configuration().settings.limits.address_limit, f"resume:{network_address()}")
    message_id, _, number = request.headers.get("Last-Event-ID", "").rpartition(":")
    if not (message_id and number.isascii() and number.isdecimal() and len(number) < 10):
        raise ApiError(404, "nothing_to_resume", LAST_EVENT)
    try:
        again = partial(_again, caller, message_id, chat(), dialogue().questions)
        return _event_stream(streams().resume(message_id, int(number), caller.key, again))
    except UnknownStream:
        raise ApiError(
            404,
            "nothing_to_resume",
            "This answer is not being written, and was not in the last minutes. Ask again.",
        ) from None


def _event_stream(events: Iterator[bytes]) -> Response:
    response = Response(events, mimetype="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    # Otherwise nginx and similar proxies would delay the words until their buffer is full.
    response.headers["X-Accel-Buffering"] = "no"
    return response


def judge() -> Response:
    """Store or replace the visitor's rating of an answer."""
    caller = known_caller()
    require_consent(caller)
    body = json_body(FeedbackRequest)
    limit(configuration().settings.limits.visitor_limit, f"feedback:{caller.key}")
    comment = body.comment.replace("\x00", " ").strip()
    try:
        dialogue().feedback.put(body.message_id, caller.visitor_id, body.helpful, comment)
    except UnknownRecord:
        raise ApiError(404, "message_unknown", "This answer is not yours or was erased.") from None
    if not body.helpful:
        runtime().forget_answer(body.message_id)
        _emit_negative(caller.site.id, body.message_id, comment)
    return Response(status=204)


def _emit_negative(site_id: str, message_id: str, comment: str) -> None:
    """Emit the event once per answer, even if the visitor changes the rating again."""
    data = {"message": message_id, "comment": comment}
    delivery().events.emit(EventKind.ANSWER_NEGATIVE, site_id, data, f"answer.negative:{message_id}")
