"""Extraction of pages in this process and in helper processes, so that all cores parse while threads fetch.

A helper takes a second to start and some 60 MB, so only big crawls start them. Until they are ready, and
whenever all of them are busy, the thread that has a page extracts it.
"""

import os
import signal
import threading
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process

from crawler.errors import BadFile
from crawler.extractors import Extraction, SourceDocument, extract, extractor_for

AUTOMATIC = -1
_BIG_CRAWL = 150
"""Pages read before helpers are started: some seconds of work."""
_AHEAD = 2
"""Pages that a helper has at a time: one at work and one waiting."""

_AT_ONCE_HERE = 2
"""Threads share one interpreter, so more of them at once only slow each other down."""


class PageReader:
    """Extracts pages. `read` may be called from many threads; each call blocks until its page is done."""

    def __init__(self, processes: int = AUTOMATIC, *, big_crawl: int = _BIG_CRAWL) -> None:
        """`processes`: number of helpers for a big crawl; AUTOMATIC leaves one core to this process."""
        self._processes = _spare_cores() if processes == AUTOMATIC else processes
        self._until_helped = big_crawl if self._processes else -1
        self._changed = threading.Condition()
        self._pool: ProcessPoolExecutor | None = None
        self._starting: list[Future[int]] = []
        self._room = 0
        self._room_here = _AT_ONCE_HERE
        self._closed = False

    def read(self, source: SourceDocument) -> Extraction:
        """Extract a page. Raises BadFile."""
        pool = self._place()
        try:
            return extract(source) if pool is None else self._read_there(pool, source)
        except BadFile:
            raise
        except Exception as error:  # of any kind: a hostile page must not end the crawl of a site
            raise BadFile(f"its markup cannot be read ({type(error).__name__}: {error})") from error
        finally:
            with self._changed:
                if pool is None:
                    self._room_here += 1
                else:
                    self._room += 1
                self._changed.notify_all()

    def close(self) -> None:
        """End the helpers without waiting for the pages they work on."""
        with self._changed:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _place(self) -> ProcessPoolExecutor | None:
        """Wait for a free place: in the pool that is returned, or in this process for None."""
        with self._changed:
            if self._until_helped >= 0 and not self._closed:
                if self._until_helped == 0:
                    self._start()
                self._until_helped -= 1
            while True:
                if self._starting and all(future.done() for future in self._starting):
                    self._starting, self._room = [], _AHEAD * self._processes
                if self._pool is not None and self._room > 0:
                    self._room -= 1
                    return self._pool
                if self._room_here > 0:
                    self._room_here -= 1
                    return None
                self._changed.wait()

    def _start(self) -> None:
        # Not fork: the fetching threads may hold locks at that moment.
        context = get_context("spawn")
        self._pool = ProcessPoolExecutor(self._processes, mp_context=context, initializer=_prepare)
        # Whatever a helper runs first: then it is ready.
        self._starting = [self._pool.submit(os.getpid) for _ in range(self._processes)]

    def _read_there(self, pool: ProcessPoolExecutor, source: SourceDocument) -> Extraction:
        try:
            future = pool.submit(extract, source)
        except RuntimeError:  # the pool broke at another page, or the crawl is closing
            return extract(source)
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            # Killed, or out of memory: this page is lost, the others are read here from now on.
            with self._changed:
                self._pool = None
            raise BadFile(f"the process that read it ended ({type(error).__name__})") from error


def _spare_cores() -> int:
    return len(os.sched_getaffinity(0)) - 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) - 1


def _prepare() -> None:
    """Set up a helper: leave interrupts to the parent, and import what most pages need."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    extractor_for("text/html")


def _end_with_parent() -> None:
    """End a helper whose parent was killed: holding both ends of the pipe, it would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
