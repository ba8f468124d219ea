"""Requests wait for a thread by site, and the sites take turns."""

from server.connections import Turns


def begun(turns):
    found = []
    while (request := turns.next()) is not None:
        found.append(request)
    return found


def filled(threads, waiting):
    turns = Turns(threads)
    for request in waiting:
        turns.add(request, request[0])
    return turns


def test_a_request_of_another_site_is_next():
    assert begun(filled(100, ["a1", "a2", "a3", "b1", "a4", "b2"])) == ["a1", "b1", "a2", "b2", "a3", "a4"]


def test_one_site_leaves_an_eighth_of_the_threads():
    turns = filled(8, [f"a{number}" for number in range(10)])
    assert begun(turns) == [f"a{number}" for number in range(7)]
    turns.add("b0", "b")
    turns.add("b1", "b")
    assert begun(turns) == ["b0"], "all threads are busy"
    turns.end("a0")
    assert begun(turns) == ["a7"]
    turns.end("b0")
    assert begun(turns) == ["b1"]
    for request in [*(f"a{number}" for number in range(1, 8)), "b1"]:
        turns.end(request)
    assert begun(turns) == ["a8", "a9"]
    assert not turns


def test_a_probe_that_never_waited_may_end():
    turns = filled(1, ["a1"])
    turns.end("probe")
    assert begun(turns) == ["a1"]
