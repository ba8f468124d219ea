"""Who is logged in. The cookie carries a random secret, the database knows what it stands for.

So logging out ends a session even for someone who copied the cookie, an owner can end any session, and a
login always has a secret that nobody could have planted before.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from time import time
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from flask import g, request, session, url_for

from server.api.access import configuration, people_stores

if TYPE_CHECKING:
    from server.storage.people.operators import Operator


SECOND_FACTOR_S = 300.0
"""Seconds to enter the second factor after the password."""
_SECRET, _HALF = "operator_session", "half_way"


def log_in(operator_id: int) -> None:
    """Starts a new session; whatever the old one held is gone."""
    log_out()
    lifetime = timedelta(hours=configuration().settings.limits.session_hours)
    browser = request.headers.get("User-Agent", "")
    session[_SECRET] = people_stores().sessions.start(
        operator_id, lifetime, request.remote_addr or "", browser
    )
    session.permanent = True


def idle() -> timedelta:
    """How long a session lasts without being used."""
    return timedelta(minutes=configuration().settings.limits.session_idle_minutes)


def log_out() -> None:
    """Ends the session on the server and empties the cookie."""
    secret = session.get(_SECRET)
    if isinstance(secret, str):
        people_stores().sessions.end(secret)
    session.clear()
    g.pop("operator", None)
    g.pop("operator_session", None)


def is_script() -> bool:
    """Whether a script of a page asks, and not the person: it takes JSON."""
    return request.accept_mimetypes.best == "application/json"


def current_operator() -> Operator | None:
    """The operator of this request; None when nobody is logged in."""
    if "operator" not in g:
        secret = session.get(_SECRET)
        found = None
        if isinstance(secret, str):
            # A page that polls, left open, does not keep its session.
            found = people_stores().sessions.find(secret, idle(), is_use=not is_script())
        g.operator_session, g.operator = found or (None, None)
    found_operator: Operator | None = g.operator
    return found_operator


def operator_email() -> str:
    """Who is logged in, as stores note it; for views of pages that are not public."""
    return str(g.operator.email)


def renew(operator: Operator) -> None:
    """Ends every session of the operator of this request, and starts a new one here: after a change of what
    proves who it is, or of the role."""
    people_stores().sessions.end_all(operator.id)
    log_in(operator.id)
    g.operator, g.operator_session = operator, None  # for the audit log


def wait_for_second_factor(operator: Operator, target: str) -> None:
    """The password was right; nothing is open yet. A change of the password undoes it."""
    log_out()
    session[_HALF] = [operator.id, _mark(operator), time() + SECOND_FACTOR_S, target]


def waiting_operator() -> tuple[Operator, str] | None:
    """Whose password was right a moment ago, and the page to open afterwards."""
    half = session.get(_HALF)
    if not isinstance(half, list) or len(half) != 4 or half[2] < time():
        return None
    operator = people_stores().operators.get(int(half[0]))
    if operator is None or _mark(operator) != half[1]:
        return None
    return operator, str(half[3])


def _mark(operator: Operator) -> str:
    """Changes with the password, and says nothing about it."""
    return hashlib.sha256(operator.password_hash.encode()).hexdigest()[:16]


def came_from() -> str:
    """The page of this dashboard that a form was sent from; the overview if that is not known."""
    return safe_next((request.referrer or "").removeprefix(request.host_url.rstrip("/")))


def safe_next(target: str | None) -> str:
    """`target` if it is a path of this dashboard, else the overview: never another site."""
    home = url_for("admin.overview")
    if not target or "\\" in target or any(ord(character) <= 32 for character in target):
        return home
    try:
        parts = urlsplit(target)
    except ValueError:
        return home
    inside = parts.path == home.rstrip("/") or parts.path.startswith(home)
    steps = unquote(parts.path).split("/")  # browsers read %2e%2e as two dots
    return target if inside and not parts.scheme and not parts.netloc and ".." not in steps else home
