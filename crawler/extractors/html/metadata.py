"""The head of a page: title, language, site, canonical address, instructions for crawlers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml.etree import _Element

from crawler.extractors.language import primary_language
from crawler.extractors.text import fold, plain_text

TITLE_SEPARATOR = re.compile(r"\s+[|·•»«›‹:—–-]+\s+|\s*[|｜·»]\s*")
"""Between a page's own title and the name of its site."""
_SEPARATORS = " |·•»«›‹:—–-｜"
_EMPTY_TITLES = frozenset({"", "untitled", "untitled document", "document", "index", "home", "title"})
_REFRESH = re.compile(r"^\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_LONGEST_REFRESH_S = 10
_LONGEST_DESCRIPTION = 1_000
FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"}
)


@dataclass(frozen=True, slots=True)
class Head:
    """Values as declared, without guesses."""

    title: str
    site_name: str
    language: str
    canonical: str
    """Address as written, maybe relative."""
    robots: frozenset[str]
    refresh: str
    """Target of a meta refresh that fires within seconds, as written."""
    base: str
    feeds: tuple[str, ...] = ()
    """Addresses as written."""
    description: str = ""
    metas: Mapping[str, str] = field(default_factory=dict)
    """Contents of the <meta> elements by name, in lower case."""
    alternates: tuple[tuple[str, str], ...] = ()
    """(language, address as written) of the page's variants in other languages."""


def read_head(root: _Element) -> Head:
    """Read the elements of <head> wherever they are: a picture, with which a page counts its visitors, or a
    <div> ends the head, and the tree has the rest of it in the body."""
    metas = _metas(root)
    titles = (fold(plain_text(element)) for element in root.iter("title") if not _names_icon(element))
    title = next(filter(None, titles), "")
    return Head(
        title=_named(root, title, metas.get("og:title", "")),
        site_name=metas.get("og:site_name", "") or metas.get("application-name", ""),
        language=_language(root, metas),
        canonical=_canonical(root),
        robots=robots_words(",".join((metas.get("robots", ""), metas.get("docentbot", "")))),
        refresh=_refresh(metas.get("http-equiv:refresh", "")),
        base=next((b.get("href") or "" for b in root.iter("base") if b.get("href")), ""),
        feeds=_feeds(root),
        description=_description(metas),
        metas=metas,
        alternates=tuple(
            (primary_language(link.get("hreflang") or ""), link.get("href") or "")
            for link in root.iter("link")
            if link.get("hreflang") and "alternate" in (link.get("rel") or "").lower()
        ),
    )


def _named(root: _Element, title: str, shared_as: str) -> str:
    """The title, or the name under which the page is shared if only that is one of its headings: some sites
    have one <title> for all pages."""
    if not title or not shared_as or shared_as in title:
        return title or shared_as
    headings = {fold(plain_text(heading)) for heading in root.iter("h1", "h2")} - {""}
    return shared_as if shared_as in headings and not any(map(title.__contains__, headings)) else title


def marks_every_page(head: Head) -> bool:
    """Return whether the program that made the page marks every page with a date as an article, be it the
    contact page. Jekyll does."""
    return head.metas.get("generator", "").startswith("Jekyll")


def robots_words(text: str) -> frozenset[str]:
    """ "noindex, NoFollow" -> {"noindex", "nofollow"}; "none" means both."""
    words = {word.strip().lower() for word in text.split(",")} - {""}
    return frozenset(words | {"noindex", "nofollow"} if "none" in words else words)


def choose_title(head: Head, first_heading: str, *, is_start: bool) -> tuple[str, str]:
    """The page's own title without the site's name, and the site's name if it is known. Only the start page
    may be called by the site's name alone.

    "Prices — Acme Garden" with the heading "Prices" -> ("Prices", "Acme Garden")
    """
    title = head.title
    if title.casefold() in _EMPTY_TITLES:
        return first_heading or title, head.site_name
    if first_heading and title.startswith(first_heading):
        rest = TITLE_SEPARATOR.match(title[len(first_heading) :])
        suffix = title[len(first_heading) + rest.end() :] if rest else ""
        return first_heading, head.site_name or suffix
    if first_heading and title.endswith(first_heading):
        return first_heading, head.site_name
    parts = [part for part in TITLE_SEPARATOR.split(title) if part]
    if len(parts) > 1 and parts[0].casefold() in first_heading.casefold():
        return first_heading, head.site_name
    own = _without_site(title, head.site_name)
    if own.strip(_SEPARATORS) in ("", head.site_name):
        own = (is_start and head.site_name) or first_heading or head.site_name
    return own, head.site_name


def _without_site(title: str, site_name: str) -> str:
    if not site_name or site_name not in title:
        return title
    for separator in TITLE_SEPARATOR.finditer(title):
        if title[separator.end() :] == site_name:
            return title[: separator.start()]
        if title[: separator.start()] == site_name:
            return title[separator.end() :]
    return title


def _names_icon(title: _Element) -> bool:
    return next(title.iterancestors("svg"), None) is not None


def _metas(root: _Element) -> dict[str, str]:
    """name, property or http-equiv -> content; the first of a name wins, robots are joined."""
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        content = fold(meta.get("content") or "")
        name = (meta.get("name") or meta.get("property") or "").lower()
        if not name and meta.get("http-equiv"):
            name = "http-equiv:" + (meta.get("http-equiv") or "").lower()
        if name == "robots" and name in found:
            found[name] += "," + content
        elif name and content:
            found.setdefault(name, content)
    return found


def _description(metas: dict[str, str]) -> str:
    names = ("description", "og:description", "twitter:description")
    return next((metas[name] for name in names if name in metas), "")[:_LONGEST_DESCRIPTION]


def _language(root: _Element, metas: dict[str, str]) -> str:
    names = [root.get("lang"), root.get("{http://www.w3.org/XML/1998/namespace}lang"), root.get("xml:lang")]
    body = root.find("body")
    if body is not None:
        names.append(body.get("lang"))
    names += [metas.get("http-equiv:content-language"), metas.get("og:locale"), metas.get("language")]
    return next((primary_language(name) for name in names if name and primary_language(name)), "")


def _canonical(root: _Element) -> str:
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split():
            return (link.get("href") or "").strip()
    return ""


def _feeds(root: _Element) -> tuple[str, ...]:
    found = (
        link.get("href") or ""
        for link in root.iter("link")
        if (link.get("type") or "").partition(";")[0].strip().lower() in FEED_TYPES
        and "alternate" in (link.get("rel") or "").lower().split()
    )
    return tuple(dict.fromkeys(href.strip() for href in found if href.strip()))


def _refresh(content: str) -> str:
    match = _REFRESH.match(content)
    return match[2].strip() if match and int(match[1]) <= _LONGEST_REFRESH_S else ""
