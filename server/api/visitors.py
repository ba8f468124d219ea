"""Visitors: their tokens, and their right to be forgotten."""

from __future__ import annotations

from flask import Response, jsonify

from server.api.access import services, visitor_tokens
from server.api.bodies import json_body
from server.api.caller import known_caller, known_site, limit, network_address
from server.api.origins import calling_origin
from server.api.schemas import VisitorRequest


def issue_token() -> Response:
    """POST /api/v1/visitors: a token for the calling page's visitor."""
    body = json_body(VisitorRequest)
    limit(services().settings.token_limit, f"token:{network_address()}")
    site = known_site(body.site)
    token = visitor_tokens().issue(site.id, calling_origin(site), body.visitor)
    return jsonify(token=token, expires_in=visitor_tokens().lifetime_s)


def erase() -> Response:
    """DELETE /api/v1/visitors/me: erases everything that the visitor said and was answered."""
    caller = known_caller()
    return jsonify(erased=services().conversations.erase_visitor(caller.site.id, caller.visitor_id))
