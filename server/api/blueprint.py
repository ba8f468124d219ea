"""The API's routes under /api/v1, with what holds for all of them."""

from __future__ import annotations

from flask import Blueprint, Response, request

from server.api.keyed.answers import add_answer_routes
from server.api.keyed.routes import add_keyed_routes
from server.api.origins import add_cors, preflight
from server.api.visitor import chat, contact, visitors
from server.api.visitor import chat as feedback
from server.api.visitor import widget as sites


def api_blueprint() -> Blueprint:
    """Made anew for each application."""
    api = Blueprint("api", __name__, url_prefix="/api/v1")
    api.before_request(_answer_preflight)
    api.after_request(add_cors)
    api.after_request(_keep_private)
    api.add_url_rule("/visitors", "visitors", visitors.issue_token, methods=["POST"])
    api.add_url_rule("/visitors/me", "erase", visitors.erase, methods=["DELETE"])
    api.add_url_rule("/chat", "chat", chat.ask, methods=["POST"])
    api.add_url_rule("/chat/events", "events", chat.resume, methods=["GET"])
    api.add_url_rule("/feedback", "feedback", feedback.judge, methods=["POST"])
    api.add_url_rule("/contact", "contact", contact.write, methods=["POST"])
    api.add_url_rule("/sites/<site_id>/widget", "widget", sites.widget, methods=["GET"])
    add_keyed_routes(api)
    add_answer_routes(api)
    return api


def _answer_preflight() -> Response | None:
    return preflight() if request.method == "OPTIONS" else None


def _keep_private(response: Response) -> Response:
    response.headers.setdefault("Cache-Control", "no-store")
    return response
