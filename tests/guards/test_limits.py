import multiprocessing
import threading
import time

import pytest
import redis

from server.guards.limits import CLEAN_EVERY_S, FILE, DiskStorage, RateLimits, retry_after


class Clock:
    """A wall clock that a test moves."""

    def __init__(self):
        self.now = time.time()

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    # Of the one module: `time.time` itself is also the log's and the database's.
    monkeypatch.setattr("server.guards.limits.time", clock)
    return clock


@pytest.fixture
def limits(tmp_path):
    return RateLimits(DiskStorage(tmp_path))


@pytest.fixture(params=["folder", "redis"])
def kept_limits(request, tmp_path):
    """Limits as the settings choose them: once for one machine, once for many."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    return RateLimits.open(url, tmp_path)


def test_limits_hold_wherever_they_are_kept(kept_limits):
    assert [kept_limits.hit("2/minute", "ada") for _ in range(2)] == [0, 0]
    assert 58 < kept_limits.hit("2/minute", "ada") <= 60
    assert kept_limits.hit("2/minute", "bob") == 0
    assert kept_limits.hit("0/minute", "eve") > 0


def test_without_redis_everything_is_allowed_and_the_log_says_so(tmp_path, caplog):
    limits = RateLimits.open("redis://127.0.0.1:1/0", tmp_path)
    assert [limits.hit("1/minute", "ada") for _ in range(2)] == [0, 0]
    assert "rate limits are not kept" in caplog.text


def test_a_rule_allows_its_number_and_then_says_how_long_to_wait(limits, clock):
    assert [limits.hit("3/minute", "ada") for _ in range(3)] == [0, 0, 0]
    clock.now += 20
    assert limits.hit("3/minute", "ada") == pytest.approx(40, abs=0.01)


def test_the_window_moves_instead_of_starting_anew(limits, clock):
    limits.hit("2/minute", "ada")
    clock.now += 50
    limits.hit("2/minute", "ada")
    clock.now += 11
    assert limits.hit("2/minute", "ada") == 0
    assert limits.hit("2/minute", "ada") == pytest.approx(49, abs=0.01)


def test_after_the_wait_it_is_allowed(limits, clock):
    limits.hit("1/hour", "ada")
    clock.now += limits.hit("1/hour", "ada")
    assert limits.hit("1/hour", "ada") == 0


def test_what_is_refused_does_not_count(limits, clock):
    limits.hit("1/minute", "ada")
    for _ in range(5):
        assert limits.hit("1/minute", "ada") > 0
    clock.now += 60.01
    assert limits.hit("1/minute", "ada") == 0


def test_keys_do_not_share_a_window(limits):
    limits.hit("1/minute", "ada")
    assert limits.hit("1/minute", "bob") == 0
    assert limits.hit("1/minute", "ada") > 0


@pytest.mark.parametrize("rule", ["1/second", "1/minute", "1 per hour", "1 / day", "1/day"])
def test_every_spelling_of_the_settings_is_a_rule(limits, rule):
    assert limits.hit(rule, "ada") == 0
    assert limits.hit(rule, "ada") > 0


def test_zero_allows_nothing(limits):
    assert limits.hit("0/minute", "ada") > 0


def test_two_instances_of_one_folder_count_together(tmp_path, limits):
    other = RateLimits(DiskStorage(tmp_path))
    assert [limits.hit("2/minute", "ada"), other.hit("2/minute", "ada")] == [0, 0]
    assert limits.hit("2/minute", "ada") > 0
    assert other.hit("2/minute", "ada") > 0


def test_threads_never_get_more_than_the_rule_allows(limits):
    allowed = []

    def hit():
        for _ in range(10):
            allowed.append(limits.hit("25/minute", "ada") == 0)

    threads = [threading.Thread(target=hit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert allowed.count(True) == 25


def _hit_in_child(limits, results):
    results.put([limits.hit("30/minute", "ada") == 0 for _ in range(20)])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_processes_never_get_more_than_the_rule_allows(limits):
    limits.hit("30/minute", "somebody")  # opened before the fork, as in a process that forks later
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    children = [fork.Process(target=_hit_in_child, args=(limits, results)) for _ in range(3)]
    for child in children:
        child.start()
    allowed = [answer for _ in children for answer in results.get(timeout=20)]
    for child in children:
        child.join()
    assert allowed.count(True) == 30


def test_addresses_leave_every_file_within_a_minute_of_their_window(limits, clock, tmp_path, monkeypatch):
    limits.hit("5/minute", "address:203.0.113.77")
    assert found_in_files(tmp_path, b"203.0.113.77")
    clock.now += 60 + CLEAN_EVERY_S + 1
    limits.hit("5/minute", "address:198.51.100.1")
    assert not found_in_files(tmp_path, b"203.0.113.77")
    # Nobody comes any more.
    clock.now += 60 + 1
    monkeypatch.setattr("server.guards.limits.CLEAN_EVERY_S", 0.01)
    ending = threading.Event()
    cleaning = threading.Thread(target=limits.run, args=(ending,))
    cleaning.start()
    end = time.monotonic() + 10
    while found_in_files(tmp_path, b"198.51.100.1") and time.monotonic() < end:
        time.sleep(0.02)
    ending.set()
    cleaning.join()
    assert not found_in_files(tmp_path, b"198.51.100.1")


def found_in_files(folder, text):
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_in_redis_every_window_expires_by_itself(redis_url, tmp_path):
    limits = RateLimits.open(redis_url, tmp_path)
    limits.hit("5/minute", "address:203.0.113.77")
    with redis.Redis.from_url(redis_url) as client:
        assert [0 < client.ttl(key) <= 60 for key in client.scan_iter()] == [True]


def test_without_its_folder_everything_is_allowed_and_the_log_says_so(tmp_path, caplog):
    limits = RateLimits(DiskStorage(tmp_path))
    (tmp_path / FILE).mkdir()
    assert [limits.hit("1/minute", "ada") for _ in range(2)] == [0, 0]
    assert "rate limits are not kept" in caplog.text


def test_settings_choose_where_counts_are_kept(tmp_path):
    limits = RateLimits.open("", tmp_path / "limits")
    limits.hit("1/minute", "ada")
    assert (tmp_path / "limits" / FILE).exists()


@pytest.mark.parametrize(("seconds", "whole"), [(0.001, 1), (1, 1), (1.2, 2), (59.9, 60)])
def test_retry_after_is_never_too_short(seconds, whole):
    assert retry_after(seconds) == whole
