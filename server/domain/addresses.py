"""Addresses of pages that Docent serves itself: kept as paths, to outlive a change of PUBLIC_URL."""

from __future__ import annotations


def absolute(url: str, base: str) -> str:
    """Where a visitor opens a page: `url` itself, or below `base`, which has no slash at its end."""
    return f"{base}{url}" if url.startswith("/") else url


def stored(url: str, base: str) -> str:
    """What `absolute` made, as it is stored."""
    return url.removeprefix(base) if url.startswith(f"{base}/sources/") else url
