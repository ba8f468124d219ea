"""Who calls, from which page and network address, and whether it is too often."""

import ipaddress
from dataclasses import dataclass

from flask import request

from server.api.access import recent_sites, shared, visitor_tokens
from server.api.errors import ApiError
from server.api.origins import calling_origin
from server.api.visitor.tokens import TokenExpired, TokenInvalid
from server.domain.site import Site
from server.domain.visiting import Consent

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
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiError(
            401, "token_missing", f"Send a visitor token as Authorization: Bearer TOKEN. {NEW_TOKEN}"
        )
    try:
        visitor = visitor_tokens().read(token.strip())
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
    """Counts one. Raises ApiError 429 when it is one too many."""
    if wait := shared().limits.hit(rule, key):
        raise ApiError(
            429, "rate_limited", f"That was too often ({rule}). Wait, then try again.", wait_s=wait
        )


def network_address() -> str:
    """The caller's address as limits count it: of IPv6 the network, for one household has 2^64."""
    address = request.remote_addr or "unknown"
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, 64), strict=False))
    return address
