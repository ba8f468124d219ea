"""The widget as browsers load it: a small loader that is asked for anew, and modules that never change
under their address, for the address holds a hash of all of them."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path

from flask import Blueprint, Response, abort

from server.api.assets import TYPES, Asset, asset_response
from server.api.joined import joined
from server.api.minified import minified

FOLDER = Path(__file__).parents[2] / "widget"
SHORT = "public, max-age=300, stale-while-revalidate=86400"
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Widget:
    """All files of the widget at one moment."""

    version: str
    files: dict[str, Asset]
    """By path under widget/."""


class WidgetFiles:
    """Reads the folder, and again when a file in it has changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: list[tuple[str, int, int]] = []
        self._widget = Widget("", {})

    def current(self) -> Widget:
        """The files as they are now."""
        with self._lock:
            seen = sorted(
                (path.relative_to(self._folder).as_posix(), path.stat().st_mtime_ns, path.stat().st_size)
                for path in self._folder.rglob("*")
                if path.suffix in TYPES and path.is_file()
            )
            if seen != self._seen:
                self._widget, self._seen = self._read([name for name, _, _ in seen]), seen
            return self._widget

    def _read(self, names: list[str]) -> Widget:
        bodies = {name: (self._folder / name).read_bytes() for name in names}
        version = hashlib.sha256()
        for name, body in bodies.items():
            version.update(f"{name}\0{len(body)}\0".encode() + body)
        token = version.hexdigest()[:12]
        scripts = {name: body.decode() for name, body in bodies.items() if name.endswith(".js")}
        bodies |= {name: _script(name, scripts, token) for name in scripts}
        files = {name: Asset(body, TYPES[Path(name).suffix]) for name, body in bodies.items()}
        return Widget(token, files)


def _script(name: str, scripts: dict[str, str], token: str) -> bytes:
    """A script as it is sent: with its imports, in as few characters as may be."""
    return minified(joined(name, scripts).replace("__VERSION__", token)).encode()


def widget_blueprint(files: WidgetFiles) -> Blueprint:
    """The widget's addresses. Any page may load them: modules are always fetched with CORS."""
    blueprint = Blueprint("widget", __name__, url_prefix="/widget")

    @blueprint.get("/embed.js")
    def loader() -> Response:
        found = files.current().files.get("embed.js")
        return asset_response(found, SHORT) if found else abort(404)

    @blueprint.get("/v/<version>/<path:name>")
    def module(version: str, name: str) -> Response:
        widget = files.current()
        found = widget.files.get(name)
        if found is None or found.mimetype == "text/html":
            abort(404)
        # An older version is asked for by pages that still hold the older loader: they get the files of
        # today, which must not be kept under that address.
        return asset_response(found, FOREVER if version == widget.version else SHORT)

    @blueprint.after_request
    def open_to_all(response: Response) -> Response:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Timing-Allow-Origin"] = "*"
        return response

    return blueprint
