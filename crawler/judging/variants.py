"""Pages in several languages that are variants of one page.

Each page is read alone, so its group is a name that its variants work out too: the shortest of the addresses
that it declares with hreflang or in its menu of languages and its own, without the language in it.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

_LANGUAGE = r"([a-z]{2,3})(?:[-_][a-z]{2,4})?"
_MARKS = (
    re.compile(rf"(?<=[^/:])/{_LANGUAGE}(?=/|$)", re.I),
    re.compile(rf"(?<=//){_LANGUAGE}\.(?=[^/]+\.)", re.I),
    re.compile(rf"[._]{_LANGUAGE}(?=\.\w{{2,5}}$)", re.I),
    re.compile(rf"[?&](?:lang|language|locale|hl|l)={_LANGUAGE}(?=&|$)", re.I),
)
"""Places of a language in an address: "/es/", "es.shop.example", "intro.es.html", "?lang=es"."""


def variant_group(url: str, language: str, alternates: Iterable[tuple[str, str]]) -> str:
    """Return the name of the group of a page in this language; "" if its language is unknown. `alternates`
    are (language, absolute address) of the variants that it declares; an unusable address is empty."""
    if not language:
        return ""
    declared = [_without(address, spoken) for spoken, address in alternates if address]
    return min((*declared, _without(url, language)), key=lambda name: (len(name), name))


def _without(url: str, language: str) -> str:
    """Return the address without the first mark of this language, and without a slash at its end."""
    for mark in _MARKS:
        for found in mark.finditer(url):
            if found[1].lower() == language:
                return (url[: found.start()] + url[found.end() :]).rstrip("/")
    return url.rstrip("/")


def on_a_level(url: str, language: str, linked: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield those of the (language, address) of a menu of languages that are as deep as the page: the others
    are start pages, to which many menus lead from everywhere."""
    depth = _depth(_without(url, language))
    for spoken, address in linked:
        if address and _depth(_without(address, spoken)) == depth:
            yield spoken, address


def _depth(url: str) -> int:
    return urlsplit(url).path.count("/")
