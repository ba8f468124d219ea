"""The part of the OpenAPI document for other servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from server.api import schemas_keyed as schemas

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
_ERRORS = [401, 403, 404, 429]


def keyed_paths(operation: Operation) -> dict[str, Any]:
    """`operation` makes one, see server.api.openapi."""

    def keyed(scope: str, summary: str, answer: str, *parameters: Any, body: str = "", code: str = "") -> Any:
        made = operation(summary, answer, [*_ERRORS, *([422] if parameters else [])], body)
        made |= {"security": [{"key": []}], "description": f"Needs the scope `{scope}`."}
        if code:
            made["responses"][code] = made["responses"].pop("200")
        return made | ({"parameters": list(parameters)} if parameters else {})

    site, number = _in_path("site_id"), _in_path("number")
    listed = (site, _in_query("limit", "Rows, 1 to 100; 50 unless said."), _in_query("page", "From 1."))
    root = "/api/v1/sites/{site_id}"
    begun = keyed("crawl", "Begin a crawl", "CrawlResponse", site, code="202")
    begun["responses"]["200"] = {**begun["responses"]["202"], "description": "One is under way already."}
    return {
        "/api/v1/ask": {"post": keyed("ask", "Ask with a key", "AnswerResponse", body="AskRequest")},
        "/api/v1/sites": {"get": keyed("any", "Sites of the key", "SiteListResponse")},
        f"{root}/conversations": {
            "get": keyed("read", "Conversations of a site", "ConversationListResponse", *listed)
        },
        f"{root}/conversations/{{conversation_id}}": {
            "get": keyed(
                "read", "One conversation", "ConversationResponse", site, _in_path("conversation_id")
            )
        },
        f"{root}/gaps": {
            "get": keyed(
                "read",
                "Gaps of a site",
                "GapListResponse",
                *listed,
                _in_query("status", "Such as new.", "string"),
            )
        },
        f"{root}/figures": {
            "get": keyed(
                "read", "Figures of a site", "FiguresResponse", site, _in_query("days", "30 unless said.")
            )
        },
        f"{root}/crawls": {
            "get": keyed("crawl", "Crawls of a site", "CrawlListResponse", site),
            "post": begun,
        },
        f"{root}/answers": {
            "get": keyed("answers", "Curated answers of a site", "CuratedListResponse", *listed),
            "post": keyed(
                "answers", "Add a curated answer", "CuratedResponse", site, body="AnswerRequest", code="201"
            ),
        },
        f"{root}/answers/{{number}}": {
            "get": keyed("answers", "One curated answer", "CuratedResponse", site, number),
            "put": keyed(
                "answers", "Replace a curated answer", "CuratedResponse", site, number, body="AnswerRequest"
            ),
            "delete": keyed("answers", "Remove a curated answer", "", site, number),
        },
    }


def _in_path(name: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _in_query(name: str, description: str, kind: str = "integer") -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": {"type": kind}}
