"""Under which hosts this server answers: a page that came by another name could pass for one of its own."""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import abort, redirect, request
from flask.typing import ResponseReturnValue

from server.api.access import configuration
from server.api.errors import ApiError
from server.settings.serving import ServingSettings

PROBES = ("/healthz", "/readyz", "/metrics")
"""Load balancers ask for them by any address."""
UPLOAD_PARTS = ("/docs/docs.css",)
"""What pages of uploads need."""
_HERE = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::")


def check_host() -> ResponseReturnValue | None:
    """Refuse requests for other hosts, before anything else looks at them. Raises ApiError 400, and 404 for
    anything but uploads at the address of uploads."""
    serving = configuration().base.serving
    if request.path in PROBES:
        return None
    is_upload = request.path.startswith("/sources/")
    if serving.uploads_url and _host(request.host) == _host(urlsplit(serving.uploads_url).netloc):
        if not is_upload and request.path not in UPLOAD_PARTS:
            abort(404)
        return None
    if is_allowed(request.host, serving):
        return redirect(serving.uploads_url + request.path) if is_upload and serving.uploads_url else None
    raise ApiError(
        400,
        "host_not_allowed",
        f"This server does not answer as {request.host[:200]!r}. Set PUBLIC_URL to the address that visitors "
        "use, or add the host to ALLOWED_HOSTS.",
    )


@lru_cache(maxsize=256)
def is_allowed(host: str, serving: ServingSettings) -> bool:
    """Return whether the server answers to a Host header. A name in ALLOWED_HOSTS that begins with a dot
    covers its subdomains, and * for every host."""
    name = _host(host)
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


def _host(netloc: str) -> str:
    """Return the host in lower case without its port; empty for what is none."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
