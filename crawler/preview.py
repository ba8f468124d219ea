"""What a crawl would do: `explain` for one URL, step by step; `survey` for a whole site.

Both use the rules and the visit of a real crawl. `survey` reads robots.txt and counts the addresses in the
sitemaps.
"""

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from crawler.discovery import urls
from crawler.discovery.frontier import Item
from crawler.discovery.scope import CrawlScope
from crawler.discovery.sitemap import Sitemaps
from crawler.errors import FetchError
from crawler.fetching.pacer import Pacer
from crawler.fetching.robots import RobotsSummary
from crawler.options import CrawlOptions, start_address
from crawler.report import UrlState
from crawler.visit import CrawlTools, Visit


@dataclass(frozen=True, slots=True)
class Finding:
    """One step in the treatment of a URL."""

    step: str
    text: str
    ends_here: bool = False
    """Whether the crawl does nothing more with this URL."""


def explain(options: CrawlOptions, url: str) -> Iterator[Finding]:
    """Yield findings in the order of a crawl, following redirects. Raises BadStart for a bad address.

    Sitemaps are read at the pace that robots.txt asks for; those whose turn comes after
    `options.max_seconds` are left out.
    """
    target = start_address(url)
    yield Finding("address", target if target == url.strip() else f"counts as {target}")
    tools = CrawlTools(options, {})
    try:
        tools.require()
        sitemaps = _sitemaps_in_time(options, tools)
        for hops in range(options.max_redirects + 1):
            target = yield from _explained(options, tools, sitemaps, Item(target, 0, hops))
            if not target:
                return
    finally:
        tools.close()


def _sitemaps_in_time(options: CrawlOptions, tools: CrawlTools) -> Sitemaps:
    due = time.monotonic() + (options.max_seconds or math.inf)
    # Not the pacer of the visits: the page itself is requested without waiting for its turn.
    pacer = Pacer(options.delay_s, tools.stopped)

    def wait(url: str) -> bool:
        pacer.at_least(tools.robots.delay_s(url), url)
        return pacer.wait(url, due=due)

    return Sitemaps(options, tools.robots, tools.fetcher, wait)


def _explained(
    options: CrawlOptions, tools: CrawlTools, sitemaps: Sitemaps, item: Item
) -> Generator[Finding, None, str]:
    """Yield findings; return the target of a redirect if there is one."""
    url = item.url
    if not CrawlScope(options).same_site(url):
        sites = ", ".join(sorted({urls.site_key(start) for start in options.start_urls}))
        yield Finding("site", f"{urls.site_key(url)} is not {sites}: links to it are not followed", True)
        return ""
    objection = CrawlScope(options).objection(url)
    if objection:
        yield Finding("rules", f"{objection[0].value}: {objection[1]}", True)
        return ""
    yield Finding("rules", "inside the scope; no rule objects")
    try:
        found = ", ".join(options.guard.check(url))
        yield Finding("network", f"{urlsplit(url).hostname} is {found}, which may be connected to")
    except FetchError as error:
        yield Finding("network", str(error), True)
        return ""
    verdict = tools.robots.verdict(url)
    delay = tools.robots.delay_s(url) if verdict.allowed else 0.0
    if not verdict.allowed:
        yield Finding("robots", verdict.reason, True)
        return ""
    allows = "robots.txt allows it"
    yield Finding("robots", f"{allows}; it asks for {delay:g} s between two requests" if delay else allows)
    refusal = tools.robots.refusing_preference(url)
    if refusal and not options.own_site:
        yield Finding("preference", refusal, True)
        return ""
    if refusal:
        yield Finding("preference", f"{refusal}; not applied, because the site is your own")
    if options.use_sitemaps:
        if url in sitemaps.listed(url):
            found = "listed in the sitemap"
        elif sitemaps.is_cut_off:
            found = "not found, but not all sitemaps were read"
        else:
            found = "not in the sitemap: only a link leads the crawl to it"
        yield Finding("sitemap", found)
    visit = tools.visits.visit(item)
    yield from _visited(visit)
    return visit.redirect


def _visited(visit: Visit) -> Iterator[Finding]:
    outcome = visit.outcome
    status = f"status {outcome.status}" if outcome.status else "no answer"
    page = outcome.page
    if page is None:
        reason = (
            f"{status}: {outcome.reason}" if str(outcome.status) not in outcome.reason else outcome.reason
        )
        state = outcome.state.value.replace("_", " ")
        yield Finding("visit", f"{state}: {reason}", outcome.state is not UrlState.REDIRECTED)
    else:
        yield Finding("visit", status)
        yield Finding("title", page.title)
        yield Finding("language", page.language or "unknown")
        yield Finding("text", f"blocks: {len(page.blocks)}, words: {len(page.text.split())}")
        if visit.canonical:
            yield Finding(
                "canonical",
                f"says it is a copy of {visit.canonical}: that page is indexed instead, unless it is gone",
            )
        yield Finding("result", "it would be indexed, unless another page of the site says the same")
    if visit.follow:
        yield Finding("links", f"{len(visit.follow)} links on it would be followed")


MOST_LISTED = 20_000
"""Addresses that are counted; a site that lists more has at least this many."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a look at one start address found."""

    url: str
    robots: RobotsSummary
    listed: int
    """Different addresses in the sitemaps, at most MOST_LISTED."""
    problems: tuple[str, ...]
    """What of the sitemaps could not be read."""


def survey(options: CrawlOptions) -> list[Survey]:
    """Return one survey for each start address, in their order.

    Raises nothing for a site that does not answer: the summary of its robots.txt says so.
    """
    tools = CrawlTools(options, {})
    try:
        return [_survey(options, tools, url) for url in options.start_urls]
    finally:
        tools.close()


def _survey(options: CrawlOptions, tools: CrawlTools, url: str) -> Survey:
    robots = tools.robots.summary(url)
    if robots.problem or not options.use_sitemaps:
        return Survey(url, robots, 0, ())
    sitemaps = Sitemaps(options, tools.robots, tools.fetcher)
    listed = set(islice(sitemaps.listed(url), MOST_LISTED))
    return Survey(url, robots, len(listed), tuple(sitemaps.problems))
