"""GET /api/v1/sites/<id>/widget: what the widget must know before the first question."""

from __future__ import annotations

from flask import Response, jsonify

from server.api.access import services
from server.api.caller import known_site
from server.api.origins import calling_origin
from server.domain.site import Site


def widget(site_id: str) -> Response:
    """The public part of a site's settings."""
    site = known_site(site_id)
    calling_origin(site)
    response = jsonify(_configuration(site))
    response.headers["Cache-Control"] = "public, max-age=60"
    return response


def _configuration(site: Site) -> dict[str, object]:
    return {
        "site": site.id,
        "name": site.name,
        "title": site.title or site.name,
        "language": site.language,
        "greeting": _text(site.options.get("greeting")),
        "suggestions": [text for text in _items(site.options.get("suggestions")) if isinstance(text, str)],
        "look": _look(site.options.get("look")),
        "limits": {"message_chars": services().settings.message_chars},
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _look(value: object) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(name): text for name, text in pairs if isinstance(text, str)}
