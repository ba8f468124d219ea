"""One line per request: method, path, status, duration. Never what was asked."""

from __future__ import annotations

import logging
import time

from flask import Flask, Response, g, request

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
    return "".join(char if char.isprintable() and char != " " else "?" for char in path[:200])
