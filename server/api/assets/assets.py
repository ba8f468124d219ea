"""Files and pages that are the same for everyone: compressed once, with an ETag."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache

import brotli
from flask import Response, request

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
