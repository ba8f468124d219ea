"""A look around a site before it is crawled: its robots.txt and how many addresses its sitemaps list."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from crawler.addresses import AddressGuard
from crawler.options import CrawlOptions
from crawler.robots import RobotsSummary
from crawler.sitemap import Sitemaps
from crawler.toolbox import Toolbox

MOST_LISTED = 20_000
"""Addresses that are counted; a site that lists more is told as having at least so many."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Of one start address."""

    url: str
    robots: RobotsSummary
    listed: int
    """Different addresses in the sitemaps, at most MOST_LISTED."""
    problems: tuple[str, ...]
    """What of the sitemaps could not be read."""


def survey(options: CrawlOptions, guard: AddressGuard | None = None) -> list[Survey]:
    """One for each start address, in their order. Nothing is raised for a site that does not answer: the
    summary of its robots.txt says so."""
    tools = Toolbox(options, guard or AddressGuard(options.allow_private), {})
    try:
        return [_survey(options, tools, url) for url in options.start_urls]
    finally:
        tools.close()


def _survey(options: CrawlOptions, tools: Toolbox, url: str) -> Survey:
    robots = tools.robots.summary(url)
    if robots.problem or not options.use_sitemaps:
        return Survey(url, robots, 0, ())
    sitemaps = Sitemaps(options, tools.robots, tools.fetcher)
    listed = {entry.url for entry in islice(sitemaps.listed(url), MOST_LISTED)}
    return Survey(url, robots, len(listed), tuple(sitemaps.problems))
