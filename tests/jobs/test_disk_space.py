"""Crawls stop while there is still room for conversations."""

import pytest

from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.crawls.runs import FAILED
from tests.websites import SHOP, Website, serve

PLENTY = 10**9
"""Megabytes that no disk has."""


@pytest.fixture
def website():
    with serve(Website("Lantern Shop", SHOP)) as running:
        yield running


def crawled(tmp_path, website, **settings):
    runtime = open_runtime(
        Settings.of(data_dir=tmp_path / "data", crawl_delay_s=0, private_hosts="127.0.0.1", **settings)
    )
    site = Site("shop", "Shop", "Shop", (f"{website.url}/",))
    runtime.stores.sites.create(site)
    crawl_id = runtime.stores.crawls.wait("shop")
    runtime.crawling.refresh("shop", crawl_id)
    return runtime, runtime.stores.crawls.get(crawl_id)


def test_a_crawl_does_not_begin_on_a_disk_that_is_nearly_full(tmp_path, website):
    runtime, run = crawled(tmp_path, website, disk_free_mb=PLENTY)
    assert run.state == FAILED
    assert "(DISK_FREE_MB) so that conversations can still be stored" in run.message
    assert runtime.stores.incidents.recent(["shop"], 5)[0].kind == "crawl_failed"
    assert runtime.dialogue.conversations.start("shop", "ada"), "visitors are served"
    runtime.close()


def test_a_crawl_stops_when_the_disk_fills_up(tmp_path, website, monkeypatch):
    said = iter(["", "", "only 3 MB are free"])
    monkeypatch.setattr("server.jobs.refresh_site.lacking_space", lambda *_: next(said, "only 3 MB are free"))
    monkeypatch.setattr("server.jobs.crawl_watch.EVERY_S", 0.0)
    runtime, run = crawled(tmp_path, website)
    assert (run.state, run.message) == (FAILED, "only 3 MB are free")
    assert not runtime.stores.sites.get("shop").generation
    runtime.close()
