"""robots.txt according to RFC 9309: one file per origin, read once, errors handled by kind.

This module decides which groups of rules apply: all groups that name our product token, in any case;
without any, all groups for "*". Protego matches addresses against rules. It is generous with names (a group
for "Doc" would bind "DocentBot"), so it gets only the rules that apply.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from protego import Protego

from crawler.discovery import urls
from crawler.errors import FetchError
from crawler.fetching import preferences
from crawler.fetching.fetcher import Fetcher
from crawler.options import CrawlOptions

_READ = 512 * 1024
"""Bytes that are read; the standard allows ignoring the rest."""
_LARGEST = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched."""

    allowed: bool
    reason: str = ""
    unreachable: bool = False
    """The host did not answer at all: an error rather than a rule."""


@dataclass(frozen=True, slots=True)
class RobotsSummary:
    """What the robots.txt of a host says to this crawler, for people."""

    rules: tuple[str, ...]
    """As written: those for this crawler if there are any, else those for everyone."""
    delay_s: float
    sitemaps: tuple[str, ...]
    problem: str = ""
    """Why it could not be read, and what follows from that."""
    preferences: tuple[str, ...] = ()
    """The AI preferences for this crawler, as written."""
    refusal: str = ""
    """The one that forbids our use of the address that was asked about, in words."""


class Robots:
    """The rules of all hosts of a crawl. Safe to use from many threads."""

    def __init__(self, options: CrawlOptions, fetcher: Fetcher) -> None:
        self._options = options
        self._fetcher = fetcher
        self._known: dict[str, RobotsRules] = {}
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    def verdict(self, url: str) -> RobotsVerdict:
        """Return whether robots.txt permits fetching `url`, and which line forbids it."""
        if not self._options.obey_robots:
            return RobotsVerdict(True)
        rules = self._rules(url)
        if rules.refusal:
            return rules.refusal
        line = rules.forbidding_line(url)
        return RobotsVerdict(True) if line is None else RobotsVerdict(False, _named(line))

    def refusing_preference(self, url: str) -> str:
        """Return the AI preference that forbids our use of `url`, in words; empty when none does."""
        if not self._options.obey_robots:
            return ""
        line = self._rules(url).refusing_line(url)
        return _named(line) if line else ""

    def delay_s(self, url: str) -> float:
        """Return the seconds between requests that the host asks for; 0 when it does not."""
        if not self._options.obey_robots:
            return 0.0
        return min(self._rules(url).crawl_delay, self._options.max_delay_s)

    def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps that the host's robots.txt names."""
        found = (urls.canonical(address, url) for address in self._rules(url).sitemaps)
        return list(dict.fromkeys(address for address in found if address))

    def summary(self, url: str) -> RobotsSummary:
        """Return the summary for the host of `url`."""
        rules = self._rules(url)
        return RobotsSummary(
            tuple(line.text for line in rules.rules),
            self.delay_s(url),
            tuple(self.sitemaps(url)),
            rules.refusal.reason if rules.refusal else "",
            tuple(one.line.text for one in rules.preferences),
            self.refusing_preference(url),
        )

    def _rules(self, url: str) -> RobotsRules:
        origin = urls.origin(url)
        rules = self._known.get(origin)
        if rules is not None:
            return rules
        with self._lock:  # one request per origin; those who ask for the same one wait
            lock = self._locks.setdefault(origin, threading.Lock())
        with lock:
            if origin not in self._known:
                self._known[origin] = self._load(origin)
            return self._known[origin]

    def _load(self, origin: str) -> RobotsRules:
        for attempt in range(self._options.retries + 1):
            try:
                reply = self._fetcher.get_following(f"{origin}/robots.txt", max_bytes=_LARGEST)
            except FetchError as error:
                if error.kind == "too_large" and error.received:
                    return self._parsed(error.received)
                if not error.retry or attempt == self._options.retries:
                    reason = f"robots.txt could not be read: {error}"
                    verdict = RobotsVerdict(False, reason, unreachable=error.kind != "too_large")
                    return RobotsRules(refusal=verdict)
                continue
            if reply.status == 200:
                return self._parsed(reply.body)
            if reply.status < 500 and reply.status != 429:
                return RobotsRules()
        reason = f"robots.txt could not be read (status {reply.status}), so nothing is fetched for now"
        return RobotsRules(refusal=RobotsVerdict(False, reason))

    def _parsed(self, body: bytes) -> RobotsRules:
        head = body[:_READ]
        if len(body) > _READ:  # not half a line: "Disallow: /a" may be the beginning of "/about"
            head = head[: max(head.rfind(b"\n"), head.rfind(b"\r")) + 1]
        text = head.decode("utf-8", "replace").lstrip("\ufeff")
        return RobotsRules.parse(text, self._options.robots_token)


def _named(line: tuple[int, str]) -> str:
    return f'robots.txt line {line[0]}: "{line[1]}"'


