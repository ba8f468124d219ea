"""The rules of one robots.txt that concern us, and the lines in which they stand.

Which groups of rules are ours is decided here, as RFC 9309 says: all groups that name our product token,
whatever its case; without any, all groups for "*". What a rule matches is decided by Protego, which is
generous with names (a group for "Doc" would bind "DocentBot"), so it is given our rules only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from protego import Protego

from crawler import urls

_LINE_END = re.compile(r"\r\n|\n|\r")
_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_RULES = _DISALLOW | {"allow"}
_TOKEN = re.compile(r"[a-zA-Z_-]+")
_PLAIN = re.compile(r"[A-Za-z0-9/._~-]*")
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


class RobotsRules:
    """Safe to use from many threads."""

    NONE: ClassVar[RobotsRules]

    def __init__(self, rules: list[_Line], crawl_delay: float, sitemaps: list[str]) -> None:
        self._rules = rules
        self._parsed = _protego(rules) if rules else None
        self.crawl_delay = crawl_delay
        """Seconds; 0 when none is asked for."""
        self.sitemaps = sitemaps
        """As written."""

    @classmethod
    def parse(cls, text: str, token: str) -> RobotsRules:
        """What `text` says to the crawler that is called `token`. Never fails."""
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

    @property
    def lines(self) -> list[str]:
        """The rules that hold for us, as they are written."""
        return [line.text for line in self._rules]

    def forbidding_line(self, url: str) -> tuple[int, str] | None:
        """Number and text of the line that keeps us from `url`; None when we may fetch it."""
        if self._parsed is None or self._parsed.can_fetch(url, "*"):
            return None
        return self._deciding(url)

    def _deciding(self, url: str) -> tuple[int, str]:
        """The longest rule that matches wins, so it is the longest of those that forbid the URL alone."""
        where = urls.path_and_query(url)
        matching = [
            line
            for line in self._rules
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


RobotsRules.NONE = RobotsRules([], 0.0, [])
