"""Removes a site with all that belongs to it. The job worker does it; what was cut off is begun again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from server.jobs.crawl_control import CrawlControl
from server.storage.crawls.runs import RUNNING, CrawlStore
from server.storage.database import Database
from server.storage.errors import WrongState
from server.storage.sites.sites import SiteStore, remove_site_rows

log = logging.getLogger(__name__)

LONGEST_WAIT_S = 60.0
"""For a crawl of the site to leave off; it looks for what is wanted of it every second."""
LOOK_S = 0.2


class SiteRemoval:
    """Of sites that were marked as leaving: nobody finds them any more, so nothing new begins for them."""

    def __init__(
        self,
        database: Database,
        crawling: CrawlControl,
        drop_indexes: Callable[[str], None],
        forget: Callable[[str], None],
    ) -> None:
        """`drop_indexes` removes a site's words and vectors, `forget` what files and caches hold."""
        self._db = database
        self._sites = SiteStore(database)
        self._crawls = CrawlStore(database)
        self._crawling = crawling
        self._drop_indexes = drop_indexes
        self._forget = forget

    def begin(self, site_id: str) -> None:
        """Takes the site from visitors and operators at once. Raises UnknownSite."""
        self._sites.leave(site_id)
        try:
            self._crawling.pause(site_id)
        except WrongState:
            return  # it was never crawled, or its last crawl has ended

    def run(self, site_id: str) -> None:
        """Removes all of a site that `begin` took away; one that is gone already is no error. Raises
        StorageError, IndexFailure: then the next run goes on."""
        if site_id not in self._sites.leaving():
            return
        self._wait_for_crawl(site_id)
        self._drop_indexes(site_id)
        self._forget(site_id)
        remove_site_rows(self._db, site_id)
        log.info("the site %s is removed with everything that belonged to it", site_id)

    def _wait_for_crawl(self, site_id: str) -> None:
        deadline = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < deadline:
            run = self._crawls.latest(site_id)
            if run is None or run.state != RUNNING or self._crawls.is_left(run):
                return
            time.sleep(LOOK_S)
