"""A site of which a third is broken ends in about the time that its Crawl-delay asks for."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from crawler.crawl import crawl
from crawler.options import CrawlOptions
from crawler.report import UrlState
from tests.crawler.conftest import html
from tests.crawler.trap_site import TrapSite, words

PAGES = 200
REDIRECTS = ("/loop/self", "/loop/a", "/loop/out", "/loop/nowhere", "/chain/1", "/refresh/self", "/refresh/a")
BROKEN = tuple(
    f"/broken/{name}"
    for name in (
        *("garbage", "nothing", "status", "header", "headers", "length-too-long", "length-nonsense"),
        *("length-huge", "chunks-cut", "chunks-nonsense", "gzip"),
    )
)
SLOW = ("/slow/headers", "/slow/body", "/slow/silent", "/endless")
BOMBS = ("/bomb/gzip", "/bomb/gzip-twice", "/bomb/deflate", "/bomb/brotli")
TYPES = ("/type/image", "/type/binary-as-html", "/type/html-as-binary")
STATUSES = (
    "/status/403",
    "/status/404",
    "/status/410",
    "/status/500",
    "/status/502",
    "/status/504",
    "/reset",
)
FAULTS = (*BROKEN, *SLOW, *BOMBS, *STATUSES, *REDIRECTS, *TYPES)


class FaultySite(TrapSite):
    """Two good pages, then a fault, and so on; each fault comes at several addresses of its own."""

    def __init__(self, crawl_delay: float) -> None:
        super().__init__()
        self.page("/robots.txt", f"User-agent: *\nCrawl-delay: {crawl_delay}\n")
        self.faults: dict[str, str] = {}
        links = []
        for number in range(PAGES):
            if number % 3 == 2:
                links.append(f"/fault/{number}")
                self.faults[links[-1]] = FAULTS[number // 3 % len(FAULTS)]
            else:
                links.append(f"/good/{number}")
                self.page(links[-1], html(f"Chair {number}", words(number)))
        self.page("/", html("Welcome", "We sell garden furniture.", links=tuple(links)))

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        handler.path = self.faults.get(handler.path, handler.path)
        if handler.path.startswith("/status/"):
            self.page(handler.path, "Sorry", status=int(handler.path[-3:]))
        if handler.path == "/reset":
            self.requests.append((handler.path, {}))
            handler.close_connection = True
            linger = struct.pack("ii", 1, 0)  # closing then sends a reset
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            handler.connection.close()
            return
        super().answer(handler)


def crawled(site: FaultySite, **limits: object) -> tuple[float, Counter[str]]:
    """Seconds, and the number of addresses by state; of the good pages alone all must come home."""
    options = CrawlOptions(
        start_urls=(site.url("/"),), allow_private=True, render="never", processes=0, soft_404=False,
        max_bytes=2_000_000, concurrency=8, **limits,
    )  # fmt: skip
    began = time.monotonic()
    outcomes = list(crawl(options))
    seconds = time.monotonic() - began
    good = [outcome.state for outcome in outcomes if "/good/" in outcome.url]
    assert Counter(good) == {UrlState.FETCHED: PAGES - len(site.faults)}
    return seconds, Counter(outcome.state.value for outcome in outcomes)


@pytest.fixture
def site() -> Iterator[FaultySite]:
    served = FaultySite(0.02)
    yield served
    served.close()


def test_a_third_of_broken_addresses_does_not_slow_the_others(site) -> None:
    """All times are a fiftieth of the defaults at a Crawl-delay of 1, so five minutes are six seconds; the
    short pauses before a second try are not, and a loaded machine needs some time of its own."""
    seconds, states = crawled(site, timeout_s=0.3, page_time_s=1.2)
    assert sum(states.values()) >= PAGES
    assert len(site.requests) < 280
    assert seconds < 20


if __name__ == "__main__":  # at the real pace: python -m tests.crawler.fetching.test_faulty_site 1
    real = FaultySite(float(sys.argv[1]))
    sys.stdout.write(f"{crawled(real)}, {len(real.requests)} requests\n")
    real.close()
