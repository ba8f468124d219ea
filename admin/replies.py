"""What forms and links answer with: a page that says what happened, a file, or the progress of a panel."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Response, current_app, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from admin.audit import unchanged


def done(message: str, endpoint: str, **values: str | int) -> ResponseReturnValue:
    """Lead to a page that says what was done. Its address keeps what this one has in common."""
    flash(message, "done")
    return _page(endpoint, values)


def refused(message: str, endpoint: str, **values: str | int) -> ResponseReturnValue:
    """Lead to a page that says why nothing was changed. The audit log gets no entry."""
    unchanged()
    flash(message, "problem")
    return _page(endpoint, values)


def _page(endpoint: str, values: dict[str, str | int]) -> ResponseReturnValue:
    name, given = f"admin.{endpoint}", request.view_args or {}
    kept = {part: given[part] for part in given if current_app.url_map.is_endpoint_expecting(name, part)}
    return redirect(url_for(name, **{**kept, **values}))


def download(body: str | bytes | Iterable[str] | Iterable[bytes], name: str, mimetype: str) -> Response:
    """A file to save under this name; pieces are sent while they are read."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, mimetype=mimetype, headers=headers)


def progress(template: str, *, active: bool, version: str, **shown: object) -> ResponseReturnValue:
    """A panel as it is now, polled by progress.js: `active` asks for another poll, and another `version` says
    that there is something new to see."""
    return {"active": active, "version": version, "html": render_template(template, **shown)}
