"""What forms answer with, and the audit log that keeps what each of them changed."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO

from flask import (
    Response,
    abort,
    current_app,
    flash,
    g,
    redirect,
    render_template,
    request,
    send_file,
    url_for,
)
from flask.typing import ResponseReturnValue

from admin.formats import role_word
from admin.page import Page
from admin.people.sessions import came_from, is_script, safe_next
from admin.texts import _, lazy
from server.api.access import configuration, people_stores
from server.api.refusals import refused_access
from server.domain.roles import Role

if TYPE_CHECKING:
    from server.backup.shape import Manifest
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
    """What somebody did who was not logged in when the request began, or is not when it ends."""
    people_stores().audit.add(operator.email, action, "", details)


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


def done(message: str, endpoint: str, **values: str | int) -> ResponseReturnValue:
    """Lead to a page that says what was done. Its address keeps what this one has in common."""
    flash(message, "done")
    return _page(endpoint, values)


def nothing_done(message: str, endpoint: str) -> ResponseReturnValue:
    """Lead to a page that says that there was nothing to do. The audit log gets no entry."""
    unchanged()
    return done(message, endpoint)


def refused(message: str, endpoint: str, **values: str | int) -> ResponseReturnValue:
    """Lead to a page that says why nothing was changed. The audit log gets no entry."""
    unchanged()
    flash(message, "problem")
    return _page(endpoint, values)


def to_next(otherwise: str) -> ResponseReturnValue:
    """Lead to the page of the dashboard that the form names as `next`, or else to another."""
    return redirect(safe_next(request.form.get("next") or otherwise))


def _page(endpoint: str, values: dict[str, str | int]) -> ResponseReturnValue:
    name, given = f"admin.{endpoint}", request.view_args or {}
    kept = {part: given[part] for part in given if current_app.url_map.is_endpoint_expecting(name, part)}
    return redirect(url_for(name, **{**kept, **values}))


def download(
    body: str | bytes | Iterable[str] | Iterable[bytes],
    name: str,
    mimetype: str,
    *,
    action: str = "downloaded a file",
    site_id: str = "",
    **details: object,
) -> Response:
    """A file to save under this name; pieces are sent while they are read. The audit log gets an entry."""
    site_id = site_id or str((request.view_args or {}).get("site_id", ""))
    people_stores().audit.add(g.operator.email, action, site_id, {"file": name, **details})
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=mimetype, headers=headers)


def zip_download(write: Callable[[BinaryIO], Manifest], name: str) -> tuple[Response, Manifest]:
    """A backup that `write` makes, and what is in it. It is written to disk first, so that a slow download
    holds no transaction open."""
    file = tempfile.TemporaryFile(dir=configuration().folder.path)  # noqa: SIM115  the response closes it
    try:
        manifest = write(file)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    name = f"docent-{name}{datetime.now(UTC):%Y-%m-%d-%H%M}.zip"
    answer = send_file(file, mimetype="application/zip", as_attachment=True, download_name=name, max_age=0)
    answer.call_on_close(file.close)
    return answer, manifest


def progress(template: str, *, active: bool, version: str, **shown: object) -> ResponseReturnValue:
    """A panel as it is now, polled by progress.js: `active` asks for another poll, and another `version` says
    that there is something new to see."""
    return {"active": active, "version": version, "html": render_template(template, **shown)}


log = logging.getLogger(__name__)


def form_expired(error: Exception) -> ResponseReturnValue:
    """A form without a valid token: from another site, or older than the session."""
    log.info("form refused at %s: %s", request.path, error)
    refused_access("form without a valid token")
    return _failure(
        _("This form was not sent"),
        _(
            "It was opened before you logged in or out, or it does not come from this dashboard. "
            "Nothing was changed. Open the page again and send it once more."
        ),
        400,
        came_from(),
    )


def login_needed() -> ResponseReturnValue:
    """For a form that was sent after the session expired. The page of the form opens after the login."""
    flash(_("You were logged out, so nothing was saved. Log in and send the form again."), "problem")
    return redirect(url_for("admin.login", next=came_from(), unsent=1))


def script_error(code: str, message: str, status: int) -> ResponseReturnValue:
    """What a script of a page gets in place of a page."""
    return {"error": {"code": code, "message": message}}, status


def not_allowed(role: Role, needed: Role) -> ResponseReturnValue:
    """What this operator's role is not enough for."""
    refused_access("not allowed for the role", g.operator.email)
    if is_script():
        return script_error("not_allowed", f"This needs the role {needed}.", 403)
    return _failure(
        _("Your role is not enough for this"),
        _(
            "Your role is %(role)s; this needs the role %(needed)s. Nothing was changed. Ask an owner "
            "to do it, or to change your role under Settings.",
            role=role_word(role),
            needed=role_word(needed),
        ),
        403,
    )


def store_failed(error: Exception) -> ResponseReturnValue:
    """The database did not answer."""
    log.error("%s failed: %s", request.path, error)
    return _failure(
        _("The database does not answer"),
        _("%(error)s. Load the page again when that is repaired.", error=error),
        503,
    )


def _failure(title: str, explanation: str, status: int, unsent: str = "") -> ResponseReturnValue:
    """`unsent` is the page of a form that was not taken."""
    said = {"title": title, "explanation": explanation, "unsent": unsent}
    return render_template("admin/failure.html", **said), status


def _handler(title: str, explanation: str, status: int) -> Callable[..., ResponseReturnValue]:
    return lambda *_: _failure(title, explanation, status)


_not_found = _handler(
    lazy("Not found"),
    lazy(
        "There is nothing at this address: it was deleted, or the link is wrong. "
        "Start from the overview, or choose from the menu."
    ),
    404,
)


def not_found(error: Exception) -> ResponseReturnValue:
    """Nothing is there. An address that only takes forms leads to the page above: a form that was refused
    showed its page under that address, and it is opened again by reloading."""
    urls, address = current_app.create_url_adapter(request), request.path
    if urls and request.method == "GET" and urls.test(address, "POST"):
        rule, _values = urls.match(address, "POST", return_rule=True)
        while request.url_rule and rule.rule != request.url_rule.rule:
            address = address.rpartition("/")[0]
            if urls.test(address, "GET") and urls.match(address, "GET")[0] != "admin.missing":
                return redirect(request.script_root + address)
    return _not_found(error)


sign_in_unavailable = _handler(
    lazy("Nobody can sign in at the moment"),
    lazy(
        "There are too many sign-ins at once, or they cannot be counted. Nothing was changed. "
        "Try again in a minute. If it goes on, read the server’s log: the disk or Redis may be down."
    ),
    503,
)
only_some_sites = _handler(
    lazy("This needs access to all sites"),
    lazy(
        "You have access to some of the sites. Nothing was changed. Ask an owner to do it, or to "
        "give you access to all sites."
    ),
    403,
)
too_large = _handler(
    lazy("This is too large"),
    lazy(
        "Nothing was stored. Upload fewer files at once, or ask the person who runs the server to allow "
        "larger uploads."
    ),
    413,
)

page = Page()


@page.get("/<path:anything>")
def missing(anything: str) -> ResponseReturnValue:
    abort(404)
