from dataclasses import replace

import pytest

from server.api.access import RecentSites
from tests.api.conftest import SHOP


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch, app):
    clock = Clock()
    monkeypatch.setattr("server.api.access.time", clock)
    monkeypatch.setattr("server.api.access.FRESH_S", 1.0)
    return clock


def test_a_change_is_known_after_a_second(runtime, clock):
    sites = RecentSites(runtime.stores.sites)
    assert sites.find("shop").title == SHOP.title
    runtime.stores.sites.update(replace(SHOP, title="New"))
    clock.now += 0.9
    assert sites.find("shop").title == SHOP.title
    clock.now += 0.2
    assert sites.find("shop").title == "New"


def test_a_new_site_is_found_at_once(runtime, clock):
    sites = RecentSites(runtime.stores.sites)
    assert sites.find("new") is None
    runtime.stores.sites.create(replace(SHOP, id="new"))
    assert sites.find("new").id == "new"


def test_a_deleted_site_is_gone_after_a_second(runtime, clock):
    sites = RecentSites(runtime.stores.sites)
    assert len(sites.all()) == 2
    runtime.stores.sites.delete("shop")
    clock.now += 1.1
    assert sites.find("shop") is None
    assert [site.id for site in sites.all()] == ["other"]
