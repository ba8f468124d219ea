"""What every response tells the browser about safety, and what log, metrics and traces say of its request."""

import logging
import time

from flask import Flask, Response, g, request

from server.api.access import configuration
from server.logs import known_or_new_id, request_id
from server.metrics import REQUEST_SECONDS, REQUESTS
from server.tracing import TRACEPARENT, begin_request

POLICY = "; ".join(
    (
        "default-src 'self'",
        # A widget on the server's own pages may show a picture from anywhere.
        "img-src 'self' https: data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
HSTS = "max-age=31536000"
"""For a year, browsers open this host by https only."""
NOTHING = "default-src 'none'; frame-ancestors 'none'"


def secured(response: Response) -> Response:
    """Add the security headers that the route has not set."""
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "strict-origin-when-cross-origin")
    policy = POLICY if response.mimetype == "text/html" else NOTHING
    response.headers.setdefault("Content-Security-Policy", policy)
    # Below a path, the host is another website's, whose other addresses may be plain http.
    if configuration().base.serving.base_url.startswith("https://") and not request.script_root:
        response.headers.setdefault("Strict-Transport-Security", HSTS)
    return response


log = logging.getLogger("docent.web")

QUIET = ("/widget/", "/docs/", "/demo/", "/healthz", "/readyz", "/metrics", "/admin/static/", "/favicon.ico")
"""Logged at debug level: files, and what monitoring asks every few seconds."""


def register_request_log(app: Flask) -> None:
    """A stream is logged when it ends, with its whole duration. Ids are taken from trusted proxies only."""
    app.before_request(_start)
    app.after_request(_log_at_end)


def _start() -> None:
    g.started = time.perf_counter()
    trusted = configuration().base.serving.trusted_proxies > 0
    request_id.set(known_or_new_id(request.headers.get("X-Request-ID", "") if trusted else ""))
    parent = request.headers.get(TRACEPARENT, "") if trusted else ""
    if not request.path.startswith(QUIET):
        route = request.url_rule.rule if request.url_rule else "other"
        g.end_span = begin_request(f"{request.method} {route}", parent)


def _log_at_end(response: Response) -> Response:
    started: float = g.get("started", time.perf_counter())
    end_span, part, known = g.get("end_span"), request.blueprint or "other", request_id.get()
    response.headers["X-Request-ID"] = known
    level = logging.DEBUG if request.path.startswith(QUIET) and response.status_code < 500 else logging.INFO
    # Without the query: an address may carry what a visitor typed.
    status = response.status_code
    fields: dict[str, object] = {"method": request.method, "path": _printable(request.path), "status": status}

    def end() -> None:
        seconds = time.perf_counter() - started
        line = "{method} {path} {status}".format(**fields)
        extra = {"fields": {**fields, "duration_ms": round(seconds * 1000, 1)}}
        log.log(level, "%s %.1f ms", line, seconds * 1000, extra=extra)
        REQUESTS.count(part, str(status))
        REQUEST_SECONDS.observe(seconds, part)
        if end_span:
            end_span(status)

    response.call_on_close(end)
    return response


def _printable(path: str) -> str:
    short = path[:200]
    if short.isprintable() and " " not in short:
        return short
    return "".join(char if char.isprintable() and char != " " else "?" for char in short)
