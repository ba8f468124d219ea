"""Under which hosts this server answers: a page that came by another name could pass for one of its own."""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Flask, request

from server.api.access import configuration
from server.api.errors import ApiError
from server.settings.serving import ServingSettings

PROBES = ("/healthz", "/readyz")
"""Load balancers ask for them by any address."""
_HERE = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::")


def register_hosts(app: Flask) -> None:
    """Refuse requests for other hosts, before anything else looks at them."""
    app.before_request(_check_host)


def _check_host() -> None:
    """Raises ApiError 400."""
    if request.path in PROBES or is_allowed(request.host, configuration().base.serving):
        return
    raise ApiError(
        400,
        "host_not_allowed",
        f"This server does not answer as {request.host[:200]!r}. Set PUBLIC_URL to the address that visitors "
        "use, or add the host to ALLOWED_HOSTS.",
    )


@lru_cache(maxsize=256)
def is_allowed(host: str, serving: ServingSettings) -> bool:
    """Return whether the server answers to a Host header. A name in ALLOWED_HOSTS that begins with a dot
    stands for all names below it, and * for every host."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    listed = {one.strip().lower() for one in serving.allowed_hosts.split(",") if one.strip()}
    own = urlsplit(serving.public_url).hostname or ""
    if name in {*_HERE, *listed} - {""} or "*" in listed or (own and name == own):
        return True
    if any(one.startswith(".") and name.endswith(one) for one in listed):
        return True
    if listed or own:
        return False
    # Without both, it is reached as it was started: an address cannot be another site's name.
    return name == serving.host.lower() or (serving.host in _EVERYWHERE and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
