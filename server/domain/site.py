"""A website that Docent answers for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import uniform
from urllib.parse import urlsplit

DOCS_ID = "docs"
"""The id of the built-in site: Docent's own documentation."""
LANGUAGE = "language"
"""The key of `Site.options` for the main language where the operator chose it."""
OWN_SITE = "own_site"
"""The key of `Site.options` for the operator's own website: its AI preferences are not applied."""
CRAWL_LIMITS = {
    "max_pages": (1, 1_000_000),
    "max_depth": (0, 1000),
    "delay_s": (0, 60),
    "concurrency": (1, 64),
}
"""Limits of a crawl that a site may have of its own in `Site.options`, by the names of the crawler's options,
with the least and the most."""


@dataclass(frozen=True, slots=True)
class Site:
    """One website: where it is read, who may embed its widget, how it is searched."""

    id: str
    """Short and readable in the embed tag: lower-case letters, digits and hyphens."""
    name: str
    """What the operator calls it."""
    title: str
    """What the site calls itself; added to short questions that lack it."""
    start_urls: tuple[str, ...] = ()
    """Where its crawl begins; empty when it is made of sources alone."""
    origins: tuple[str, ...] = ()
    """Origins (scheme://host[:port]) whose pages may show the widget, beside the crawled ones."""
    language: str = ""
    """Most frequent language of its pages."""
    strategy: str = "hybrid"
    flow: str = "direct"
    options: dict[str, object] = field(default_factory=dict)
    """Crawl limits, relevance floor and look, where the operator changed a default."""
    generation: int = 0
    """The index generation that visitors are answered from; 0 when there is none yet."""
    contact_secret: str = ""
    """Signs requests to the webhook of messages; sealed."""
    crawl_headers: str = ""
    """Headers that crawls send, with the origins that they were entered for; sealed."""

    @property
    def allowed_origins(self) -> frozenset[str]:
        """Every origin that may ask: the listed ones and those of the start addresses."""
        own = (f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, self.start_urls))
        return frozenset((*own, *self.origins))

    @property
    def topics(self) -> list[tuple[str, str]]:
        """(title, address) of what the site covers; no address where an operator wrote the topic."""
        listed = self.options.get("topics")
        pairs = (
            [one if isinstance(one, list) else [one, ""] for one in listed]
            if isinstance(listed, list)
            else []
        )
        return [(str(pair[0]), str(pair[1])) for pair in pairs if len(pair) == 2]


OFF = "off"
PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
}
JITTER = 0.05
"""Share of the period by which a time may lie earlier or later, so that sites do not all begin at once."""
MOST_JITTER = timedelta(minutes=30)


def next_time(every: str, after: datetime, spread: Callable[[float, float], float] = uniform) -> datetime:
    """When a site with the schedule `every` is crawled next. `spread` picks a number between two."""
    period = PERIODS[every]
    jitter = min(period * JITTER, MOST_JITTER).total_seconds()
    return after + period + timedelta(seconds=spread(-jitter, jitter))


TONE, INSTRUCTIONS = "tone", "instructions"
"""The keys of these settings in `Site.options`."""
INSTRUCTIONS_CHARS = 1000
TONES = {
    "": "",
    "friendly": "Write warmly, as a helpful colleague would.",
    "formal": "Write formally; use the polite form of address in languages that have one.",
    "brief": "Write as briefly as can be: two sentences at most, unless steps or a table are asked for.",
    "plain": "Write in plain language: short sentences, everyday words, no jargon that the question lacks.",
}
"""Name of a tone -> what the model is told; the empty one is the model's own."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What the operator wishes of the wording. It never changes what may be said."""

    tone: str = ""
    """A key of TONES."""
    instructions: str = ""
    """In the operator's words."""

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Voice:
        """Return the site's tone and instructions; invalid values count as empty."""
        tone, text = options.get(TONE), options.get(INSTRUCTIONS)
        known = tone if isinstance(tone, str) and tone in TONES else ""
        return cls(known, text.strip()[:INSTRUCTIONS_CHARS] if isinstance(text, str) else "")

    @property
    def wishes(self) -> str:
        """For the prompt; empty when there is nothing to wish."""
        return " ".join(filter(None, (TONES[self.tone], " ".join(self.instructions.split()))))
