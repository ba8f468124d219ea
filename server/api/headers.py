"""What every response tells the browser about safety."""

from __future__ import annotations

from flask import Flask, Response

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
NOTHING = "default-src 'none'; frame-ancestors 'none'"


def register_headers(app: Flask) -> None:
    """Adds them to every response; a route that sets one itself keeps its own."""
    app.after_request(_secured)


def _secured(response: Response) -> Response:
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "strict-origin-when-cross-origin")
    policy = POLICY if response.mimetype == "text/html" else NOTHING
    response.headers.setdefault("Content-Security-Policy", policy)
    return response
