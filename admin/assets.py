"""Addresses of the dashboard's own files, which change with their content so that caches may keep them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from flask import url_for

FOLDER = Path(__file__).parent / "static"


def asset(name: str) -> str:
    """Address of a file in static/."""
    return url_for("admin.static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]
