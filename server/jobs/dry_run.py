"""Dry runs: the beginning of a crawl as it would be, with nothing kept of it.

runs = DryRuns(cache, settings)
id = runs.start(site)   # a thread of this process crawls a few pages
runs.get(id)            # from any process: what it found so far
"""

import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from crawler.crawl import crawl
from crawler.errors import CrawlError
from crawler.options import CrawlOptions
from crawler.preview import MOST_LISTED, survey
from crawler.report import HAS_PAGE, CrawlProgress, UrlOutcome, UrlState
from server.domain.protocols import Cache
from server.domain.site import Site
from server.jobs.crawl_options import SITEMAP_FILES, crawl_options
from server.settings import Settings

KEPT_S = 3600.0
REPORT_EVERY_S = 0.5
LISTED = 100
"""Addresses of each kind that are shown; the others are counted."""
AT_ONCE = 2
"""Dry runs of one process."""
SILENT_S = 60.0
"""A run that was not heard of for so long ended with its process."""


@dataclass(slots=True)
class DryRun:
    """What a dry run has found so far."""

    id: str
    start_urls: tuple[str, ...]
    active: bool = True
    surveys: list[dict[str, Any]] = field(default_factory=list)
    """See crawler.preview.Survey."""
    pages: list[dict[str, Any]] = field(default_factory=list)
    """url, title, language, words: what would be answered from."""
    others: list[dict[str, Any]] = field(default_factory=list)
    """url, state, reason: what would not."""
    counts: dict[str, int] = field(default_factory=dict)
    """Addresses by the state in which they ended; "over_limit" are those that were found and not read."""
    found: int = 0
    seconds: float = 0.0
    message: str = ""
    """Why it ended without a page."""
    heard_at: float = 0.0
    """Unix time of this state."""
    site_id: str = ""
    """Empty for a site that does not exist yet."""
    own_site: bool = False
    """Its AI preferences are not applied."""

    @property
    def listed(self) -> int:
        """Addresses in the sitemaps."""
        return sum(int(one["listed"]) for one in self.surveys)

    @property
    def is_at_least(self) -> bool:
        """Return whether the sitemaps may list more than were counted."""
        return any(int(one["listed"]) >= MOST_LISTED for one in self.surveys)

    @property
    def version(self) -> str:
        """Changes when there is something new to see."""
        return f"{self.active}/{len(self.surveys)}/{sum(self.counts.values())}"


class TooManyDryRuns(Exception):
    """The message says what to do."""


class DryRuns:
    """Safe to use from many threads. What they found is in the shared cache, for every process."""

    def __init__(self, cache: Cache, settings: Callable[[], Settings]) -> None:
        self._cache = cache
        self._settings = settings
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def start(self, site: Site) -> str:
        """Begins; returns the id of the run. Raises BadStart for what cannot be crawled, TooManyDryRuns."""
        settings = self._settings()
        options = crawl_options(site, settings).with_changes(
            max_pages=settings.crawling.dry_run_pages,
            max_seconds=settings.crawling.dry_run_s,
            sitemap_max_files=SITEMAP_FILES,
            retries=0,
            processes=0,
        )
        crawl(options).close()  # it checks the start addresses, and nothing is asked for
        if not self._free.acquire(blocking=False):
            raise TooManyDryRuns("Other dry runs are under way. Wait until they have ended, then try again.")
        id = secrets.token_urlsafe(16)
        run = DryRun(id, options.start_urls, site_id=site.id, own_site=options.own_site)
        try:
            self._keep(run)
            threading.Thread(target=self._work, args=(run, options), name="dry-run", daemon=True).start()
        except BaseException:
            self._free.release()
            raise
        return run.id

    def get(self, id: str) -> DryRun | None:
        """What it found so far; None when there is none, or it is too long ago."""
        kept = self._cache.get(_key(id))
        if not kept:
            return None
        run = DryRun(**json.loads(kept))
        if run.active and time.time() - run.heard_at > SILENT_S:
            run.active = False
            run.message = run.message or "The dry run was cut off: begin it again."
        return run

    def _work(self, run: DryRun, options: CrawlOptions) -> None:
        began = reported = time.monotonic()

        def follow(progress: CrawlProgress) -> None:
            nonlocal reported
            run.found, run.seconds = progress.discovered, time.monotonic() - began
            if time.monotonic() - reported > REPORT_EVERY_S:
                reported = time.monotonic()
                self._keep(run)

        try:
            run.surveys = [asdict(one) for one in survey(options)]
            for outcome in crawl(options, on_progress=follow):
                _note(run, outcome)
            if not run.pages:
                run.message = _why_none(run)
        except CrawlError as error:
            run.message = str(error)
        finally:
            self._free.release()
            run.active, run.seconds = False, time.monotonic() - began
            self._keep(run)

    def _keep(self, run: DryRun) -> None:
        run.heard_at = time.time()
        self._cache.set(_key(run.id), json.dumps(asdict(run)), KEPT_S)


def _note(run: DryRun, outcome: UrlOutcome) -> None:
    run.counts[outcome.state.value] = run.counts.get(outcome.state.value, 0) + 1
    page = outcome.page
    if outcome.state in HAS_PAGE and page is not None:
        words = len(page.text.split())
        run.pages.append({"url": outcome.url, "title": page.title, "language": page.language, "words": words})
    elif sum(one["state"] == outcome.state.value for one in run.others) < LISTED:
        run.others.append({"url": outcome.url, "state": outcome.state.value, "reason": outcome.reason})


def _why_none(run: DryRun) -> str:
    bad = next((one for one in run.others if one["state"] != UrlState.REDIRECTED.value), None)
    if bad is None:
        return "No page was found: check that the address leads to pages of the same site."
    return f"{bad['url']}: {bad['reason'] or bad['state'].replace('_', ' ')}"


def _key(id: str) -> str:
    return f"dry-run:{id[:64]}"
