"""Who is logged in. The cookie carries a random id, the server knows what it stands for.

So logging out ends a session even for someone who copied the cookie, and a login always has an id
that nobody could have planted before.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from flask import g, session

from admin.access import services

if TYPE_CHECKING:
    from server.storage.operators import Operator


def log_in(operator_id: int) -> None:
    """Starts a new session; whatever the old one held is gone."""
    log_out()
    identifier = secrets.token_urlsafe(32)
    lifetime = services().settings.session_hours * 3600
    services().cache.set(_key(identifier), str(operator_id), lifetime)
    session["operator_session"] = identifier
    session.permanent = True


def log_out() -> None:
    """Ends the session on the server and empties the cookie."""
    identifier = session.get("operator_session")
    if isinstance(identifier, str):
        services().cache.delete(_key(identifier))
    session.clear()
    g.pop("operator", None)


def current_operator() -> Operator | None:
    """The operator of this request; None when nobody is logged in."""
    if "operator" not in g:
        g.operator = _look_up(session.get("operator_session"))
    found: Operator | None = g.operator
    return found


def _look_up(identifier: object) -> Operator | None:
    if not isinstance(identifier, str):
        return None
    operator_id = services().cache.get(_key(identifier))
    return services().operators.get(int(operator_id)) if operator_id else None


def _key(identifier: str) -> str:
    # Hashed, so that who reads the cache's files cannot log in with what stands there.
    return "operator-session:" + hashlib.sha256(identifier.encode()).hexdigest()
