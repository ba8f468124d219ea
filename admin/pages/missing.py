"""Any other address below /admin/: the dashboard's own page instead of the API's error."""

from __future__ import annotations

from flask import abort
from flask.typing import ResponseReturnValue

from admin.page import Page

page = Page()


@page.get("/<path:anything>")
def missing(anything: str) -> ResponseReturnValue:
    abort(404)
