"""Every route of the API: its address, what answers it, and what the OpenAPI document says of it."""

from functools import lru_cache
from threading import Lock

from flask import Blueprint, Flask, Response, current_app, request

from server.api import health, schemas
from server.api.access import configuration
from server.api.caller import add_cors, preflight
from server.api.docs.openapi import LAST_EVENT, ApiRoute, document, query, stream_of
from server.api.keyed import routes
from server.api.keyed import schemas as keyed
from server.api.visitor import chat, contact, visitors, widget
from server.domain.gap import GapStatus

ROOT = "/api/v1"
SITE = f"{ROOT}/sites/<site_id>"
_PAGED = (
    query("limit", "Rows; 50 unless said.", type="integer", minimum=1, maximum=100),
    query("page", "From 1.", type="integer", minimum=1, maximum=1_000_000),
)
_LANGUAGE = query("language", "Code of the language of `disclosure`, such as de.", type="string")
_STATUS = query("status", "All unless said.", type="string", enum=[one.value for one in GapStatus])
_DAYS = query("days", "30 unless said.", type="integer", minimum=1, maximum=3660)
_CRAWLS = {202: "Begin a crawl.", 200: "One is under way already."}


def describe() -> Response:
    """GET /api/openapi.json."""
    longest = configuration().settings.limits.message_chars
    root = request.script_root
    with _writing:
        text = _document(current_app.config["VERSION"], longest, root)
    response = Response(text, mimetype="application/json")
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


ROUTES = (
    ApiRoute(
        "POST", f"{ROOT}/visitors", visitors.issue_token, "Get or renew a visitor token",
        schemas.VisitorResponse, schemas.VisitorRequest, errors=(403, 404, 428, 429),
    ),
    ApiRoute(
        "DELETE", f"{ROOT}/visitors/me", visitors.erase, "Erase all that the visitor said",
        schemas.ErasedResponse, visitor=True, errors=(401, 403, 404, 429),
    ),
    ApiRoute(
        "GET", f"{ROOT}/visitors/me/export", visitors.export, "Export all that is stored about the visitor",
        schemas.ExportResponse, visitor=True, errors=(401, 403, 404, 429), id="export",
    ),
    ApiRoute(
        "POST", f"{ROOT}/chat", chat.ask, "Ask", schemas.AnswerResponse, schemas.ChatRequest,
        visitor=True, errors=(401, 403, 404, 429), parameters=(LAST_EVENT,),
        good={200: "The answer; a stream of events with `stream` or `resume`."}, adapt=stream_of,
    ),
    ApiRoute(
        "GET", f"{ROOT}/chat/events", chat.resume, "Go on with an answer whose connection broke",
        visitor=True, errors=(401, 403, 404, 422, 429), parameters=(LAST_EVENT | {"required": True},),
        id="resume", good={200: ""}, adapt=stream_of,
    ),
    ApiRoute(
        "POST", f"{ROOT}/feedback", chat.judge, "Say whether an answer helped", None,
        schemas.FeedbackRequest, visitor=True, errors=(401, 403, 404, 429),
    ),
    ApiRoute(
        "POST", f"{ROOT}/contact", contact.write, "Write to people", schemas.ContactResponse,
        schemas.ContactRequest, visitor=True, errors=(401, 403, 404, 409, 429),
        good={201: "Write to people."},
    ),
    ApiRoute(
        "GET", f"{SITE}/widget", widget.widget, "What the widget must know of a site",
        schemas.WidgetResponse, errors=(403, 404), parameters=(_LANGUAGE,),
    ),
    ApiRoute(
        "POST", f"{ROOT}/ask", routes.ask, "Ask with a key", schemas.AnswerResponse, keyed.AskRequest,
        scope="ask",
    ),
    ApiRoute("GET", f"{ROOT}/sites", routes.sites, "Sites of the key", keyed.SiteListResponse, scope="any"),
    ApiRoute(
        "GET", f"{SITE}/conversations", routes.conversations, "Conversations of a site",
        keyed.ConversationListResponse, scope="read", parameters=_PAGED,
    ),
    ApiRoute(
        "GET", f"{SITE}/conversations/<conversation_id>", routes.conversation, "One conversation",
        keyed.ConversationResponse, scope="read",
    ),
    ApiRoute(
        "GET", f"{SITE}/gaps", routes.gaps, "Gaps of a site", keyed.GapListResponse, scope="read",
        parameters=(*_PAGED, _STATUS),
    ),
    ApiRoute(
        "GET", f"{SITE}/figures", routes.figures, "Figures of a site", keyed.FiguresResponse, scope="read",
        parameters=(_DAYS,),
    ),
    ApiRoute(
        "GET", f"{SITE}/crawls", routes.crawls, "Crawls of a site", keyed.CrawlListResponse, scope="crawl",
    ),
    ApiRoute(
        "POST", f"{SITE}/crawls", routes.crawl, "Begin a crawl", keyed.CrawlResponse, scope="crawl",
        good=_CRAWLS,
    ),
    ApiRoute(
        "GET", f"{SITE}/answers", routes.answers, "Curated answers of a site", keyed.CuratedListResponse,
        scope="answers", parameters=_PAGED,
    ),
    ApiRoute(
        "POST", f"{SITE}/answers", routes.add, "Add a curated answer", keyed.CuratedResponse,
        keyed.AnswerRequest, scope="answers", good={201: "Add a curated answer."},
    ),
    ApiRoute(
        "GET", f"{SITE}/answers/<number>", routes.answer, "One curated answer", keyed.CuratedResponse,
        scope="answers",
    ),
    ApiRoute(
        "PUT", f"{SITE}/answers/<number>", routes.change, "Replace a curated answer", keyed.CuratedResponse,
        keyed.AnswerRequest, scope="answers",
    ),
    ApiRoute(
        "DELETE", f"{SITE}/answers/<number>", routes.remove, "Remove a curated answer", scope="answers",
    ),
    ApiRoute("GET", "/healthz", health.healthz, "The process answers", schemas.HealthResponse),
    ApiRoute(
        "GET", "/readyz", health.readyz, "Whether this process can serve requests", schemas.ReadyResponse,
        good={200: "This process can serve requests.", 503: "Not yet; the parts say why."},
    ),
    ApiRoute(
        "GET", "/api/openapi.json", describe, "This document", dict, id="openapi",
        good={200: "The document."},
    ),
)  # fmt: skip


_writing = Lock()


@lru_cache(maxsize=4)
def _document(version: str, longest: int, root: str) -> str:
    # Writing it takes 40 ms, which anybody could ask for again and again.
    return current_app.json.dumps(document(ROUTES, version, longest, root))


def register_routes(app: Flask) -> None:
    """Add the routes to an application, with what holds for all of them, or for those below /api/v1."""
    api, other = Blueprint("api", __name__), Blueprint("service", __name__)
    api.before_request(_answer_preflight)
    api.after_request(add_cors)
    api.after_request(_keep_private)
    other.after_request(_keep_private)
    for route in ROUTES:
        blueprint = api if route.path.startswith(ROOT) else other
        blueprint.add_url_rule(route.path, route.id, route.view, methods=[route.method])
    app.register_blueprint(api)
    app.register_blueprint(other)


def _answer_preflight() -> Response | None:
    return preflight() if request.method == "OPTIONS" else None


def _keep_private(response: Response) -> Response:
    response.headers.setdefault("Cache-Control", "no-store")
    return response
