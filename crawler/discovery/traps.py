"""Endless parts of sites: calendars, filters that combine, links that grow.

They are recognised by their addresses and by how little their pages add.

The shape of an address is the address with numbers, dates and ids replaced by "#": "/item/1" and
"/item/2" are of one shape. A shape may hold any number of pages as long as they bring something new.
In a calendar, a page is new when it has a word that no other page of the shape had: "March 2031: no
events" adds nothing.
"""

import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from crawler.discovery import urls
from crawler.options import CrawlOptions

_LONGEST_CYCLE = 6
_MOST_SHAPES = 50_000
"""Further ones are not counted: a site of that many shapes is not caught by its shapes."""
_USEFUL_SHARE = 10
"""A shape with 5,000 useful pages may have 500 useless ones in a row before it is closed."""
_MOST_CALENDARS = 200
_MOST_WORDS = 5_000
"""Remembered of one calendar; one that has more is full of events."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<![0-9a-z])(?=[a-z]*[0-9])[0-9a-f]{8,}(?![0-9a-z])|\d+",
    re.IGNORECASE,
)
_YEAR = r"((?:1[5-9]|[2-9]\d)\d\d)"
_DATES = (
    re.compile(rf"(?<!\d){_YEAR}(?:[-_/.](?:0?[1-9]|1[0-2])(?!\d)|(?:0[1-9]|1[0-2])(?:[0-3]\d)?(?!\d))"),
    re.compile(rf"(?<!\d)(?:[0-3]?\d[-_/.])?[0-3]?\d[-_/.]{_YEAR}(?!\d)"),
    re.compile(rf"(?:year|jahr|annee|ano|anno|yr|y)[=/_-]{_YEAR}(?!\d)", re.IGNORECASE),
    re.compile(rf"/{_YEAR}/?$"),
)
_CALENDAR = re.compile(
    r"(?<![a-z])(?:calend|kalend|agenda|events?(?![a-z])|veranstalt|termin(?!al)|schedul|timetable|booking"
    r"|buchung|reserv|availab|month|monat|mois(?![a-z])|mes(?![a-z])|week(?!end)|woche|day(?![a-z])"
    r"|tag(?==)|dates?(?![a-z]))",
    re.IGNORECASE,
)
_BACK = 10
"""Calendars may reach this many times farther back than ahead: what happened is content."""


@dataclass(slots=True)
class _Shape:
    urls: int = 0
    useful: int = 0
    useless: int = 0
    """In a row, so far."""
    closed: str = ""
    words: set[str] | None = None
    """That its pages had; only of calendars."""


class Traps:
    """The trap rules of one crawl. Safe to use from many threads; memory is bounded."""

    def __init__(self, options: CrawlOptions) -> None:
        self._options = options
        self._starts = frozenset(options.start_urls)
        self._year = datetime.now(UTC).year
        self._shapes: dict[str, _Shape] = {}
        self._variants: dict[str, int] = {}
        self._calendars = 0
        self._hosts = {urls.site_key(url) for url in options.start_urls}
        self._lock = threading.Lock()

    def objection(self, url: str, depth: int = 1) -> str:
        """Return why a newly found address is not visited; empty when it may be.

        Counts the address: call it once for each. Start addresses (depth 0) are never refused.
        """
        if depth == 0 or url in self._starts:
            return ""
        path, _, query = urls.path_and_query(url).partition("?")
        return self._by_itself(url, path) or self._by_number(url, path, query)

    def closed(self, url: str) -> str:
        """Return why a queued address is no longer visited, because its shape was closed. Counts nothing."""
        if url in self._starts:
            return ""
        shape = self._shapes.get(shape_of(url))
        return shape.closed if shape else ""

    def learn(self, url: str, useful: bool, text: str = "") -> None:
        """Learn whether a visited address was useful, from its page's text if it has one.

        Closes shapes whose pages add nothing. Do not report network failures: they say nothing about a shape.
        """
        name = shape_of(url)
        if "#" not in name:
            return  # a single page is no pattern
        with self._lock:
            shape = self._shape(name)
            if shape is None:
                return
            if useful and text and _CALENDAR.search(name):
                useful = self._says_new_words(shape, text)
            if useful:
                shape.useful += 1
                shape.useless = 0
                return
            shape.useless += 1
            patience = max(self._options.endless_after, shape.useful // _USEFUL_SHARE)
            if shape.useless >= patience and not shape.closed:
                shape.closed = (
                    f'the pattern "{name}" looks endless: {shape.useless} pages brought nothing new'
                )

    def _says_new_words(self, shape: _Shape, text: str) -> bool:
        if shape.words is None:
            if self._calendars >= _MOST_CALENDARS:
                return True
            self._calendars += 1
            shape.words = set()
        if len(shape.words) >= _MOST_WORDS:
            return True
        before = len(shape.words)
        shape.words.update(_LETTERS.findall(text.casefold()))
        return len(shape.words) > before

    def restore(self, url: str, useful: bool | None = None) -> None:
        """Count an address found before the crawl was interrupted; give `useful` when it was visited."""
        path, _, query = urls.path_and_query(url).partition("?")
        self._by_number(url, path, query)
        if useful is not None:
            self.learn(url, useful)

    def _by_itself(self, url: str, path: str) -> str:
        parts = [part for part in path.split("/") if part]
        if len(parts) > self._options.max_path_depth:
            return f"its path has {len(parts)} parts, the limit is {self._options.max_path_depth}"
        repeated = _repeated(parts, self._options.max_repeats)
        if repeated:
            return f'its path repeats "{repeated}": a link that grows at each page'
        return self._far_date(url)

    def _far_date(self, url: str) -> str:
        """Return why a calendar page is too far from today. Old dates without a calendar are an archive."""
        where, most = urls.path_and_query(url), self._options.max_date_years
        if not most or not _CALENDAR.search(where):
            return ""
        found = next((match for date in _DATES if (match := date.search(where))), None)
        if found is None:
            return ""
        year = int(found[1])
        if year > self._year + most or year < self._year - _BACK * most:
            return f"its date lies far from today (the year {year} in a calendar)"
        return ""

    def _by_number(self, url: str, path: str, query: str) -> str:
        most_variants, most_urls = self._options.max_query_variants, self._options.max_shape_urls
        host = urls.site_key(url)
        with self._lock:
            if host not in self._hosts:
                if len(self._hosts) >= self._options.max_hosts:
                    return f"more than {self._options.max_hosts} hosts"
                self._hosts.add(host)
            name = shape_of(url)
            shape = self._shape(name) if "#" in name or query else None
            if shape is not None:
                if shape.closed:
                    return shape.closed
                if shape.urls >= most_urls:
                    return f'more than {most_urls} addresses of the pattern "{name}"'
                shape.urls += 1
            if query:
                number = self._variants.get(path, 0)
                if number >= most_variants:
                    return f'more than {most_variants} different queries of "{path}"'
                if number or len(self._variants) < _MOST_SHAPES:
                    self._variants[path] = number + 1
        return ""

    def _shape(self, name: str) -> _Shape | None:
        shape = self._shapes.get(name)
        if shape is None and len(self._shapes) < _MOST_SHAPES:
            shape = self._shapes[name] = _Shape()
        return shape


@lru_cache(maxsize=16_384)
def shape_of(url: str) -> str:
    """ "https://example.com/calendar/2031/07?day=4" -> "/calendar/#/#?day=#"; names of a query stay."""
    path, mark, query = urls.path_and_query(url).partition("?")
    shape = _ID.sub("#", path)
    if not mark:
        return shape
    names = (pair.partition("=")[0] for pair in query.split("&"))
    return f"{shape}?{'&'.join(f'{name}=#' for name in names)}"


def _repeated(parts: list[str], most: int) -> str:
    """Return the parts that repeat more than `most` times in a row: "a/b" in a/b/a/b/a/b; empty if none."""
    for length in range(1, min(_LONGEST_CYCLE, len(parts) // (most + 1)) + 1):
        run = 0
        for place in range(length, len(parts)):
            grows = parts[place] == parts[place - length] and not (length == 1 and parts[place].isdigit())
            run = run + 1 if grows else 0
            if run >= length * most:
                return "/".join(parts[place - length + 1 : place + 1])
    return ""
