"""What a page says of itself to crawlers, beside what stands in its markup."""

from __future__ import annotations

from crawler import urls
from crawler.extractors.html.metadata import robots_words

_NOT_ADDRESSEES = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def robots_header(value: str, token: str) -> frozenset[str]:
    """Words of X-Robots-Tag that are meant for us: "otherbot: noindex" is not."""
    words: set[str] = set()
    addressee = ""
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip().lower() not in _NOT_ADDRESSEES:
            addressee, part = name.strip().lower(), rest
        if addressee in ("", token.lower()):
            words |= robots_words(part)
    return frozenset(words)


def is_believable_canonical(canonical: str, url: str) -> bool:
    """Broken templates declare every page a copy of the home page: that would lose the site."""
    if not canonical or canonical == url or urls.site_key(canonical) != urls.site_key(url):
        return False
    return urls.path_and_query(canonical) != "/" or urls.without_index(url) == canonical or "?" in url
