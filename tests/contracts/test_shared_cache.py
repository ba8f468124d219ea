"""Both shared caches keep the protocol Cache."""

import threading
from functools import partial

import pytest

from server.storage.shared_cache import DiskSharedCache, RedisSharedCache


@pytest.fixture(params=["disk", "redis"])
def make(request, tmp_path):
    """Opens the cache; every one made in a test is the same cache."""
    if request.param == "disk":
        place = partial(DiskSharedCache, tmp_path / "cache")
    else:
        place = partial(RedisSharedCache, request.getfixturevalue("redis_url"))
    opened = []

    def open_cache():
        opened.append(place())
        return opened[-1]

    yield open_cache
    for cache in opened:
        cache.close()


@pytest.fixture
def cache(make):
    return make()


def until(condition):
    waiting = threading.Event()
    return any(condition() or waiting.wait(0.02) for _ in range(300))


def test_a_value_is_kept_replaced_and_deleted(cache):
    assert cache.get("k") is None
    cache.set("k", "v", 60)
    assert cache.get("k") == "v"
    cache.set("k", "w", 60)
    assert cache.get("k") == "w"
    cache.delete("k")
    cache.delete("k")
    assert cache.get("k") is None


def test_a_value_expires(cache):
    cache.set("k", "v", 0.05)
    cache.set("other", "w", 60)
    assert until(lambda: cache.get("k") is None)
    assert cache.get("other") == "w"


@pytest.mark.parametrize("ttl", [0, 0.0001])
def test_no_time_to_live_means_no_value_and_no_error(cache, ttl):
    cache.set("k", "v", ttl)
    assert until(lambda: cache.get("k") is None)


def test_adding_stores_only_what_is_absent(cache):
    assert cache.add("k", "first", 0.2)
    assert not cache.add("k", "second", 60)
    assert until(lambda: cache.get("k") is None)
    assert cache.add("k", "third", 60)
    assert cache.get("k") == "third"


def test_of_many_that_add_at_once_one_wins(make):
    caches, won = [make(), make(), make()], []
    start = threading.Barrier(30)

    def add(number):
        start.wait()
        if caches[number % 3].add("k", str(number), 60):
            won.append(str(number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert caches[0].get("k") == won[0]


def test_values_are_shared_with_who_opens_the_same_cache(make, cache):
    cache.set("k", "v", 60)
    assert make().get("k") == "v"


@pytest.mark.parametrize("value", ["", "汉字 😀", "nul", "x" * 200_000])
def test_any_text_is_a_value(cache, value):
    cache.set("k", value, 60)
    assert cache.get("k") == value


def test_what_no_store_can_hold_is_replaced(cache):
    cache.set("k\ud800", "nul \0 lone \ud800", 60)
    assert cache.get("k\ud800") == "nul � lone ?"
    assert not cache.add("k\ud800", "", 60)
    cache.delete("k\ud800")
    assert cache.get("k\ud800") is None


def test_empty_values_are_values(cache):
    assert cache.add("k", "", 60)
    assert not cache.add("k", "x", 60)
