"""A worker that has nothing to crawl itself helps with a large site that another worker crawls."""

import logging
from threading import Event

from crawler.errors import CrawlError
from crawler.helping import help_crawl
from server.jobs.crawl_options import crawl_options
from server.settings import Settings
from server.storage.crawls.frontier import HostTurns, LeasedUrls, offered
from server.storage.database import Database
from server.storage.errors import StorageError, UnknownSite
from server.storage.leases import is_ours, new_holder
from server.storage.sites.sites import SiteStore

log = logging.getLogger(__name__)

EVERY_S = 2.0


class CrawlHelp:
    """One of each worker process."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._db = database
        self._settings = settings

    def run(self, ending: Event) -> None:
        """Help where help is wanted until `ending` is set."""
        while not ending.wait(EVERY_S):
            try:
                wanted = offered(self._db, is_ours)
                if wanted is not None:
                    self._help(*wanted, ending)
            except (CrawlError, StorageError, UnknownSite) as error:
                log.warning("no help for a crawl: %s", error)

    def _help(self, crawl_id: int, site_id: str, ending: Event) -> None:
        options = crawl_options(SiteStore(self._db).get(site_id), self._settings)
        leased = LeasedUrls(self._db, crawl_id, new_holder())
        if leased.processes() >= options.host_concurrency:
            return
        log.info("this worker helps with crawl %s of %s", crawl_id, site_id)
        visited = help_crawl(options, leased, ending, HostTurns(self._db))
        log.info("this worker visited %s addresses of crawl %s of %s", visited, crawl_id, site_id)
