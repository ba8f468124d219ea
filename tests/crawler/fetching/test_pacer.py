from __future__ import annotations

import threading
import time

import pytest

from crawler.fetching.pacer import Pacer

HERE, THERE = "https://example.com/a", "https://other.example/b"


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


def test_a_delay_of_one_host_does_not_hold_back_another(stop) -> None:
    pacer = Pacer(0.0, stop)
    pacer.at_least(30.0, HERE)
    assert pacer.wait(HERE)
    began = time.monotonic()
    assert all(pacer.wait(THERE) for _ in range(50))
    assert time.monotonic() - began < 5
    threading.Timer(0.05, stop.set).start()
    assert not pacer.wait(HERE)


def test_no_more_at_once_than_a_host_may_have(stop) -> None:
    pacer = Pacer(0.0, stop, host_concurrency=2)
    at_once, most, lock = 0, 0, threading.Lock()

    def ask() -> None:
        nonlocal at_once, most
        with pacer.slot(HERE) as may_ask:
            assert may_ask
            with lock:
                at_once += 1
                most = max(most, at_once)
            time.sleep(0.005)
            with lock:
                at_once -= 1

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def state(pacer: Pacer) -> tuple[float, int]:
    """Delay and requests at once of the host."""
    host = pacer._host(HERE)
    return host.delay, host.allowed


def test_an_overloaded_host_gets_half_and_ten_good_answers_give_it_back(stop) -> None:
    pacer = Pacer(1.0, stop, host_concurrency=16)
    for number in range(6):
        pacer.overloaded(f"{HERE}{number}", 0.0)
    assert state(pacer) == (30.0, 1)
    for _ in range(9):
        pacer.went_well(HERE)
    assert state(pacer)[0] > 1.0
    pacer.went_well(HERE)
    assert state(pacer) == (1.0, 16)
    assert pacer._host(THERE).allowed == 16


def test_complaints_of_requests_that_ran_together_count_once(stop) -> None:
    pacer = Pacer(1.0, stop, host_concurrency=8)
    for number in range(8):
        pacer.overloaded(f"{HERE}{number}", 5.0)
    assert state(pacer) == (2.0, 4)


def test_an_address_that_always_complains_counts_once(stop) -> None:
    pacer = Pacer(1.0, stop, host_concurrency=8)
    for _ in range(3):
        pacer.overloaded(HERE, 0.0)
    assert state(pacer) == (2.0, 4)


def test_silence_slows_the_host_when_several_addresses_are_silent(stop) -> None:
    pacer = Pacer(1.0, stop, host_concurrency=8)
    for _ in range(20):
        pacer.not_answered(HERE, 0.0)
    for number in range(20):
        pacer.not_answered(f"{HERE}{number}", 0.0)
        pacer.went_well(THERE.replace("other.example", "example.com"))
    assert state(pacer) == (1.0, 8)
    for number in range(3):
        pacer.not_answered(f"{HERE}{number}", 0.0)
    assert state(pacer) == (2.0, 4)


def test_a_pause_is_kept_by_all(stop) -> None:
    pacer = Pacer(0.0, stop)
    pacer.overloaded(HERE, 0.2)
    began = time.monotonic()
    assert pacer.wait(HERE)
    assert time.monotonic() - began >= 0.19


def test_who_waits_for_a_slot_leaves_when_the_crawl_stops(stop) -> None:
    pacer = Pacer(0.0, stop, host_concurrency=1)
    answers: list[bool] = []

    def ask() -> None:
        with pacer.slot(HERE) as may_ask:
            answers.append(may_ask)

    with pacer.slot(HERE):
        waiting = threading.Thread(target=ask)
        waiting.start()
        stop.set()
        waiting.join(timeout=5)
    assert answers == [False]
