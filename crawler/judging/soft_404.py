"""Pages that say "not found" although the server says 200.

The crawler requests one address that cannot exist from each origin and from each folder right below it. A
page that looks like that answer is not a page. Sites made of scripts answer every address with their start
page: there the answer proves nothing, and the pages stay.
"""

import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from crawler.discovery import urls
from crawler.extractors import Extraction
from crawler.options import CrawlOptions
from crawler.page import Page
from crawler.wordset import tables_of

Fetch = Callable[[str], Extraction | None]
_MOST_PLACES = 50
_ALIKE = 0.9
"""Share of words in common with the answer to a made-up address."""
_MOST_OWN_WORDS = 3
_SHORT_PAGE = 700
"""Characters. A longer page is kept even if its headline says "not found"."""
_BRIEF_PAGE = 2500
"""Only for a page as short as this its folder is asked too."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The page for a made-up address, without the words of that address; no words for a proper 404."""

    title: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


class Soft404:
    """Detects such pages. Safe to use from many threads.

    `fetch` returns the page at an address; None when the status is not 200, for a redirect, or on failure.
    """

    def __init__(self, options: CrawlOptions, fetch: Fetch) -> None:
        self._options = options
        self._fetch = fetch
        self._answers: dict[str, _Answer] = {}
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def reason(self, url: str, page: Page, status: int = 200) -> str:
        """Return why this is a "not found" page; empty when it is a real one."""
        is_start = url in self._options.start_urls or urls.path_and_query(url) == "/"
        if not self._options.soft_404 or status != 200 or is_start:
            return ""
        size = sum(len(block.text) for block in page.blocks)
        if size <= _SHORT_PAGE and says_not_found(page.title):
            return f'a page that says it is not there: "{page.title[:80]}" (status 200)'
        places = _places(url) if size <= _BRIEF_PAGE else _places(url)[:1]
        if any(_alike(page, url, self._answer(place)) for place in places):
            return "the server gives the same page for an address that does not exist (status 200)"
        return ""

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
            return _Answer()  # every address shows the start page: that proves nothing
        return answer


def _places(url: str) -> list[str]:
    """Return the origin of the address, and its top folder if it has one; both end with "/"."""
    top = urls.origin(url) + "/"
    first, slash, _ = url[len(top) :].partition("?")[0].partition("/")
    return [top, f"{top}{first}/"] if slash and first else [top]


def _answer_of(page: Page, url: str) -> _Answer:
    asked = _words_of(url)
    title = tuple(word for word in _WORD.findall(page.title.casefold()) if word not in asked)
    return _Answer(title, frozenset(_WORD.findall(page.text.casefold())) - asked)


def _alike(page: Page, url: str, answer: _Answer) -> bool:
    """Compare without the words of both addresses, since such pages repeat the requested address."""
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


_NO_WORD = re.compile(r"[^\w\u0e31-\u0e4e\u0900-\u0963]+")
_SEPARATOR = re.compile(r"\s+[|·•»«–—-]+\s+|[|｜:：]\s*")


def _folded(text: str) -> str:
    return _NO_WORD.sub(" ", text.casefold()).strip()


_PHRASES = tables_of(__file__, "not_found.toml")
_HEADLINES = frozenset(map(_folded, _PHRASES["headlines"]))
_APOLOGY = re.compile(rf"^(?:(?:{'|'.join(map(re.escape, _PHRASES['apologies']))}) )+")


def says_not_found(headline: str) -> bool:
    """Return whether a headline says "not found" and no more; a dash or a bar may set off the site's name.

    "Page not found | Acme" does, "How to mend page not found errors" does not.
    """
    parts = [headline, *_SEPARATOR.split(headline)]
    return any(_APOLOGY.sub("", _folded(part)) in _HEADLINES for part in parts)
