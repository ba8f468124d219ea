"""A worker that has nothing to crawl itself helps with a large site that another worker crawls."""

import logging
from collections.abc import Callable
from threading import Event

from crawler.helping import help_crawl
from server.jobs.crawl_options import crawl_options
from server.settings import Settings
from server.storage.crawls.frontier import HostTurns, LeasedUrls, offered
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.leases import is_ours, new_holder
from server.storage.sites.sites import SiteStore

log = logging.getLogger(__name__)

EVERY_S = 2.0


class CrawlHelp:
    """One of each worker process."""

    def __init__(self, database: Database, settings: Callable[[], Settings]) -> None:
        self._db = database
        self._settings = settings

    def run(self, ending: Event) -> None:
        """Help where help is wanted until `ending` is set."""
        while not ending.wait(EVERY_S):
            try:
                wanted = offered(self._db, is_ours)
                if wanted is not None:
                    self._help(*wanted, ending)
            except StorageError as error:
                log.warning("help for crawls is tried again in %g s: %s", EVERY_S, error)
            except Exception:  # the crawl goes on without this worker
                log.exception("this worker could not help with a crawl")

    def _help(self, crawl_id: int, site_id: str, ending: Event) -> None:
        options = crawl_options(SiteStore(self._db).get(site_id), self._settings())
        leased = LeasedUrls(self._db, crawl_id, new_holder())
        if leased.processes() >= options.host_concurrency:
            return
        visited = help_crawl(options, leased, ending, HostTurns(self._db))
        log.info("this worker fetched %s addresses for crawl %s of %s", visited, crawl_id, site_id)
