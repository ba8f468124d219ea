"""What happened to each account, as the audit log has it."""

import ipaddress

from flask import request

from admin.formats import browser
from admin.letters import tell
from admin.texts import lazy
from server.api.access import people_stores
from server.storage.people.operators import Operator

SIGNED_IN = "logged in"
LOOKED_AT = 200
"""The latest sign-ins of a person that count."""
EVENTS = frozenset({
    SIGNED_IN, "was refused", "changed the own password", "set a new password by a link",
    "asked for a new password by e-mail", "made a link for a new password", "turned the second factor on",
    "added a passkey", "removed a passkey", "linked an account of single sign-on",
    "turned the second factor off", "turned a second factor off", "made new recovery codes", "changed a role",
})  # fmt: skip
"""What the page of the own account shows."""


def knows_network(email: str) -> bool:
    """Whether the account with this address was signed in to from the caller's network before."""
    return _network(request.remote_addr) in {network for network, _ in _before(email)}


def note_sign_in(operator: Operator, **how: str) -> None:
    """Record a sign-in, and tell the person if it came from a new network or browser."""
    network, with_browser = _network(request.remote_addr), browser(request.headers.get("User-Agent", ""))
    before = _before(operator.email)
    browsers = {one for _, one in before if one}
    is_new = network not in {one for one, _ in before} or (bool(browsers) and with_browser not in browsers)
    details: dict[str, object] = {"address": request.remote_addr or "", "browser": with_browser, **how}
    if before and is_new:
        details["new"] = True
        tell(operator.email, lazy("Someone logged in from a new place or browser."))
    people_stores().audit.add(operator.email, SIGNED_IN, "", details)


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
