"""Addresses that several workers share, and the pace of hosts, in both databases."""

import threading
import time
from datetime import timedelta

import pytest

from crawler.discovery.frontier import Item
from crawler.fetching.fetcher import Validators
from crawler.fetching.pacer import Pacer
from server.domain.site import Site
from server.storage.columns import now
from server.storage.crawls import frontier as frontiers
from server.storage.crawls.frontier import HostTurns, LeasedUrls, SharedFrontier, offered
from server.storage.crawls.runs import CrawlStore
from server.storage.sites.sites import SiteStore
from tests.crawl_runs import begin_crawl

ROOT = "https://shop.example"
ITEMS = [Item(f"{ROOT}/{number}", number % 3, number, ROOT) for number in range(9)]


@pytest.fixture
def crawl_id(database):
    SiteStore(database).create(Site("shop", "Shop", "", (f"{ROOT}/",)))
    return begin_crawl(CrawlStore(database), "shop")


@pytest.fixture
def shared(database, crawl_id):
    return SharedFrontier(database, crawl_id, {ITEMS[0].url: Validators("tag", "today")})


@pytest.fixture
def helper(database, crawl_id):
    return lambda name: LeasedUrls(database, crawl_id, name)


def urls(found):
    return sorted(item.url for item, _ in found)


def test_every_address_is_leased_once_lowest_depth_first(shared, helper):
    shared.put(ITEMS)
    shared.put(ITEMS[:2])
    one, other = helper("one"), helper("other")
    first = one.lease(4)
    assert sorted(item.depth for item, _ in first) == [0, 0, 0, 1]
    assert {item.url: known for item, known in first}[ITEMS[0].url] == Validators("tag", "today")
    assert sorted(urls(first) + urls(other.lease(99))) == sorted(item.url for item in ITEMS)
    assert (one.lease(4), shared.take_back(4)) == ([], [])
    assert shared.processes() == one.processes() == 3


def test_what_was_brought_stays_until_it_is_recorded(shared, helper):
    shared.put(ITEMS[:3])
    one = helper("one")
    [(item, _)] = one.lease(1)
    one.bring(item, "what was read")
    one.release()
    assert shared.brought(9) == [(item, "what was read")]
    assert shared.begin() == {item.url}, "what nobody visits is in the journal"
    assert not shared.is_empty()
    shared.recorded([item.url])
    assert shared.is_empty()


def test_a_lease_that_ran_out_is_taken_by_others_and_its_visit_is_not_taken_in(shared, helper, monkeypatch):
    shared.put(ITEMS[:2])
    dead, one = helper("dead"), helper("one")
    leased = dead.lease(2)
    later = now() + timedelta(seconds=frontiers.LEASE_S + 1)
    monkeypatch.setattr(frontiers, "now", lambda: later)
    assert shared.processes() == 1
    assert urls(one.lease(1)) == [ITEMS[0].url]
    for item, _ in leased:
        dead.bring(item, "too late")
    dead.renew()
    assert [(item.url, visit) for item, visit in shared.brought(9)] == [(ITEMS[1].url, "too late")]


def test_what_is_left_when_the_crawl_ends_is_taken_back_from_everybody(shared, helper):
    shared.put(ITEMS)
    helper("one").lease(3)
    assert len(shared.take_back(2)) == 2
    assert len(shared.take_back(99, leased=True)) == 7
    assert shared.is_empty()


def test_nobody_takes_more_while_the_crawl_pauses_or_lags_behind(
    database, crawl_id, shared, helper, monkeypatch
):
    crawls = CrawlStore(database)
    shared.put(ITEMS)
    assert offered(database, lambda holder: False) == (crawl_id, "shop")
    assert offered(database, lambda holder: True) is None
    monkeypatch.setattr(frontiers, "MOST_BROUGHT", 1)
    [(item, _)] = helper("one").lease(1)
    helper("one").bring(item, "read")
    assert helper("one").lease(1) == []
    assert offered(database, lambda holder: False) is None
    shared.recorded([item.url])
    assert helper("one").lease(1)
    crawls.want(crawls.get(crawl_id), "pause")
    assert helper("one").lease(1) == []
    assert offered(database, lambda holder: False) is None


def test_workers_that_ask_at_once_get_different_addresses(shared, helper):
    shared.put([Item(f"{ROOT}/many/{number}", 0) for number in range(60)])
    got, lock = [], threading.Lock()

    def take(name):
        while leased := helper(name).lease(3):
            with lock:
                got.extend(urls(leased))

    threads = [threading.Thread(target=take, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 60


def test_a_turn_is_given_to_one_and_the_next_one_waits(database):
    turns, others = HostTurns(database), HostTurns(database)
    assert turns.turn("shop.example", 30.0) == (0.0, 0)
    pause, _ = others.turn("shop.example", 30.0)
    assert 25 < pause <= 30
    assert others.turn("other.example", 0.0) == (0.0, 0)
    assert turns.hold("shop.example", 1.0, overloaded=True) == 1
    assert others.turn("shop.example", 0.0)[0] > 25, "a shorter pause shortens nothing"
    assert turns.hold("shop.example", 90.0, overloaded=True) == 2
    pause, overloads = others.turn("shop.example", 0.0)
    assert (85 < pause <= 90, overloads) == (True, 2)


def test_an_overload_that_one_process_meets_slows_every_other(database):
    stop = threading.Event()
    met, other = (Pacer(0.0, stop, 8, HostTurns(database)) for _ in range(2))
    url = f"{ROOT}/page"
    assert met.wait(url)
    assert other.wait(url)
    host = other._host(url)
    host.look_again = 0.0
    began = time.monotonic()
    met.overloaded(url, 0.4)
    assert other.wait(url)
    assert time.monotonic() - began >= 0.39
    assert (host.delay > 0, host.allowed) == (True, 4)
    assert met._host(url).allowed == 4, "its own complaint counts once"
    for pacer in (met, other):
        pacer.shared_by(4)
        assert pacer._host(url).allowed == 2
