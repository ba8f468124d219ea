"""robots.txt as RFC 9309 wants it: one file per origin, read once, errors handled by kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from crawler import urls
from crawler.errors import FetchError
from crawler.fetcher import Fetcher
from crawler.options import CrawlOptions
from crawler.robots_rules import RobotsRules

_READ = 512 * 1024
"""Bytes that are looked at; what stands behind is ignored, as the standard allows."""
_LARGEST = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Verdict:
    """May a URL be fetched?"""

    allowed: bool
    reason: str = ""
    unreachable: bool = False
    """The host did not answer at all: an error rather than a rule."""


@dataclass(frozen=True, slots=True)
class RobotsSummary:
    """What the robots.txt of a host says to us, for people."""

    rules: tuple[str, ...]
    """As written, those for us alone if there are any, else those for everyone."""
    delay_s: float
    sitemaps: tuple[str, ...]
    problem: str = ""
    """Why it could not be read, and what follows from that."""


@dataclass(frozen=True, slots=True)
class _File:
    rules: RobotsRules
    refusal: Verdict | None = None
    """What holds for every URL, when the file could not be read."""


class Robots:
    """Rules of all hosts of a crawl. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher) -> None:
        self._options = options
        self._fetcher = fetcher
        self._files: dict[str, _File] = {}
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def verdict(self, url: str) -> Verdict:
        """Whether robots.txt lets us fetch `url`, and which line forbids it."""
        if not self._options.obey_robots:
            return Verdict(True)
        file = self._file(urls.origin(url))
        if file.refusal:
            return file.refusal
        line = file.rules.forbidding_line(url)
        return Verdict(True) if line is None else Verdict(False, f'robots.txt line {line[0]}: "{line[1]}"')

    def delay_s(self, url: str) -> float:
        """Seconds between requests that the host asks for; 0 when it does not."""
        if not self._options.obey_robots:
            return 0.0
        return min(self._file(urls.origin(url)).rules.crawl_delay, self._options.max_delay_s)

    def sitemaps(self, url: str) -> list[str]:
        """Sitemaps that the host's robots.txt names."""
        named = self._file(urls.origin(url)).rules.sitemaps
        found = (urls.canonical(address, url) for address in named)
        return list(dict.fromkeys(address for address in found if address))

    def summary(self, url: str) -> RobotsSummary:
        """That of the host of `url`."""
        file = self._file(urls.origin(url))
        problem = file.refusal.reason if file.refusal else ""
        rules = tuple(file.rules.lines)
        return RobotsSummary(rules, self.delay_s(url), tuple(self.sitemaps(url)), problem)

    def _file(self, origin: str) -> _File:
        file = self._files.get(origin)
        if file is not None:
            return file
        with self._lock:  # one request per origin; those who ask for the same one wait
            lock = self._locks.setdefault(origin, threading.Lock())
        with lock:
            if origin not in self._files:
                self._files[origin] = self._load(origin)
            return self._files[origin]

    def _load(self, origin: str) -> _File:
        for attempt in range(self._options.retries + 1):
            try:
                reply = self._fetcher.get_following(f"{origin}/robots.txt", max_bytes=_LARGEST)
            except FetchError as error:
                if error.kind == "too_large" and error.received:
                    return self._parsed(error.received)
                if not error.retry or attempt == self._options.retries:
                    unreachable = error.kind != "too_large"
                    return _refused(f"robots.txt could not be read: {error}", unreachable=unreachable)
                continue
            if reply.status == 200:
                return self._parsed(reply.body)
            if reply.status < 500 and reply.status != 429:
                return _File(RobotsRules.NONE)
        return _refused(
            f"robots.txt could not be read (status {reply.status}), so nothing is fetched for now"
        )

    def _parsed(self, body: bytes) -> _File:
        head = body[:_READ]
        if len(body) > _READ:  # not half a line: "Disallow: /a" may be the beginning of "/about"
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
        text = head.decode("utf-8", "replace").lstrip("\ufeff")
        return _File(RobotsRules.parse(text, self._options.robots_token))


def _refused(reason: str, *, unreachable: bool = False) -> _File:
    return _File(RobotsRules.NONE, Verdict(False, reason, unreachable))
