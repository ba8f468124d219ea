"""Pages that say "not found" although the server says 200.

Each origin, and each folder right below it, is asked once for an address that cannot exist. A page that
looks like the answer to that is no page. A site that answers every address with its start page (one
made of scripts) is told by that: there the answer says nothing, and its pages are kept.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from crawler import urls
from crawler.extractors import Extraction
from crawler.not_found_phrases import says_not_found
from crawler.options import CrawlOptions
from crawler.page import Page

Fetch = Callable[[str], Extraction | None]
_MOST_PLACES = 50
_ALIKE = 0.9
"""Share of words in common with the answer to a made-up address."""
_MOST_OWN_WORDS = 3
_SHORT_PAGE = 700
"""Characters. The headline of a longer page is not believed when it says that the page is none."""
_BRIEF_PAGE = 2500
"""Only for a page as short as this its folder is asked too."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a place says to a made-up address, without the words of that address; no words when the server
    says rightly that nothing is there."""

    title: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


class Soft404:
    """Safe to use from many threads. `fetch` gets an address and gives what stands there; None when the
    status is not 200, when it leads elsewhere, or when it failed."""

    def __init__(self, options: CrawlOptions, fetch: Fetch) -> None:
        self._options = options
        self._fetch = fetch
        self._answers: dict[str, _Answer] = {}
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def reason(self, url: str, page: Page, status: int = 200) -> str:
        """Why this page is none; empty when it is one."""
        if not self._options.soft_404 or status != 200 or self._is_start(url):
            return ""
        size = sum(len(block.text) for block in page.blocks)
        if size <= _SHORT_PAGE and says_not_found(page.title):
            return f'a page that says it is not there: "{page.title[:80]}" (status 200)'
        places = _places(url) if size <= _BRIEF_PAGE else _places(url)[:1]
        if any(_alike(page, url, self._answer(place)) for place in places):
            return "the server gives the same page for an address that does not exist (status 200)"
        return ""

    def _is_start(self, url: str) -> bool:
        return url in self._options.start_urls or urls.path_and_query(url) == "/"

    def _answer(self, place: str) -> _Answer:
        with self._lock:  # one request per place; those who ask for the same place wait
            lock = self._locks.setdefault(place, threading.Lock())
        with lock:
            if place not in self._answers:
                known = len(self._answers) < _MOST_PLACES
                self._answers[place] = self._asked(place) if known else _Answer()
            return self._answers[place]

    def _asked(self, place: str) -> _Answer:
        made_up = f"{place}{secrets.token_hex(6)}-{secrets.token_hex(4)}"
        found = self._fetch(made_up)
        if found is None or not found.page.blocks:
            return _Answer()
        answer = _answer_of(found.page, made_up)
        start = self._fetch(f"{urls.origin(place)}/")
        if start is not None and _alike(start.page, f"{urls.origin(place)}/", answer):
            return _Answer()  # every address shows the start page: nothing can be told by that
        return answer


def _places(url: str) -> list[str]:
    """The folder at the top that the address stands in, and its origin; both end with "/"."""
    top = urls.origin(url) + "/"
    first, slash, _ = url[len(top) :].partition("?")[0].partition("/")
    return [top, f"{top}{first}/"] if slash and first else [top]


def _answer_of(page: Page, url: str) -> _Answer:
    asked = _words_of(url)
    title = tuple(word for word in _WORD.findall(page.title.casefold()) if word not in asked)
    return _Answer(title, frozenset(_WORD.findall(page.text.casefold())) - asked)


def _alike(page: Page, url: str, answer: _Answer) -> bool:
    """Apart from the words of either address: such pages repeat what was asked for."""
    if not answer.words:
        return False
    asked, found = _words_of(url), _answer_of(page, url)
    if found.title != tuple(word for word in answer.title if word not in asked):
        return False
    words = answer.words - asked
    if len(found.words - words) > _MOST_OWN_WORDS:
        return False  # much of it is the site's menu, but it has something to say
    return len(found.words & words) >= _ALIKE * len(found.words | words)


def _words_of(url: str) -> set[str]:
    parts = urlsplit(url)
    return set(_WORD.findall(unquote(f"{parts.path} {parts.query}").casefold()))
