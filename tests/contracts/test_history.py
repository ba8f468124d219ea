"""Both histories keep the protocol History, and survive what happens to caches."""

import threading
from functools import partial
from pathlib import Path

import pytest

from server.domain.question import Turn
from server.storage.conversations.history import DiskHistory, RedisHistory


@pytest.fixture(params=["disk", "redis"])
def make(request, tmp_path):
    """Opens a history with its turns and minutes; every one made in a test shares the same place."""
    if request.param == "disk":
        place = partial(DiskHistory, tmp_path / "history")
    else:
        place = partial(RedisHistory, request.getfixturevalue("redis_url"))
    opened = []

    def open_history(turns=3, minutes=5.0):
        opened.append(place(turns, minutes))
        return opened[-1]

    yield open_history
    for history in opened:
        history.close()


def turn(text):
    return Turn(f"question {text}", f"answer {text}", f"query {text}")


def test_an_unknown_conversation_has_no_turns(make):
    assert make().turns("none") == ()


def test_turns_come_back_oldest_first(make):
    history = make()
    history.add("c", turn("1"))
    history.add("c", turn("2"))
    assert history.turns("c") == (turn("1"), turn("2"))


def test_only_the_last_turns_are_kept(make):
    history = make(turns=2)
    for number in range(5):
        history.add("c", turn(number))
    assert history.turns("c") == (turn(3), turn(4))


def test_no_turns_are_kept_when_none_are_wanted(make):
    history = make(turns=0)
    history.add("c", turn("1"))
    assert history.turns("c") == ()
    assert make(turns=3).turns("c") == ()


def test_conversations_do_not_mix(make):
    history = make()
    history.add("c", turn("1"))
    history.add("d", turn("2"))
    history.forget("c")
    history.forget("never there")
    assert history.turns("c") == ()
    assert history.turns("d") == (turn("2"),)


def test_a_conversation_expires(make):
    gone = make(minutes=0.001)
    gone.add("c", turn("1"))
    waiting = threading.Event()
    for _ in range(200):
        if not gone.turns("c"):
            break
        waiting.wait(0.02)
    assert gone.turns("c") == ()
    gone.add("c", turn("2"))
    assert len(make(minutes=5).turns("c")) <= 1


def test_a_turn_lets_the_conversation_live_its_whole_time_again(make):
    make(minutes=0.01).add("c", turn("1"))
    make(minutes=5).add("c", turn("2"))
    threading.Event().wait(0.7)  # the first time to live has passed
    assert make().turns("c") == (turn("1"), turn("2"))


def test_any_text_is_kept(make):
    history = make()
    odd = Turn("nul \0 汉字 😀", "lone \ud800 ' \" \\", "")
    history.add("\0 \ud800", odd)
    assert history.turns("\0 \ud800") == (odd,)


def test_another_process_sees_the_turns(make):
    make().add("c", turn("1"))
    assert make().turns("c") == (turn("1"),)


def test_no_turn_is_lost_when_many_threads_add(make):
    histories = [make(turns=50), make(turns=50)]
    threads = [
        threading.Thread(target=histories[number % 2].add, args=("c", turn(number))) for number in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(histories[0].turns("c")) == {turn(number) for number in range(40)}


def test_a_threaded_process_opens_few_files(tmp_path):
    history = DiskHistory(tmp_path / "history", 5, 5)
    held = threading.Barrier(101)

    def ask(number):
        history.add(f"c{number}", turn(number))
        held.wait()
        held.wait()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    held.wait()
    files = [target for target in opened_files() if target.startswith(str(tmp_path))]
    held.wait()
    for thread in threads:
        thread.join()
    history.close()
    assert 1 <= len(files) < 10


def opened_files():
    for entry in Path("/proc/self/fd").iterdir():
        try:
            yield str(entry.readlink())
        except FileNotFoundError:
            continue
