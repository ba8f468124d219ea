"""The OpenAPI document, made from the table of routes and the models of requests and answers."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from server.api.schemas import ErrorResponse

REF = "#/components/schemas/{model}"
KEY = "An API key, made on the dashboard under Settings, API keys. Each has scopes."
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


def query(name: str, description: str, **schema: object) -> dict[str, Any]:
    """A parameter of the query string."""
    return {"name": name, "in": "query", "description": description, "schema": schema}


LAST_EVENT: dict[str, Any] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "Id of the last event that was received; the stream goes on after it.",
}


@dataclass
class ApiRoute:
    """An address of the API with a method."""

    method: str
    path: str
    """As Flask writes it."""
    view: Callable[..., Any]
    summary: str
    answer: type | None = None
    """The model of what comes; `dict` for any object, None for no content."""
    body: type[BaseModel] | None = None
    visitor: bool = False
    """Whether it needs a visitor token."""
    scope: str = ""
    """The scope of the API key that it needs."""
    errors: tuple[int, ...] = ()
    """Besides those of every body and every key."""
    parameters: tuple[dict[str, Any], ...] = ()
    """Besides those of the path."""
    good: Mapping[int, str] = field(default_factory=dict)
    """Status -> its description, where it is not the summary with 200."""
    id: str = ""
    adapt: Callable[[dict[str, Any]], None] = lambda operation: None
    """Changes the finished operation."""

    def __post_init__(self) -> None:
        self.id = self.id or self.summary.lower().replace(" ", "-")

    def operation(self) -> dict[str, Any]:
        """The operation object."""
        text = {"in": "path", "required": True, "schema": {"type": "string"}}
        in_path = ({"name": name, **text} for name in re.findall(r"<(\w+)>", self.path))
        parameters = [*in_path, *self.parameters]
        errors = set(self.errors)
        made: dict[str, Any] = {"summary": self.summary, "operationId": self.id, "responses": self._good()}
        if self.visitor:
            made["security"] = [{"visitor": []}]
        if self.scope:
            made |= {"security": [{"key": []}], "description": f"Needs the scope `{self.scope}`."}
            errors |= {401, 403, 404, 429, *([422] if parameters else [])}
        if parameters:
            made["parameters"] = parameters
        if self.body:
            made["requestBody"] = {"required": True, **_json(self.body)}
            errors |= {400, 413, 415, 422}
        if errors:
            made["responses"] |= {str(status): _error(status) for status in sorted({*errors, 503})}
        self.adapt(made)
        return made

    def _good(self) -> dict[str, Any]:
        if self.answer is None and not self.good:
            return {"204": {"description": "Done."}}
        told = self.good or {200: f"{self.summary}."}
        content = _json(self.answer) if self.answer else {}
        return {str(status): {"description": text, **content} for status, text in told.items()}


def document(routes: Iterable[ApiRoute], version: str, message_chars: int, root: str = "") -> dict[str, Any]:
    """The OpenAPI 3.1 document of a server below the path `root`."""
    paths: dict[str, dict[str, Any]] = {}
    models: set[type[BaseModel]] = {ErrorResponse}
    for route in routes:
        path = route.path.replace("<", "{").replace(">", "}")
        paths.setdefault(path, {})[route.method.lower()] = route.operation()
        models |= {model for model in (route.answer, route.body) if model and issubclass(model, BaseModel)}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, definitions = models_json_schema([(model, "validation") for model in ordered], ref_template=REF)
    known = definitions["$defs"]
    known["ChatRequest"] = _chat_request(known["ChatRequest"], message_chars)
    known["AskRequest"]["properties"]["question"] |= _message(message_chars)
    known["ContactRequest"]["properties"]["message"] |= _message(message_chars)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Docent",
            "version": version,
            "description": "Ask a website; get answers with citations that open the quoted sentence.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": root or "/"}],
        "paths": paths,
        "components": {
            "schemas": known,
            "securitySchemes": {
                "visitor": {"type": "http", "scheme": "bearer", "description": ERRORS[401]},
                "key": {"type": "http", "scheme": "bearer", "description": KEY},
            },
        },
    }


def stream_of(operation: dict[str, Any]) -> None:
    """Adds that the answer may be, or is, a stream of events."""
    event = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "event": {"enum": ["meta", "delta", "citation", "done", "error"]},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["event", "data"],
    }
    good = operation["responses"]["200"]
    good["description"] = good["description"] or EVENTS
    good.setdefault("content", {})["text/event-stream"] = {"schema": event}


def _chat_request(schema: dict[str, Any], message_chars: int) -> dict[str, Any]:
    """As the route checks it: a question, or `resume`. The model alone cannot say so."""
    fields: dict[str, Any] = schema["properties"]
    text = fields["message"] | {"type": "string", **_message(message_chars)}
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


def _message(longest: int) -> dict[str, Any]:
    """The bounds of a text that somebody sends, such as a question or a message to people."""
    return {"minLength": 1, "maxLength": longest, "pattern": r"[^\s\x00]"}


def _error(status: int) -> dict[str, Any]:
    answer = {"description": ERRORS[status], **_json(ErrorResponse)}
    if status in (429, 503):
        answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "required": True}}
    return answer


def _json(model: type) -> dict[str, Any]:
    schema = {"type": "object"} if model is dict else {"$ref": REF.format(model=model.__name__)}
    return {"content": {"application/json": {"schema": schema}}}
