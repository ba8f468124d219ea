"""RSS, Atom and JSON feeds: addresses of what is new on a site."""

from __future__ import annotations

import json

from crawler import urls
from crawler.sitemap_file import entries

FEED_TYPES = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/feed+json",
        "application/rdf+xml",
    }
)
"""Media types by which pages name their feeds."""
_MOST = 1000
_LARGEST = 10 * 1024 * 1024


def feed_urls(body: bytes, content_type: str, base: str) -> list[str]:
    """Canonical addresses of the feed's entries, each once; none for what is no feed. Never fails.

    `content_type` may be wrong or empty, as it often is; `base` is the feed's own address.
    """
    is_json = "json" in content_type or body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
    written = _of_json(body) if is_json else [entry.address for entry in entries(body, _MOST, _LARGEST)]
    found = (urls.canonical(address, base) for address in written)
    return list(dict.fromkeys(url for url in found if url))


def _of_json(body: bytes) -> list[str]:
    try:
        value = json.loads(body[:_LARGEST])
    except (ValueError, RecursionError):
        return []
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return []
    named = [item.get("url") or item.get("external_url") for item in items[:_MOST] if isinstance(item, dict)]
    return [address for address in named if isinstance(address, str)]
