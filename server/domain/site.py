"""A website that Docent answers for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

LANGUAGE = "language"
"""The key of `Site.options` for the main language where the operator chose it."""
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
    allow_private: bool = False
    """Whether its crawl may connect to private and loopback addresses."""
    options: dict[str, object] = field(default_factory=dict)
    """Crawl limits, relevance floor and look, where the operator changed a default."""
    generation: int = 0
    """The index generation that visitors are answered from; 0 when there is none yet."""

    @property
    def allowed_origins(self) -> frozenset[str]:
        """Every origin that may ask: the listed ones and those of the start addresses."""
        own = (f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, self.start_urls))
        return frozenset((*own, *self.origins))

    def with_private_allowed(self) -> Site:
        """The same site with permission to crawl private and loopback addresses."""
        return replace(self, allow_private=True)
