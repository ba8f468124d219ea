"""Detects pages that nearly every site has, by title and address: about, contact and the main pages."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from urllib.parse import unquote, urlsplit

from crawler.judging.page_kinds import POST
from server.domain.addresses import stored
from server.domain.chunk import Chunk
from server.domain.sentences import main_first, plain_title
from server.domain.site import Site
from server.languages.loader import alternatives, compiled
from server.storage.content.reader import ContentReader

SAMPLE = 3000
"""Maximum number of pages examined."""
SHORTEST = 3
"""Titles up to this many characters are ignored."""
_ABOUT = (
    compiled(alternatives(lambda one: one.key_pages.about)),
    compiled(rf"(?:{alternatives(lambda one: one.key_pages.about_address)})(?:[-_.]\w+)?"),
)
_CONTACT = (
    compiled(alternatives(lambda one: one.key_pages.contact)),
    compiled(rf"(?:{alternatives(lambda one: one.key_pages.contact_address)})(?:[-_.]\w+)?"),
)
"""Patterns for the beginning of a page's title, and for the last part of its address."""
_FOLDED_AWAY = re.compile(r"[?!.:»«\"]+")


class KeyPages:
    """Key pages of one site, detected on first use."""

    def __init__(self, site: Site, content: ContentReader, address: Callable[[str], str], base: str) -> None:
        """`address` returns the address that visitors open. Uploaded pages are stored relative to `base`."""
        self._site = site
        self._content = content
        self._address = address
        self._start = tuple(stored(url, base) for url in site.start_urls)

    @cached_property
    def _pages(self) -> Sequence[tuple[str, str]]:
        pages = self._content.pages(limit=SAMPLE)
        own = [page for page in pages if not self._site.language or page.language == self._site.language]
        return main_first([(page.url, page.title) for page in own or pages])

    @cached_property
    def about(self) -> tuple[str, ...]:
        """Stored addresses of pages that may describe the site: the start pages, then "about" pages."""
        start = tuple(url for url in self._start if self._content.page(url))
        named = self._named(*_ABOUT)
        return tuple(dict.fromkeys((*start, *named)))

    @cached_property
    def contact(self) -> str:
        """Stored address of the contact page; empty when there is none."""
        return next(iter(self._named(*_CONTACT)), "")

    @cached_property
    def contact_link(self) -> tuple[str, str] | None:
        """(address, words) of the first link of the start page that is named like a contact page, such as
        "Contact us": where the site has no contact page, it may lead to another website."""
        links = (link for url in self._start[:1] for link in self._content.links(url))
        return next((link for link in links if _is_contact(*link)), None)

    def chunks(self, url: str) -> list[Chunk]:
        """Return the chunks of a page, with the address that visitors open."""
        return [replace(chunk, url=self._address(chunk.url)) for chunk in self._content.page(url)]

    def newest(self, limit: int, language: str, until: date) -> list[Chunk]:
        """Return the first chunks of the newest posts, in a language if there are any in it, at most one of
        each title, with the address that visitors open."""
        found: dict[str, Chunk] = {}
        for chunk in self._content.newest(POST, language, until, 4 * limit):
            found.setdefault(chunk.title, replace(chunk, url=self._address(chunk.url)))
        return list(found.values())[:limit]

    def main(self, limit: int) -> tuple[tuple[str, str], ...]:
        """Return (address, title) of the site's main pages."""
        found: dict[str, str] = {}
        for url, title in self._pages:
            if url not in self._start and len(plain_title(title)) > SHORTEST:
                found.setdefault(plain_title(title), self._address(url))
        return tuple((url, title) for title, url in found.items())[:limit]

    def _named(self, by_title: re.Pattern[str], by_address: re.Pattern[str]) -> list[str]:
        """Return stored addresses of pages whose title begins, or whose address ends, with such words."""
        own = {word for word in re.findall(r"\w{4,}", (self._site.title or self._site.name).lower())}
        ranked = []
        for place, (url, name) in enumerate(self._pages):
            begins = by_title.search(_FOLDED_AWAY.sub(" ", plain_title(name)).strip())
            named = by_address.fullmatch(_last_part(url))
            if named or (begins and (begins.start() == 0 or not begins.group().isascii())):
                names_site = bool(own.intersection(re.findall(r"\w+", name.lower())))
                ranked.append((not (begins and names_site), not (named and begins), place, url))
        return [url for *_, url in sorted(ranked)]


def _is_contact(url: str, words: str) -> bool:
    found = _CONTACT[0].fullmatch(_FOLDED_AWAY.sub(" ", words).strip())
    return bool(found) and url.startswith(("http://", "https://"))


def _last_part(url: str) -> str:
    return unquote(urlsplit(url).path.rstrip("/").rsplit("/", 1)[-1])
