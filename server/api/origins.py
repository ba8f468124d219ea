"""Which web pages may call the API, and what browsers are told about it (CORS)."""

from flask import Response, request

from server.api.access import configuration, recent_sites
from server.api.errors import ApiError
from server.domain.addresses import origin_of
from server.domain.site import Site

PREFLIGHT_S = 600
METHODS = "GET, POST, DELETE"
HEADERS = "Authorization, Content-Type, Last-Event-ID"


def calling_origin(site: Site) -> str:
    """Origin of the page that calls; empty when the caller is no web page.

    Raises ApiError 403 when the site does not list it.
    """
    origin = request.headers.get("Origin", "")
    if origin and not (origin in _spelled(site) or _is_own(origin)):
        raise ApiError(
            403,
            "origin_not_allowed",
            f"Pages of {origin[:200]} may not ask for the site {site.id}. To allow it, open the dashboard, "
            f"choose the site, and add {origin[:200]} to its origins.",
        )
    return origin


def preflight() -> Response:
    """The answer to a browser that asks whether it may ask."""
    response = Response(status=204)
    origin = request.headers.get("Origin", "")
    # Every page may ask for a token, or it could not read why it gets none.
    if origin and (request.path.endswith("/visitors") or _is_listed_anywhere(origin)):
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Methods"] = METHODS
        response.headers["Access-Control-Allow-Headers"] = HEADERS
        response.headers["Access-Control-Max-Age"] = str(PREFLIGHT_S)
    return response


def add_cors(response: Response) -> Response:
    """Lets pages of listed origins read the answer. A refusal for its origin may be read by every
    page, so that it says in the browser, too, what is missing."""
    response.headers.add("Vary", "Origin")
    origin = request.headers.get("Origin", "")
    if origin and (response.status_code == 403 or _is_listed_anywhere(origin)):
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    return response


def _is_own(origin: str) -> bool:
    """Whether it is this server itself: as its setting says, or as the caller addressed it."""
    own = (origin_of(configuration().settings.serving.base_url), f"{request.scheme}://{request.host.lower()}")
    return origin in own


def _is_listed_anywhere(origin: str) -> bool:
    # Before the body and the token are known, nobody can tell which site it is about.
    return any(origin in _spelled(site) for site in recent_sites().all()) or _is_own(origin)


def _spelled(site: Site) -> frozenset[str]:
    """The site's origins as browsers write them: lower case, no default port."""
    return frozenset(map(origin_of, site.allowed_origins))
