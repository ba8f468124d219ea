"""Where to go after a login."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import url_for


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
    steps = parts.path.split("/")
    return target if inside and not parts.scheme and not parts.netloc and ".." not in steps else home
