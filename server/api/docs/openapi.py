"""GET /api/openapi.json: every route of the API, its requests, answers and errors."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, current_app, jsonify
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from server.api import schemas
from server.api.access import configuration
from server.api.docs import openapi_keyed

REF = "#/components/schemas/{model}"
MODELS: tuple[type[BaseModel], ...] = (
    schemas.VisitorRequest,
    schemas.ChatRequest,
    schemas.FeedbackRequest,
    schemas.ContactRequest,
    schemas.VisitorResponse,
    schemas.AnswerResponse,
    schemas.WidgetResponse,
    schemas.ContactResponse,
    schemas.ErasedResponse,
    schemas.HealthResponse,
    schemas.ReadyResponse,
    schemas.ErrorResponse,
    *openapi_keyed.MODELS,
)
ERRORS = {
    400: "The body is not JSON.",
    401: "The visitor token is missing, expired or not of this server; get one with POST /api/v1/visitors. "
    "With an API key: it is missing, unknown, revoked or over.",
    403: "The calling page's origin is not on the site's list, or the API key does not have the scope or the "
    "site.",
    404: "There is no such site, conversation, message or stream.",
    409: "The site takes no messages here.",
    413: "The body is too large.",
    415: "The body is not sent as application/json.",
    422: "A field is missing, unknown, of the wrong type, or the message is empty or too long.",
    428: "A new visitor needs a proof of work; the error says which.",
    429: "Too often; wait as long as Retry-After says.",
    503: "A part of the server is out of order; try again later.",
}
EVENTS = """Server-sent events with the ids MESSAGE_ID:1, MESSAGE_ID:2 and so on:

- `meta`, first: `{"conversation_id", "message_id"}`
- `delta`: `{"text"}`, the next words of the answer
- `citation`: a citation, as in the finished answer
- `done`, last: the whole answer; it replaces what came before
- `error`, last: an error object; code `interrupted` when the server was stopped meanwhile