_LINE_END = re.compile(r"\r\n|\n|\r")
_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_RULES = _DISALLOW | {"allow", *preferences.NAMES}
_TOKEN = re.compile(r"[a-zA-Z_-]+")
_PLAIN = re.compile(r"[A-Za-z0-9/._~-]*")
_PATH_AND_VALUE = re.compile(r"(?:(/[^ \t]*)[ \t]*)?(.*)")
_LONGEST_LINE = 8192


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    name: str
    value: str
    text: str


@dataclass(slots=True)
class _Group:
    rules: list[_Line] = field(default_factory=list)
    delay: float = 0.0
    named: bool = False


class Preference:
    """A line with AI preferences, for the paths that begin like `path`; empty: for all."""

    def __init__(self, line: _Line) -> None:
        self.line = line
        path, value = _PATH_AND_VALUE.fullmatch(line.value).groups()  # type: ignore[union-attr]
        self.path = path or ""
        self.stated = preferences.stated(line.name, value)
        self._parsed = _protego([_Line(0, "disallow", self.path, "")]) if self.path else None

    def matches(self, url: str) -> bool:
        return self._parsed is None or not self._parsed.can_fetch(url, "*")


class RobotsRules:
    """The rules of one robots.txt that apply to this crawler. Safe to use from many threads."""

    def __init__(
        self,
        lines: Sequence[_Line] = (),
        crawl_delay: float = 0.0,
        sitemaps: Sequence[str] = (),
        refusal: RobotsVerdict | None = None,
    ) -> None:
        self.rules = [line for line in lines if line.name not in preferences.NAMES]
        self.preferences = [Preference(line) for line in lines if line.name in preferences.NAMES]
        """Those that apply."""
        self._parsed = _protego(self.rules) if self.rules else None
        self.crawl_delay = crawl_delay
        """Seconds; 0 without a Crawl-delay."""
        self.sitemaps = sitemaps
        """As written."""
        self.refusal = refusal
        """What holds for every URL, when the file could not be read."""

    @classmethod
    def parse(cls, text: str, token: str) -> RobotsRules:
        """Return the rules in `text` for the crawler named `token`. Never fails."""
        ours, everyone, sitemaps = _Group(), _Group(), []
        group: list[_Group] = []
        naming = False
        for line in _lines(text):
            if line.name in _AGENT:
                group = group if naming else []
                naming = True
                if line.value == "*":
                    group.append(everyone)
                elif _product(line.value) == token.lower():
                    ours.named = True
                    group.append(ours)
            elif line.name in _RULES:
                naming = False
                for part in group:
                    part.rules.append(line)
            elif line.name in ("sitemap", "sitemaps", "site-map") and line.value:
                sitemaps.append(line.value)
            elif line.name in ("crawl-delay", "crawl delay"):
                for part in group:
                    part.delay = _seconds(line.value)
        chosen = ours if ours.named else everyone
        return cls([line for line in chosen.rules if line.value], chosen.delay, sitemaps)

    def preferences_for(self, url: str) -> list[Preference]:
        """Return the AI preferences for `url`: of each notation those with the longest path."""
        matching = [one for one in self.preferences if one.matches(url)]
        longest: dict[str, int] = {}
        for one in matching:
            longest[one.line.name] = max(longest.get(one.line.name, 0), len(one.path))
        return [one for one in matching if len(one.path) == longest[one.line.name]]

    def refusing_line(self, url: str) -> tuple[int, str] | None:
        """Return number and text of the AI preference that forbids our use of `url`, if one does."""
        for one in self.preferences_for(url):
            if preferences.forbids_us(one.stated):
                return one.line.number, one.line.text
        return None

    def forbidding_line(self, url: str) -> tuple[int, str] | None:
        """Return number and text of the line that forbids `url`; None when it is permitted."""
        if self._parsed is None or self._parsed.can_fetch(url, "*"):
            return None
        return self._deciding(url)

    def _deciding(self, url: str) -> tuple[int, str]:
        """Return the longest rule that forbids `url` by itself: the longest match wins."""
        where = urls.path_and_query(url)
        matching = [
            line
            for line in self.rules
            if line.name in _DISALLOW
            and where.startswith(_PLAIN.match(line.value)[0])  # type: ignore[index]
            and not _protego([line]).can_fetch(url, "*")
        ]
        line = max(matching, key=lambda line: len(line.value))
        return line.number, line.text


def _lines(text: str) -> Iterator[_Line]:
    for number, raw in enumerate(_LINE_END.split(text), 1):
        written = raw.partition("#")[0].strip()
        if written and len(written) <= _LONGEST_LINE:
            name, colon, value = written.partition(":")
            if not colon or " " in name.strip().lower().removeprefix("user ").removeprefix("crawl "):
                name, _, value = written.partition(" ")  # "Disallow /a", "Sitemap https://..."
            yield _Line(number, name.strip().lower(), value.strip(), written)


def _protego(rules: list[_Line]) -> Protego:
    written = (f"{'Disallow' if line.name in _DISALLOW else 'Allow'}: {line.value}" for line in rules)
    return Protego.parse("\n".join(("User-agent: *", *written)))


def _product(value: str) -> str:
    """ "DocentBot/1.0 (x)" -> "docentbot"."""
    match = _TOKEN.match(value)
    return match[0].lower() if match else ""


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
