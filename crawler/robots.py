"""robots.txt as RFC 9309 wants it: one file per origin, read once, errors handled by kind."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from protego import Protego

from crawler import urls
from crawler.errors import FetchError
from crawler.fetcher import Fetcher
from crawler.options import CrawlOptions

_LARGEST = 512 * 1024


@dataclass(frozen=True, slots=True)
class Verdict:
    """May a URL be fetched?"""

    allowed: bool
    reason: str = ""
    unreachable: bool = False
    """The host did not answer at all: an error rather than a rule."""


@dataclass(frozen=True, slots=True)
class _Rules:
    parsed: Protego | None = None
    text: str = ""
    refusal: Verdict | None = None
    """What holds for every URL, when the file could not be read."""


class Robots:
    """Rules of all hosts of a crawl. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher) -> None:
        self._options = options
        self._fetcher = fetcher
        self._rules: dict[str, _Rules] = {}
        self._lock = threading.Lock()

    def verdict(self, url: str) -> Verdict:
        """Whether robots.txt lets us fetch `url`, and which line forbids it."""
        if not self._options.obey_robots:
            return Verdict(True)
        rules = self._rules_of(urls.origin(url))
        if rules.refusal:
            return rules.refusal
        token = self._options.robots_token
        if rules.parsed is None or rules.parsed.can_fetch(url, token):
            return Verdict(True)
        return Verdict(False, f'robots.txt forbids it ("{_forbidding_line(rules.text, url, token)}")')

    def delay_s(self, url: str) -> float:
        """Seconds between requests that the host asks for; 0 when it does not."""
        parsed = self._rules_of(urls.origin(url)).parsed if self._options.obey_robots else None
        delay = parsed.crawl_delay(self._options.robots_token) if parsed else None
        return min(float(delay or 0.0), self._options.max_delay_s)

    def sitemaps(self, url: str) -> list[str]:
        """Sitemaps that the host's robots.txt names."""
        parsed = self._rules_of(urls.origin(url)).parsed
        found = (urls.canonical(address, url) for address in (parsed.sitemaps if parsed else ()))
        return list(dict.fromkeys(address for address in found if address))

    def _rules_of(self, origin: str) -> _Rules:
        with self._lock:  # one request per origin; the others wait for its answer
            if origin not in self._rules:
                self._rules[origin] = self._load(origin)
            return self._rules[origin]

    def _load(self, origin: str) -> _Rules:
        for attempt in range(self._options.retries + 1):
            try:
                reply = self._fetcher.get_following(f"{origin}/robots.txt", max_bytes=_LARGEST)
            except FetchError as error:
                if error.kind == "too_large":  # nobody needs that much: read as no rules
                    return _Rules()
                if not error.retry or attempt == self._options.retries:
                    return _Rules(refusal=Verdict(False, str(error), unreachable=True))
                continue
            if reply.status == 200:
                text = reply.body.decode("utf-8", "replace").lstrip("\ufeff")
                return _Rules(Protego.parse(text), text)
            if reply.status < 500 and reply.status != 429:
                return _Rules()
        reason = f"robots.txt could not be read (status {reply.status}), so nothing is fetched for now"
        return _Rules(refusal=Verdict(False, reason))


def _forbidding_line(text: str, url: str, token: str) -> str:
    """The line that decides: the one without which the URL would be allowed."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip().lower().startswith("disallow"):
            without = "\n".join(lines[:number] + lines[number + 1 :])
            if Protego.parse(without).can_fetch(url, token):
                return line.partition("#")[0].strip()
    return "Disallow"
