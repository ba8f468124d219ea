"""More entries than a dictionary may keep in memory."""

import random
import threading

import pytest

from crawler.spilling import Spilling


def test_it_is_a_dictionary_however_many_entries_are_in_the_file():
    spilling, plain, chance = Spilling(most_here=7), {}, random.Random(4)
    for _ in range(3000):
        key, value = f"key {chance.randrange(400)}", chance.randrange(9)
        if value == 0 and key in plain:
            del spilling[key], plain[key]
        elif value == 1:
            assert spilling.setdefault(key, 5) == plain.setdefault(key, 5)
        else:
            spilling[key] = plain[key] = value
        assert spilling.get(key) == plain.get(key)
        assert len(spilling) == len(plain)
    assert dict(spilling) == plain
    assert sorted(spilling) == sorted(plain)
    assert "key 1000" not in spilling
    with pytest.raises(KeyError):
        del spilling["key 1000"]


def test_few_entries_need_no_file():
    spilling = Spilling(most_here=10)
    spilling.update((str(number), number) for number in range(10))
    assert spilling._file is None


def test_values_come_back_as_they_were():
    spilling = Spilling(lambda pair: list(pair), lambda parts: tuple(parts), most_here=1)
    spilling["a"], spilling["b"], spilling["ü\0\udc80"] = (1, "x"), (2, "Straße"), (3, "")
    assert dict(spilling) == {"a": (1, "x"), "b": (2, "Straße"), "ü\0\udc80": (3, "")}


def test_many_threads_may_write_at_once():
    spilling = Spilling(most_here=20)

    def write(name):
        for number in range(300):
            spilling[f"{name}{number}"] = number

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spilling) == len(set(spilling)) == 1200
