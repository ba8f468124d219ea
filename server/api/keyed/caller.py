"""Other servers that call with an API key, what each may do, and whether it is too often."""

from flask import request

from server.api.access import configuration, people_stores
from server.api.caller import known_site, limit, network_address
from server.api.errors import ApiError
from server.domain.site import Site
from server.storage.people.api_keys import MARK, ApiKey, Scope

HOW = "Send an API key as Authorization: Bearer docent_..., made on the dashboard under Settings, API keys."


def known_key() -> ApiKey:
    """The key of the Authorization header. Raises ApiError: 401 without a key that works, 429."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise ApiError(401, "key_missing", HOW)
    key = people_stores().api_keys.find(secret) if secret.startswith(MARK) else None
    if key is None:
        # Guessing is hopeless; this keeps it from costing the database.
        limit(configuration().settings.limits.api_limit, f"key-unknown:{network_address()}")
        raise ApiError(401, "key_invalid", f"This is no API key of this server. {HOW}")
    if not key.on or key.is_over:
        raise ApiError(401, "key_over", "This API key was revoked, or its time is over. Make a new one.")
    limit(configuration().settings.limits.api_limit, f"key:{key.id}")
    people_stores().api_keys.used(key)
    return key


def site_for(key: ApiKey, scope: Scope, site_id: str) -> Site:
    """The site, which the key may work on in this way. Raises ApiError: 403, 404."""
    if scope not in key.scopes:
        text = f"This needs the scope {scope.value}, which the key does not have."
        raise ApiError(403, "scope_missing", text)
    if not key.may(scope, site_id):
        # The same for sites that do not exist: the key must not tell which ones do.
        raise ApiError(403, "site_not_allowed", "The key is for another site.")
    return known_site(site_id)


def allowed(scope: Scope, site_id: str) -> tuple[ApiKey, Site]:
    """The key and the site that it may work on. Raises ApiError: 401, 403, 404, 429."""
    key = known_key()
    return key, site_for(key, scope, site_id)


def page_of_list(most: int = 100) -> tuple[int, int]:
    """(limit, offset) that `limit` and `page` ask for. Raises ApiError 422."""
    rows, page = _number("limit", 50), _number("page", 1)
    if not 1 <= rows <= most or not 1 <= page <= 1_000_000:
        raise ApiError(422, "page_invalid", f"limit is a number from 1 to {most}, page one from 1 on.")
    return rows, (page - 1) * rows


def days_asked(default: int, most: int = 3660) -> int:
    """What `days` asks for. Raises ApiError 422."""
    days = _number("days", default)
    if not 1 <= days <= most:
        raise ApiError(422, "days_invalid", f"days is a number from 1 to {most}.")
    return days


def _number(name: str, default: int) -> int:
    text = request.args.get(name, "")
    if not text:
        return default
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
