"""Several workers visit the pages of one large site: none is lost, and none of them is ruder than one alone."""

import time
from collections import Counter

import pytest

from server.storage.crawls.frontier import LeasedUrls
from tests.jobs.conftest import Installation, SlowWebsite, installation_of

PAGES = 200
SHARED = {"CRAWL_SHARE_FROM": "20", "CRAWL_MAX_PAGES": "1000"}


class BusyWebsite(SlowWebsite):
    """Each answer takes a moment. `delay` is asked for in robots.txt; `moments` are those of the requests."""

    def __init__(self, pages, moment_s=0.0, delay=0):
        super().__init__(pages)
        self.moment_s = moment_s
        self.delay = delay
        self.moments = []

    def set_page(self, number):
        super().set_page(number)
        title, content = self.pages[self.path(number)]
        links = content[content.index("<ul>") :]
        self.pages[self.path(number)] = (title, f"<p>Lamp {number} costs {number} EUR.</p>{links}")

    def answer(self, path):
        if path == "/robots.txt":
            return 200, "text/plain", f"User-agent: *\nCrawl-delay: {self.delay}\n".encode()
        self.moments.append(time.monotonic())
        time.sleep(self.moment_s)
        return super().answer(path)


@pytest.fixture
def shared(folder, nursery, monkeypatch):
    """Makes an installation whose workers share every site of more than a few pages."""
    for name, value in SHARED.items():
        monkeypatch.setenv(name, value)
    open_ones = []

    def installed(website, **settings):
        for name, value in settings.items():
            monkeypatch.setenv(name.upper(), str(value))
        made = installation_of(folder, website, nursery)
        open_ones.append(made)
        return made.__enter__()

    yield installed
    for made in open_ones:
        made.__exit__(None, None, None)


def at_work(installation: Installation) -> int:
    """How many workers visit pages of the crawl."""
    return LeasedUrls(installation.runtime.database, installation.run.id, "nobody").processes()


@pytest.mark.parametrize("killed", ["the one that helps", "the one that carries out the crawl"])
def test_a_worker_that_is_killed_loses_no_page_and_another_goes_on(shared, killed):
    website = BusyWebsite(PAGES, moment_s=0.02)
    shop = shared(website)
    shop.runtime.crawling.start("shop")
    first = shop.worker()
    shop.until(lambda: shop.run.state == "running", "the crawl")
    second = shop.worker()
    shop.until(lambda: at_work(shop) == 2 and len(website.requests) > PAGES // 4, "help")
    victim = second if killed == "the one that helps" else first
    victim.kill()
    shop.die(victim)
    shop.until_state("done")
    for worker in {first, second} - {victim}:
        shop.end(worker)

    assert shop.pages() == set(website.pages)
    shop.check_indexes()
    assert shop.run.counts["fetched"] == PAGES
    again = [path for path, times in website.page_requests.items() if times > 1]
    assert len(again) <= 3 * 2 * 2 + 8, "only what the killed worker had under way is asked for again"
    assert max(Counter(website.page_requests).values()) <= 2
    assert at_work(shop) == 1, "nothing is left over"


def test_two_workers_keep_the_crawl_delay_of_the_host(shared):
    website = BusyWebsite(30, delay=1)
    # One page at a time, so that many wait for the other worker.
    shop = shared(website, crawl_share_from=1, crawl_use_sitemaps=0, crawl_timeout_s=60, crawl_concurrency=1)
    shop.runtime.crawling.start("shop")
    workers = [shop.worker(), shop.worker()]
    shop.until(lambda: at_work(shop) == 2, "help")
    shop.until_state("done")
    for worker in workers:
        shop.end(worker)
    assert shop.pages() == set(website.pages)
    gaps = [later - earlier for earlier, later in zip(website.moments, website.moments[1:], strict=False)]
    # A turn is a second after the one before; a request may start a little after its turn.
    assert sum(gaps) >= len(gaps) - 0.5, gaps
    assert min(gaps) >= 0.5, gaps
