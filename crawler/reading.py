"""Reads pages here or in other processes, so that both cores parse while threads fetch."""

from __future__ import annotations

import signal
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from crawler.errors import BadFile, CrawlError
from crawler.extractors import Extraction, Source, extract


class Unreadable(CrawlError):
    """A page that defeats its extractor. The message says how."""


class PageReader:
    """`read` may be called from many threads; each call blocks until its page is read."""

    def __init__(self, processes: int = 0) -> None:
        # Not fork: the fetching threads may hold locks at that moment.
        context = get_context("spawn")
        self._pool = (
            ProcessPoolExecutor(processes, mp_context=context, initializer=_leave_interrupts_to_the_parent)
            if processes
            else None
        )

    def read(self, source: Source) -> Extraction:
        """Raises Unreadable."""
        pool = self._pool
        if pool is None:
            return _read_here(source)
        try:
            future = pool.submit(extract, source)
        except RuntimeError:  # the pool broke at another page, or the crawl is closing
            return _read_here(source)
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            # Killed, or out of memory: this page is lost, the others are read here from now on.
            self._pool = None
            raise Unreadable(f"the process that read it ended ({type(error).__name__})") from error
        except Exception as error:
            raise _unreadable(error) from error

    def close(self) -> None:
        """Does not wait for pages that are being read."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _read_here(source: Source) -> Extraction:
    try:
        return extract(source)
    except Exception as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> Unreadable:
    """Whatever a hostile page does to its extractor must not end the crawl of a site."""
    if isinstance(error, BadFile):
        return Unreadable(str(error))
    return Unreadable(f"its markup cannot be read ({type(error).__name__}: {error})")


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
