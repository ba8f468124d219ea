"""The widget as browsers load it: a small loader that browsers ask for again, and modules that never change
under their address, for the address holds a hash of all of them.
"""

import gzip
import hashlib
import posixpath
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import brotli
from flask import Blueprint, Response, abort, request

TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".ico": "image/x-icon",
    ".txt": "text/plain",
    ".xml": "application/xml",
}
"""Endings that are served, and as what."""
COMPRESSIBLE = frozenset(
    ("text/javascript", "text/css", "text/html", "image/svg+xml", "text/plain", "application/xml")
)


@dataclass(frozen=True, slots=True)
class Asset:
    """Content with its type."""

    body: bytes
    mimetype: str

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with the content."""
        return hashlib.sha256(self.body).hexdigest()[:16]


def asset_response(asset: Asset, cache_control: str) -> Response:
    """The asset in the smallest form that the browser takes; 304 when it has it already."""
    encoding = _encoding(asset)
    response = Response(_encoded(asset, encoding), mimetype=asset.mimetype)
    response.headers["Cache-Control"] = cache_control
    if asset.mimetype in COMPRESSIBLE:
        response.headers["Vary"] = "Accept-Encoding"
    if encoding:
        response.headers["Content-Encoding"] = encoding
    response.set_etag(f"{asset.digest}-{encoding}" if encoding else asset.digest)
    response.make_conditional(request)
    return response


def _encoding(asset: Asset) -> str:
    if asset.mimetype not in COMPRESSIBLE or len(asset.body) < 500:
        return ""
    for encoding in ("br", "gzip"):
        if request.accept_encodings[encoding] > 0:
            return encoding
    return ""


@lru_cache(maxsize=512)
def _encoded(asset: Asset, encoding: str) -> bytes:
    if encoding == "br":
        compressed: bytes = brotli.compress(asset.body, quality=11)
        return compressed
    if encoding == "gzip":
        return gzip.compress(asset.body, 9, mtime=0)
    return asset.body


# A module with all that it imports, as one script.
#
# A visitor then makes one request instead of one for each module, and what repeats in several modules is
# compressed once: together 15 % less to fetch. There is no build step: it is done when the files are read,
# and the modules work unjoined too.


IMPORT = re.compile(r'^import \{\s*([\w\s,]*?),?\s*\} from "(\./[\w./-]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:const|class|function\*?|async function\*?) (\w+))", re.M)
_DECLARED = re.compile(
    r"^(?:export )?(?:const|let|class|function\*?|async function\*?) (?:(\w+)|[\[{]([^=]*)[\]}])", re.M
)
_OTHER = re.compile(r"^(?:import\b(?!\s*[(.])|export\b).*", re.M)


class JoinError(ValueError):
    """A module that is written in another way than the few that are joined; says which line."""


@dataclass(frozen=True, slots=True)
class Module:
    """One script without its imports and without the word `export`."""

    body: str
    imports: tuple[str, ...]
    """Paths of the modules that it imports."""
    exports: tuple[str, ...]


def joined(path: str, sources: Mapping[str, str]) -> str:
    """The module at `path` of `sources` (text by path) with its imports. They share a scope, for what is in
    one scope is smaller; one that declares a name again has a scope of its own.

    Modules may say `import { a, b } from "./x.js";` and `export` before a const, class or function. Raises
    JoinError for anything else, for a missing module, for a circle, and for a name that two of them export.
    """
    if not IMPORT.search(sources[path]):
        return sources[path]
    order: dict[str, Module] = {}
    _visit(path, sources, order, ())
    entry = order.pop(path)
    names = [name for module in order.values() for name in module.exports]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise JoinError(f"{path}: several modules export {', '.join(twice)}; give each a name of its own")
    taken = set() if entry.exports else _declared(entry.body)
    parts = []
    for module in order.values():
        declared = _declared(module.body)
        parts.append(_scoped(module) if declared & taken else EXPORT.sub("", module.body))
        taken |= declared
    if entry.exports:
        return _scoped(Module("\n".join(parts), (), _imported(sources[path]))) + entry.body
    return "(() => {\n" + "\n".join([*parts, entry.body]) + "\n})();\n"


def _scoped(module: Module) -> str:
    names = ", ".join(module.exports)
    body = EXPORT.sub("", module.body)
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"


def _declared(body: str) -> set[str]:
    """Names of the scope of a module."""
    return {name for one, several in _DECLARED.findall(body) for name in re.findall(r"\w+", one or several)}


def _imported(source: str) -> tuple[str, ...]:
    return tuple(name for names, _ in IMPORT.findall(source) for name in re.findall(r"\w+", names))


def _visit(path: str, sources: Mapping[str, str], order: dict[str, Module], above: tuple[str, ...]) -> None:
    if path in order:
        return
    if path in above:
        raise JoinError(f"{' -> '.join((*above, path))}: modules import each other in a circle")
    if path not in sources:
        raise JoinError(f"{above[-1] if above else path}: there is no module {path}")
    module = _read(path, sources)
    for imported in module.imports:
        _visit(imported, sources, order, (*above, path))
    order[path] = module


def _read(path: str, sources: Mapping[str, str]) -> Module:
    source = sources[path]
    folder = posixpath.dirname(path)
    imported = [posixpath.normpath(posixpath.join(folder, to)) for _, to in IMPORT.findall(source)]
    body = IMPORT.sub("", source)
    other = next((m.group() for m in _OTHER.finditer(body) if not EXPORT.match(body, m.start())), "")
    if other:
        raise JoinError(f"{path}: cannot be joined with: {other}")
    return Module(body, tuple(dict.fromkeys(imported)), tuple(EXPORT.findall(body)))


_STYLES = re.compile(r"(?<=`)\n[^`]*\{[^`]*(?=`)")
"""A template of several lines with a brace holds CSS; one without may be what was written as "\\n"."""


def minified(source: str) -> str:
    """A script of the widget that does the same. Where there is no minifier for this kind of computer,
    `source` itself: visitors then fetch half as much again."""
    if find_spec("minify") is None:
        return source
    import minify

    smaller: str = minify.string("application/javascript", source)
    return _STYLES.sub(lambda styles: _without_spaces(styles.group()), smaller)


def _without_spaces(css: str) -> str:
    """The library leaves templates as they are. A colon with a space after it stands in no selector."""
    css = re.sub(r" ?([{};,>!]) ?", r"\1", " ".join(css.split()))
    return css.replace(": ", ":").replace(";}", "}")


FOLDER = Path(__file__).parents[3] / "widget"
SHORT = "public, max-age=300, stale-while-revalidate=86400"
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Widget:
    """All files of the widget at one moment."""

    version: str
    files: dict[str, Asset]
    """By path under widget/."""


LOOK_S = 1.0
"""Seconds between two looks for changed files: a look takes as long as a small answer."""


class WidgetFiles:
    """Reads the folder, and again when a file in it has changed."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._looked = -LOOK_S
        self._seen: list[tuple[str, int, int]] = []
        self._widget = Widget("", {})

    def current(self) -> Widget:
        """The files as they were a second ago or later."""
        with self._lock:
            if time.monotonic() - self._looked < LOOK_S:
                return self._widget
            self._looked = time.monotonic()
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

    @blueprint.get("/embed.js", defaults={"name": "embed.js"})
    @blueprint.get("/icon.svg", defaults={"name": "demo/icon.svg"})
    def current(name: str) -> Response:
        """The loader, and the logo of every page of Docent."""
        found = files.current().files.get(name)
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
