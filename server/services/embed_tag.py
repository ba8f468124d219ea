"""The widget's tag in the HTML of a page, and whether the page's policy lets it work."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

LOADER = "/widget/embed.js"
NEEDED = ("script-src", "connect-src")
"""Directives of a Content-Security-Policy in which the widget's server must stand."""


@dataclass(slots=True)
class PageTags:
    """What a page says about the widget."""

    loaders: list[tuple[str, str]] = field(default_factory=list)
    """(address of the loader, site that it names) of each tag."""
    elements: list[str] = field(default_factory=list)
    """Sites of elements that stand in the page by hand; empty where they name none."""
    policies: list[str] = field(default_factory=list)
    """In meta elements."""


def tags_of(html: str, base: str) -> PageTags:
    """Of any HTML, however broken; `base` is the page's address."""
    parser = _Parser(base)
    parser.feed(html)
    parser.close()
    return parser.found


def hindrance(policy: str, server: str) -> str:
    """The first directive of a Content-Security-Policy that keeps the widget of `server`, an origin, from
    working; empty when it may work."""
    rules = {parts[0].lower(): parts[1:] for rule in policy.split(";") if (parts := rule.split())}
    for name in NEEDED:
        sources = rules.get(name, rules.get("default-src"))
        if sources is not None and not any(_fits(source, server) for source in sources):
            return name if name in rules else "default-src"
    return ""


def _fits(source: str, server: str) -> bool:
    own, source = urlsplit(server), source.lower()
    if source in ("*", f"{own.scheme}:", server, own.netloc):
        return True
    try:
        given = urlsplit(source if "://" in source else f"//{source}")
    except ValueError:  # no browser would know it either
        return False
    if given.scheme and given.scheme != own.scheme:
        return False
    if (given.netloc or "") == own.netloc:
        return True
    return given.netloc.startswith("*.") and own.netloc.endswith(given.netloc[1:])


class _Parser(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self.found = PageTags()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "base" and given.get("href"):
            self._base = self._whole(given["href"]) or self._base
        elif tag == "script" and (address := self._whole(given.get("src", ""))):
            if urlsplit(address).path.endswith(LOADER):
                self.found.loaders.append((address, given.get("data-site", "")))
        elif tag == "site-chat":
            self.found.elements.append(given.get("site", ""))
        elif tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.found.policies.append(given.get("content", ""))

    def _whole(self, address: str) -> str:
        """The address as the page means it; empty for what is none."""
        try:
            return urljoin(self._base, address.strip()) if address.strip() else ""
        except ValueError:
            return ""
