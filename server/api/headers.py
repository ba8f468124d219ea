"""What every response tells the browser about safety."""

import logging
import time

from flask import Flask, Response, g, request

from server.api.access import configuration

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


def register_headers(app: Flask) -> None:
    """Adds them to every response; a route that sets one itself keeps its own."""
    app.after_request(_secured)


def _secured(response: Response) -> Response:
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "strict-origin-when-cross-origin")
    policy = POLICY if response.mimetype == "text/html" else NOTHING
    response.headers.setdefault("Content-Security-Policy", policy)
    # Below a path, the host is another website's, whose other addresses may be plain http.
    if configuration().base.serving.base_url.startswith("https://") and not request.script_root:
        response.headers.setdefault("Strict-Transport-Security", HSTS)
    return response


log = logging.getLogger("docent.web")

QUIET = ("/widget/", "/docs/", "/demo/", "/healthz", "/readyz", "/admin/static/", "/favicon.ico")
"""Logged at debug level: files, and what monitoring asks every few seconds."""


def register_request_log(app: Flask) -> None:
    """A stream is logged when it ends, with its whole duration."""
    app.before_request(_start)
    app.after_request(_log_at_end)


def _start() -> None:
    g.started = time.perf_counter()


def _log_at_end(response: Response) -> Response:
    started: float = g.get("started", time.perf_counter())
    level = logging.DEBUG if request.path.startswith(QUIET) and response.status_code < 500 else logging.INFO
    # Without the query: an address may carry what a visitor typed.
    line = f"{request.method} {_printable(request.path)} {response.status_code}"
    response.call_on_close(lambda: log.log(level, "%s %.1f ms", line, (time.perf_counter() - started) * 1000))
    return response


def _printable(path: str) -> str:
    short = path[:200]
    if short.isprintable() and " " not in short:
        return short
    return "".join(char if char.isprintable() and char != " " else "?" for char in short)
