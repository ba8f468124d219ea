"""The part of the OpenAPI document for other servers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel

from server.api.keyed import schemas

MODELS: tuple[type[BaseModel], ...] = (
    schemas.AskRequest,
    schemas.AnswerRequest,
    schemas.CuratedResponse,
    schemas.CuratedListResponse,
    schemas.SiteListResponse,
    schemas.ConversationResponse,
    schemas.ConversationListResponse,
    schemas.GapListResponse,
    schemas.FiguresResponse,
    schemas.CrawlResponse,
    schemas.CrawlListResponse,
)
SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key, made on the dashboard under Settings, API keys. Each has scopes.",
}
Operation = Callable[..., dict[str, Any]]
ROOT = "/api/v1/sites/{site_id}"
_ERRORS = [401, 403, 404, 429]


def keyed_paths(operation: Operation) -> dict[str, Any]:
    """`operation` makes one, see server.api.docs.openapi."""
    keyed = partial(_keyed, operation)
    site, listed = _in_path("site_id"), (_in_path("site_id"), *_PAGED)
    status, days = _in_query("status", "Such as new.", "string"), _in_query("days", "30 unless said.")
    begun = keyed("crawl", "Begin a crawl", "CrawlResponse", site, code="202")
    begun["responses"]["200"] = {**begun["responses"]["202"], "description": "One is under way already."}
    one = (site, _in_path("conversation_id"))
    talks = keyed("read", "Conversations of a site", "ConversationListResponse", *listed)
    return {
        "/api/v1/ask": {"post": keyed("ask", "Ask with a key", "AnswerResponse", body="AskRequest")},
        "/api/v1/sites": {"get": keyed("any", "Sites of the key", "SiteListResponse")},
        f"{ROOT}/conversations": {"get": talks},
        f"{ROOT}/conversations/{{conversation_id}}": {
            "get": keyed("read", "One conversation", "ConversationResponse", *one)
        },
        f"{ROOT}/gaps": {"get": keyed("read", "Gaps of a site", "GapListResponse", *listed, status)},
        f"{ROOT}/figures": {"get": keyed("read", "Figures of a site", "FiguresResponse", site, days)},
        f"{ROOT}/crawls": {
            "get": keyed("crawl", "Crawls of a site", "CrawlListResponse", site),
            "post": begun,
        },
        **_answers(keyed),
    }


def _answers(keyed: Operation) -> dict[str, Any]:
    site, number, scope = _in_path("site_id"), _in_path("number"), "answers"
    add = keyed(scope, "Add a curated answer", "CuratedResponse", site, body="AnswerRequest", code="201")
    put = keyed(scope, "Replace a curated answer", "CuratedResponse", site, number, body="AnswerRequest")
    listed = keyed(scope, "Curated answers of a site", "CuratedListResponse", site, *_PAGED)
    return {
        f"{ROOT}/answers": {"get": listed, "post": add},
        f"{ROOT}/answers/{{number}}": {
            "get": keyed(scope, "One curated answer", "CuratedResponse", site, number),
            "put": put,
            "delete": keyed(scope, "Remove a curated answer", "", site, number),
        },
    }


def _keyed(
    operation: Operation,
    scope: str,
    summary: str,
    answer: str,
    *parameters: Any,
    body: str = "",
    code: str = "",
) -> dict[str, Any]:
    errors = [*_ERRORS, *([422] if parameters else [])]
    made = operation(summary, answer, errors, body)
    made |= {"security": [{"key": []}], "description": f"Needs the scope `{scope}`."}
    if code:
        made["responses"][code] = made["responses"].pop("200")
    return made | ({"parameters": list(parameters)} if parameters else {})


def _in_path(name: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _in_query(name: str, description: str, kind: str = "integer") -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": kind}}


_PAGED = (_in_query("limit", "Rows, 1 to 100; 50 unless said."), _in_query("page", "From 1."))
