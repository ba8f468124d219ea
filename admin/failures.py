"""Pages for what cannot be shown, each saying what to do next."""

from __future__ import annotations

import logging

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from admin.page import Page
from server.domain.roles import Role

log = logging.getLogger(__name__)


def form_expired(error: Exception) -> ResponseReturnValue:
    """A form without a valid token: from another site, or older than the session."""
    log.warning("form refused at %s: %s", request.path, error)
    return _page(
        "This form was not sent",
        "It was opened before you logged in or out, or it does not come from this dashboard. "
        "Nothing was changed. Go back, load the page again and send it once more.",
        400,
    )


def not_found(error: Exception) -> ResponseReturnValue:
    """A site, crawl, conversation or page that does not exist, or does not exist any more."""
    return _page(
        "Not found",
        "There is nothing at this address: it was deleted, or the link is wrong. "
        "Start from the overview, or choose from the menu.",
        404,
    )


def not_allowed(role: Role, needed: Role) -> ResponseReturnValue:
    """What this operator's role is not enough for."""
    if request.accept_mimetypes.best == "application/json":
        return {"error": {"code": "not_allowed", "message": f"This needs the role {needed}."}}, 403
    return _page(
        "Your role is not enough for this",
        f"Your role is {role}; this needs the role {needed}. Nothing was changed. Ask an owner of this "
        "Docent to do it, or to change your role under Settings.",
        403,
    )


def too_large(error: Exception) -> ResponseReturnValue:
    """A form that is larger than it may be."""
    return _page(
        "This is too large",
        "Nothing was stored. Upload fewer files at once, or raise SOURCES_UPLOAD_BYTES and "
        "SOURCES_FILE_BYTES. A folder on the server is added in the shell with “sources add”.",
        413,
    )


def store_failed(error: Exception) -> ResponseReturnValue:
    """The database did not answer."""
    log.error("%s failed: %s", request.path, error)
    return _page("The database does not answer", f"{error}. Load the page again when that is repaired.", 503)


def _page(title: str, explanation: str, status: int) -> ResponseReturnValue:
    return render_template("admin/failure.html", title=title, explanation=explanation), status


page = Page()


@page.get("/<path:anything>")
def missing(anything: str) -> ResponseReturnValue:
    abort(404)
