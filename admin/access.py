"""How the pages reach the rest of Docent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flask import current_app

if TYPE_CHECKING:
    from server.runtime.container import Services


def services() -> Services:
    """The services of the application that answers this request."""
    return cast("Services", current_app.extensions["docent"])
