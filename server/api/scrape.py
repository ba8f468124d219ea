"""GET /metrics: what Prometheus reads, on a port of its own or with a token."""

from hmac import compare_digest

from flask import Flask, Response, abort, current_app, request

from server.api.access import configuration
from server.api.caller import bearer_token
from server.api.errors import ApiError
from server.metrics import exposition

PATH = "/metrics"


def register_scrape(app: Flask) -> None:
    """Add the address. Nothing else is served on the port of metrics."""
    app.before_request(_keep_apart)
    app.add_url_rule(PATH, "metrics", metrics)


def _keep_apart() -> None:
    if request.path != PATH and _is_own_port():
        abort(404)


def _is_own_port() -> bool:
    port = configuration().base.serving.metrics_port
    return bool(port) and request.server is not None and request.server[1] == port


def metrics() -> Response:
    """The metrics of all processes on this data folder."""
    token = configuration().base.serving.metrics_token
    if not _is_own_port():
        if not token:
            abort(404)
        if not compare_digest(bearer_token().encode(), token.encode()):
            text = "Send METRICS_TOKEN as Authorization: Bearer TOKEN."
            raise ApiError(401, "token_invalid", text)
    registry = current_app.extensions.get("docent-metrics")
    if registry is None:
        raise ApiError(503, "unavailable", "This process does not count; its log says why.")
    text_and_type = exposition(registry)
    response = Response(text_and_type[0], content_type=text_and_type[1])
    response.headers["Cache-Control"] = "no-store"
    return response
