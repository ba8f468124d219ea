"""The audit log: every form that changed something leaves an entry, without its view having to think of it.

A view says more with `changed("removed the answer", answer=7)`; without that the entry has the endpoint.
Values of fields go into an entry only where the view hands them over: forms hold passwords and keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Response, g, request

from server.api.access import people_stores

if TYPE_CHECKING:
    from server.storage.people.operators import Operator

_UNWRITTEN = 400
"""Responses from this status on changed nothing."""


def changed(action: str, site_id: str = "", **details: object) -> None:
    """What this request did. Called again, it adds a further entry. `details` are JSON-like."""
    g.setdefault("changes", []).append((action, site_id, details))


def unchanged() -> None:
    """This form only looked something up, or ended in nothing: no entry."""
    g.changes = None


def note(operator: Operator, action: str, **details: object) -> None:
    """What somebody did who was not logged in when the request began."""
    people_stores().audit.add(operator.email, action, "", details)


def note_login(operator: Operator) -> None:
    """Each login, with the address that it came from."""
    note(operator, "logged in", address=request.remote_addr or "")


def write_audit(response: Response) -> Response:
    """After each request: the entries of what it changed, by whom."""
    operator = g.get("operator")
    noted = g.get("changes", [])
    if request.method != "POST" or operator is None or response.status_code >= _UNWRITTEN or noted is None:
        return response
    values = request.view_args or {}
    if not noted:
        action = (request.endpoint or "").removeprefix("admin.").replace("_", " ")
        noted = [(action, "", {name: value for name, value in values.items() if name != "site_id"})]
    for action, site_id, details in noted:
        people_stores().audit.add(operator.email, action, site_id or str(values.get("site_id", "")), details)
    return response
