"""Requests: who calls from where, whether that is allowed and not too often; the body, checked by a model."""

from dataclasses import dataclass
from typing import TypeVar

from flask import Response, current_app, request
from pydantic import BaseModel, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from server.api.access import configuration, recent_sites, shared, visitor_tokens
from server.api.errors import ApiError
from server.api.visitor.tokens import TokenExpired, TokenInvalid
from server.domain.addresses import network_of, origin_of
from server.domain.site import Site
from server.domain.visiting import Consent

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


def bearer_token() -> str:
    """Return the token of the Authorization header, "" without one."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


NEW_TOKEN = "Get a new one with POST /api/v1/visitors."


@dataclass(frozen=True, slots=True)
class Caller:
    """A visitor on a site."""

    visitor_id: str
    site: Site
    consent: str = ""
    """The mark of the text that the visitor agreed to."""

    @property
    def key(self) -> str:
        """The visitor over all sites: ids are unique per site only."""
        return f"{self.site.id}:{self.visitor_id}"


def known_caller() -> Caller:
    """The visitor whose token stands in the Authorization header.

    Raises ApiError: 401 without a valid token, 403 for a page that the site does not list, 404 when
    the site is gone.
    """
    token = bearer_token()
    if not token:
        raise ApiError(
            401, "token_missing", f"Send a visitor token as Authorization: Bearer TOKEN. {NEW_TOKEN}"
        )
    try:
        visitor = visitor_tokens().read(token)
    except TokenExpired:
        raise ApiError(401, "token_expired", f"The visitor token has expired. {NEW_TOKEN}") from None
    except TokenInvalid:
        raise ApiError(
            401, "token_invalid", f"The visitor token was not made by this server. {NEW_TOKEN}"
        ) from None
    site = known_site(visitor.site_id)
    # Without an Origin header it is no cross-origin page: those cannot leave the header out.
    if (origin := calling_origin(site)) and origin != visitor.origin:
        raise ApiError(401, "token_invalid", f"The visitor token was made for another origin. {NEW_TOKEN}")
    return Caller(visitor.id, site, visitor.consent)


def require_consent(caller: Caller) -> None:
    """For what stores words of the visitor. Raises ApiError 401 when the site wants a consent that the token
    does not have, as after its text was changed; a renewal then asks for it."""
    consent = Consent.of(caller.site.options)
    if consent.needed and caller.consent != consent.mark:
        raise ApiError(
            401, "consent_missing", f"The visitor has not agreed to the site's consent text. {NEW_TOKEN}"
        )


def known_site(site_id: str) -> Site:
    """Raises ApiError 404."""
    site = recent_sites().find(site_id)
    if site is None:
        raise ApiError(
            404,
            "site_unknown",
            f"There is no site {site_id[:100]!r}. The dashboard shows each site's id in its embed tag.",
        )
    return site


def limit(rule: str, key: str) -> None:
    """Count one call. Raises ApiError 429 when the limit is exceeded."""
    if wait := shared().limits.hit(rule, key):
        raise ApiError(
            429, "rate_limited", f"That was too often ({rule}). Wait, then try again.", wait_s=wait
        )


def network_address() -> str:
    """The caller's address as limits count it."""
    return network_of(request.remote_addr or "unknown")


Model = TypeVar("Model", bound=BaseModel)


def json_body(model: type[Model]) -> Model:
    """Raises ApiError: 415 for another content type, 400 for what is no JSON, 422 for wrong
    fields; RequestEntityTooLarge."""
    if request.mimetype != "application/json":
        raise ApiError(
            415, "unsupported_media_type", "Send the body as JSON with Content-Type: application/json."
        )
    try:
        return model.model_validate_json(_content())
    except ValidationError as error:
        raise _refusal(error) from None


def message_text(text: str, missing: str, name: str = "message") -> str:
    """`text` of the field `name` without the space around it. Raises ApiError 422 with `missing` when nothing
    is left, and when it is longer than MESSAGE_CHARS."""
    # PostgreSQL stores no NUL, and no message needs one.
    found = text.replace("\x00", " ").strip()
    longest = configuration().settings.limits.message_chars
    if not found:
        raise ApiError(422, "message_empty", missing)
    if len(found) > longest:
        raise ApiError(
            422, "message_too_long", f"The {name} has {len(found)} characters; send at most {longest}."
        )
    return found


def _content() -> bytes:
    body = request.get_data(cache=False)
    # Of a body that does not say its length, Werkzeug gives the first part up to the limit.
    if request.content_length is None and len(body) >= current_app.config["MAX_CONTENT_LENGTH"]:
        raise RequestEntityTooLarge
    return body


def _refusal(error: ValidationError) -> ApiError:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return ApiError(
            400, "invalid_json", f"The body is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}."
        )
    field = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if not field:
        return ApiError(422, "invalid_request", f"{message}.")
    return ApiError(422, "invalid_request", f"{field}: {message}.")