A comment keeps the connection open every 15 seconds."""


def openapi_blueprint() -> Blueprint:
    """The one address of the document."""
    blueprint = Blueprint("openapi", __name__)

    @blueprint.get("/api/openapi.json")
    def describe() -> Response:
        response = jsonify(
            document(current_app.config["VERSION"], configuration().settings.limits.message_chars)
        )
        response.headers["Cache-Control"] = "no-cache"
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    return blueprint


def document(version: str, message_chars: int) -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    _, definitions = models_json_schema([(model, "validation") for model in MODELS], ref_template=REF)
    known = definitions["$defs"]
    known["ChatRequest"] = _chat_request(known["ChatRequest"], message_chars)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Docent",
            "version": version,
            "description": "Ask a website; get answers with citations that open the quoted sentence.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _paths(),
        "components": {
            "schemas": known,
            "securitySchemes": {
                "visitor": {"type": "http", "scheme": "bearer", "description": ERRORS[401]},
                "key": openapi_keyed.SCHEME,
            },
        },
    }


def _paths() -> dict[str, Any]:
    visitor: list[dict[str, list[str]]] = [{"visitor": []}]
    return {
        "/api/v1/visitors": {
            "post": _operation(
                "Get or renew a visitor token", "VisitorResponse", [403, 404, 428, 429], "VisitorRequest"
            )
        },
        "/api/v1/visitors/me": {
            "delete": _operation("Erase all that the visitor said", "ErasedResponse", [401, 403, 404])
            | {"security": visitor}
        },
        "/api/v1/chat": {"post": _chat() | {"security": visitor}},
        "/api/v1/chat/events": {
            "get": {
                "summary": "Go on with an answer whose connection broke",
                "operationId": "resume",
                "security": visitor,
                "parameters": [_last_event(required=True)],
                "responses": {"200": _stream()} | _errors([401, 403, 404, 422, 429, 503]),
            }
        },
        "/api/v1/feedback": {
            "post": _operation("Say whether an answer helped", "", [401, 403, 404, 429], "FeedbackRequest")
            | {"security": visitor}
        },
        "/api/v1/contact": {"post": _contact() | {"security": visitor}},
        "/api/v1/sites/{site_id}/widget": {
            "get": _operation("What the widget must know of a site", "WidgetResponse", [403, 404])
            | {
                "parameters": [
                    {"name": "site_id", "in": "path", "required": True, "schema": {"type": "string"}}
                ]
            }
        },
        **openapi_keyed.keyed_paths(_operation),
        "/healthz": {"get": _operation("The process answers", "HealthResponse", [])},
        "/readyz": {"get": _readiness()},
        "/api/openapi.json": {
            "get": {
                "summary": "This document",
                "operationId": "openapi",
                "responses": {"200": _json("The document.", {"type": "object"})},
            }
        },
    }


def _chat() -> dict[str, Any]:
    chat = _operation("Ask", "AnswerResponse", [401, 403, 404, 429], "ChatRequest")
    chat["responses"]["200"]["content"] |= _stream()["content"]
    chat["responses"]["200"]["description"] = "The answer; a stream of events with `stream` or `resume`."
    return chat | {"parameters": [_last_event(required=False)]}


def _contact() -> dict[str, Any]:
    contact = _operation("Write to people", "ContactResponse", [401, 403, 404, 409, 429], "ContactRequest")
    contact["responses"]["201"] = contact["responses"].pop("200")
    return contact


def _readiness() -> dict[str, Any]:
    ready = _operation("Whether questions can be answered", "ReadyResponse", [])
    ready["responses"]["503"] = _json("Not yet; the parts say why.", _ref("ReadyResponse"))
    return ready


def _operation(summary: str, answer: str, errors: list[int], body: str = "") -> dict[str, Any]:
    good = {"200": _json(summary + ".", _ref(answer))} if answer else {"204": {"description": "Done."}}
    operation: dict[str, Any] = {"summary": summary, "operationId": summary.lower().replace(" ", "-")}
    if body:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(body)}}}
        errors = [*errors, 400, 413, 415, 422]
    operation["responses"] = good | _errors(sorted({*errors, 503}) if errors else [])
    return operation


def _errors(statuses: list[int]) -> dict[str, Any]:
    answers = {}
    for status in statuses:
        answer = _json(ERRORS[status], _ref("ErrorResponse"))
        if status in (429, 503):
            answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "required": True}}
        answers[str(status)] = answer
    return answers


def _chat_request(schema: dict[str, Any], message_chars: int) -> dict[str, Any]:
    """As the route checks it: a question, or `resume`. The model alone cannot say so."""
    fields: dict[str, Any] = schema["properties"]
    text = fields["message"] | {
        "type": "string",
        "minLength": 1,
        "maxLength": message_chars,
        "pattern": r"[^\s\x00]",
    }
    text = {name: value for name, value in text.items() if name not in ("anyOf", "default")}
    ask = schema | {
        "title": "Ask",
        "properties": fields | {"message": text, "resume": {"const": False}},
        "required": ["message"],
    }
    resume = schema | {
        "title": "Resume",
        "properties": {"resume": {"const": True}},
        "required": ["resume"],
    }
    return {"oneOf": [ask, resume], "description": schema["description"]}


def _stream() -> dict[str, Any]:
    names = ["meta", "delta", "citation", "done", "error"]
    event = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"enum": names},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["event", "data"],
    }
    return {"description": EVENTS, "content": {"text/event-stream": {"schema": event}}}


def _last_event(*, required: bool) -> dict[str, Any]:
    return {
        "name": "Last-Event-ID",
        "in": "header",
        "required": required,
        "schema": {"type": "string"},
        "description": "Id of the last event that was received; the stream goes on after it.",
    }


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _ref(model: str) -> dict[str, str]:
    return {"$ref": REF.format(model=model)}
