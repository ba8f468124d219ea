"""Crawls are on record: how far they came and what became of each address."""

from datetime import UTC, datetime

import pytest

from server.storage.crawls import KEPT_CRAWLS, CrawlStore, UrlRow
from server.storage.errors import UnknownCrawl, UnknownSite
from server.storage.sites import SiteStore

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def crawls(database):
    return CrawlStore(database)


def test_a_crawl_is_followed_from_start_to_end(crawls, site):
    assert crawls.latest("shop") is None
    id = crawls.start("shop")
    running = crawls.latest("shop")
    assert (running.id, running.site_id, running.state, running.finished_at) == (id, "shop", "running", None)
    crawls.progress(id, found=9, fetched=5, indexed=3)
    crawls.finish(id, "done", "3 pages indexed")
    done = crawls.latest("shop")
    assert (done.found, done.fetched, done.indexed) == (9, 5, 3)
    assert (done.state, done.message, done.counts) == ("done", "3 pages indexed", {})
    assert done.finished_at >= done.started_at


def test_the_crawl_that_waits_is_the_one_that_starts(crawls, site):
    id = crawls.wait("shop")
    assert crawls.wait("shop") == id
    assert crawls.latest("shop").state == "waiting"
    assert crawls.start("shop") == id
    assert crawls.latest("shop").state == "running"
    assert crawls.wait("shop") != id


def test_addresses_are_recorded_once_with_their_last_state(crawls, site):
    id = crawls.start("shop")
    crawls.record(id, [UrlRow("u/1", "fetched", "", 200, AT), UrlRow("u/2", "skipped", "robots.txt", 0, AT)])
    crawls.record(id, [UrlRow("u/1", "failed", "Timed OUT", 0, AT)])
    crawls.record(id, [])
    assert crawls.urls(id) == [
        UrlRow("u/1", "failed", "Timed OUT", 0, AT),
        UrlRow("u/2", "skipped", "robots.txt", 0, AT),
    ]
    assert crawls.latest("shop").counts == {"failed": 1, "skipped": 1}


def test_addresses_are_filtered_and_paged(crawls, site):
    id = crawls.start("shop")
    crawls.record(
        id,
        [UrlRow(f"u/{n}", "fetched" if n % 2 else "failed", "timed out" if n == 4 else "") for n in range(6)],
    )
    assert [row.url for row in crawls.urls(id, state="failed")] == ["u/0", "u/2", "u/4"]
    assert [row.url for row in crawls.urls(id, search="TIMED")] == ["u/4"]
    assert [row.url for row in crawls.urls(id, search="U/3")] == ["u/3"]
    assert crawls.urls(id, search="%") == []
    assert [row.url for row in crawls.urls(id, limit=2, offset=1)] == ["u/1", "u/2"]


def test_crawls_that_a_crash_cut_off_are_found(crawls, site):
    ended, cut = crawls.start("shop"), crawls.start("shop")
    crawls.finish(ended, "failed", "no page")
    crawls.wait("shop")
    assert [run.id for run in crawls.interrupted()] == [cut]
    crawls.finish(cut, "stopped")
    assert crawls.interrupted() == []


def test_only_the_newest_crawls_are_kept(crawls, site):
    ids = [crawls.start("shop") for _ in range(KEPT_CRAWLS + 3)]
    crawls.record(ids[-1], [UrlRow("u", "fetched")])
    assert [run.id for run in crawls.history("shop", 100)] == ids[:2:-1]
    assert [run.id for run in crawls.history("shop", 2)] == ids[:-3:-1]
    assert crawls.history("shop", 1)[0].counts == {"fetched": 1}


def test_unknown_crawls_and_sites_are_named(crawls, site):
    with pytest.raises(UnknownSite, match="'none'"):
        crawls.start("none")
    for write in (
        lambda: crawls.progress(99, 1, 1, 1),
        lambda: crawls.finish(99, "done"),
        lambda: crawls.record(99, [UrlRow("u", "fetched")]),
    ):
        with pytest.raises(UnknownCrawl, match="no crawl 99"):
            write()
    assert crawls.urls(99) == []


def test_crawls_go_with_their_site(database, crawls, site):
    id = crawls.start("shop")
    crawls.record(id, [UrlRow("u", "fetched")])
    SiteStore(database).delete("shop")
    assert crawls.urls(id) == []
    assert crawls.interrupted() == []
