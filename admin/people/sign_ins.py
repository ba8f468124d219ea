"""Where each person has signed in before, as the audit log has it."""

import ipaddress

from flask import request

from admin.formats import browser
from server.api.access import people_stores

SIGNED_IN = "logged in"
LOOKED_AT = 200
"""The latest sign-ins of a person that count."""


def knows_network(email: str) -> bool:
    """Whether the account with this address was signed in to from the caller's network before."""
    return _network(request.remote_addr) in {network for network, _ in _before(email)}


def note_sign_in(email: str) -> None:
    """Record a sign-in."""
    details = {
        "address": request.remote_addr or "",
        "browser": browser(request.headers.get("User-Agent", "")),
    }
    people_stores().audit.add(email, SIGNED_IN, "", details)


def _before(email: str) -> set[tuple[str, str]]:
    """(network, browser) of earlier sign-ins."""
    entries = people_stores().audit.recent(LOOKED_AT, operator=email.strip().lower(), action=SIGNED_IN)
    return {(_network(one.details.get("address")), one.details.get("browser", "")) for one in entries}


def _network(address: str | None) -> str:
    """The network that an address is likely to change within: /24, or /48 of IPv6."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))
