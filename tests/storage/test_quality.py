"""Test sets, their runs, the gate, and the content of a generation that is not live; on both databases."""

from threading import Thread

import pytest

from server.domain.site import Site
from server.quality.gate_store import (
    DROPPED,
    DROPPING,
    HELD,
    KEPT,
    PASSED,
    RELEASED,
    RELEASING,
    REPLACED,
    Gate,
    GateStore,
)
from server.quality.run_store import QualityRunStore
from server.quality.testset_store import StoredCase, TestSetStore
from server.storage.content.content import ContentStore
from server.storage.content.derived import DerivedStore
from server.storage.content.reader import ContentReader
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.leases import new_holder
from server.storage.sites.sites import SiteStore
from tests.storage.test_content import A, B, chunk, page

CHOSEN = {"strategies": ["hybrid"], "flows": ["direct"]}


@pytest.fixture
def sets(database, site):
    return TestSetStore(database)


@pytest.fixture
def runs(database, site):
    return QualityRunStore(database)


@pytest.fixture
def gates(database, site):
    return GateStore(database)


@pytest.fixture
def content(database, site):
    content = ContentStore(database, site.id)
    content.put_page(page(A), [chunk("a1"), chunk("a2", position=1)], [])
    content.put_page(page(B), [chunk("b1", B)], [])
    content.go_live()
    return content


def case(number, question="How long?", id=""):
    line = f'{{"question": "{question}"}}'
    return StoredCase(number, id or str(number), question, "lookup", True, line)


def measured(**values):
    return {
        "metric": "ndcg@10",
        "before": 0.9,
        "after": 0.7,
        "largest_drop": 0.03,
        "questions": 7,
        "details": {},
    } | values


def test_what_is_to_come_is_read_as_if_it_were_live_and_the_live_stays(database, content):
    content.put_page(page(A, "2"), [chunk("a3", text="New.")], ["a1", "a2"])
    content.remove_page(B)
    live, coming = ContentReader(database, "shop", 1), ContentReader(database, "shop", 2)
    assert [one.id for one in live.page(A)] == ["a1", "a2"] == [one.id for one in content.live.page(A)]
    assert [one.id for one in coming.page(A)] == ["a3"]
    assert list(coming.load(["b1", "a3", "a1"])) == ["a3"]
    assert list(live.load(["b1", "a3", "a1"])) == ["b1", "a1"]
    assert (live.counts(), coming.counts()) == ((2, 3), (1, 1))
    assert [one.url for one in coming.pages()] == [A]
    assert (coming.find(B) is not None, live.find(B) is not None) == (False, True)
    assert [one.id for one in coming.every_chunk()] == ["a3"]
    assert coming.live_generation() == 2
    assert ContentReader(database, "shop").live_generation() == 1


def test_derived_states_are_read_at_a_generation_and_those_to_come_dropped(database, content):
    now, coming = DerivedStore(database, "shop"), DerivedStore(database, "shop", 2)
    now.put("raptor", 1, "old", b"1", {})
    now.put("raptor", 2, "new", b"2", {})
    assert (now.live("raptor").signature, coming.live("raptor").signature) == ("old", "new")
    now.drop_coming()
    assert coming.live("raptor").signature == now.newest("raptor").signature == "old"


def test_a_set_keeps_its_lines_and_their_order(sets):
    made = sets.create("shop", "Mine", "upload", [case(1, id="x"), case(2, "Ünd 50% \\_?", "y")])
    assert [one.case_id for one in sets.cases("shop", made.id)] == ["x", "y"]
    assert sets.add("shop", made.id, case(0, "Third", "")).case_id == "0"
    assert sets.add("shop", made.id, StoredCase(0, "", "Q", "lookup", True, "{}")).case_id == "added-4"
    assert [one.case_id for one in sets.cases("shop", made.id, search="50% \\_")] == ["y"]
    assert sets.take_out("shop", made.id, 2)
    assert not sets.take_out("shop", made.id, 2)
    assert sets.get("shop", made.id).count == 3
    assert sets.counts() == {"shop": 1}


def test_nothing_of_a_set_is_stored_when_a_name_stands_twice(sets):
    with pytest.raises(UnknownSite):
        sets.create("shop", "Mine", "upload", [case(1, id="x"), case(2, id="x")])
    assert sets.all("shop") == []


def test_sets_and_runs_of_another_site_are_not_there(database, sets, runs):
    SiteStore(database).create(Site("other", "Other", ""))
    made = sets.create("shop", "Mine", "hand", [case(1)])
    run = runs.queue("shop", made.id, made.name, CHOSEN, 50)
    for call in (lambda: sets.get("other", made.id), lambda: sets.rename("other", made.id, "x"),
                 lambda: sets.case("other", made.id, 1), lambda: sets.take_out("other", made.id, 1)):  # fmt: skip
        with pytest.raises(UnknownRecord):
            call()
    with pytest.raises(UnknownRecord):
        runs.get("other", run.id)
    assert not sets.remove("other", made.id)
    assert not runs.remove("other", run.id)
    assert not runs.stop("other", run.id)
    assert sets.cases("other", made.id) == []


def test_of_many_workers_one_has_a_run(runs, sets):
    made = sets.create("shop", "Mine", "hand", [case(1)])
    first = runs.queue("shop", made.id, made.name, CHOSEN, 50)
    second = runs.queue("shop", made.id, made.name, CHOSEN, 50)
    taken = []
    workers = [Thread(target=lambda: taken.append(runs.work.claim(new_holder()))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken, key=str) == [first.id, None, None, None]
    assert runs.before(second) == 1


def test_what_a_killed_worker_left_goes_first_and_its_beat_counts_no_more(runs, sets):
    made = sets.create("shop", "Mine", "hand", [case(1)])
    left = runs.queue("shop", made.id, made.name, CHOSEN, 50)
    runs.queue("shop", made.id, made.name, CHOSEN, 50)
    gone = new_holder()
    place, _, _ = gone.split(" ")
    dead = f"{place} 4194304 dead"
    assert runs.work.claim(dead) == left.id
    mine = new_holder()
    assert runs.work.claim(mine) == left.id
    assert not runs.work.beat(left.id, dead, step="x")
    assert not runs.work.end(left.id, dead, "done")
    assert runs.work.beat(left.id, mine, step="y", done=1, total=2)
    assert (runs.find(left.id).step, runs.find(left.id).done) == ("y", 1)


def test_a_report_is_kept_whole_and_goes_with_its_run(runs, sets):
    made = sets.create("shop", "Mine", "hand", [case(1)])
    run = runs.queue("shop", made.id, made.name, CHOSEN, 50)
    rows = [{"id": "x", "run": way, "text": "ü"} for way in ("a", "b")]
    report = {"rows": rows, "n": 1.5, "runs": [{"name": "a"}, {"name": "b"}]}
    told = [(0, "x", {"answer": "Ü"}), (1, "x", {"answer": "two"})]
    for _ in range(2):
        runs.keep_report(run.id, report, told)
    assert runs.report(run.id) == report
    assert runs.report_head(run.id)["rows"] == []
    assert runs.report_rows(run.id, 1) == rows[1:]
    assert runs.report_rows(run.id, 7) == []
    assert runs.answers(run.id, 1, ["x", "y"]) == {"x": {"answer": "two"}}
    assert list(runs.every_answer(run.id)) == [{"answer": "Ü"}, {"answer": "two"}]
    runs.remove("shop", run.id)
    assert runs.report(run.id) is None
    assert list(runs.every_answer(run.id)) == []


def test_a_run_outlives_its_set_and_old_ones_go(runs, sets):
    made = sets.create("shop", "Mine", "hand", [case(1)])
    ended = []
    for _ in range(4):
        run = runs.queue("shop", made.id, made.name, CHOSEN, 2)
        runs.stop("shop", run.id)
        ended.append(run.id)
    assert len(runs.all("shop")) == 3, "two that had ended, and the newest"
    sets.remove("shop", made.id)
    assert runs.all("shop")[0].testset_id is None
    assert runs.newest()["shop"].id == max(runs.queued())


def test_what_is_held_is_the_generation_after_the_live_one(gates, content):
    made = gates.note("shop", 5, 2, HELD, measured())
    assert gates.held("shop") == made == gates.all_held()["shop"]
    again = gates.note("shop", 6, 2, HELD, measured(after=0.6))
    assert gates.held("shop") == again
    assert [one.state for one in gates.history("shop")] == [HELD, REPLACED]
    assert gates.decide(again, RELEASING, "ada")
    assert not gates.decide(again, DROPPING, "bob"), "it was decided meanwhile"
    content.put_page(page(A, "2"), [chunk("a3")], [])
    content.go_live()
    assert gates.held("shop") is None
    gates.settle("shop")
    assert gates.history("shop")[0].state == RELEASED


def test_what_passes_replaces_what_was_held(gates, content):
    gates.note("shop", 5, 2, HELD, measured())
    gates.note("shop", 6, 2, PASSED, measured(after=0.9))
    assert gates.held("shop") is None
    assert [one.state for one in gates.history("shop")] == [PASSED, REPLACED]
    dropping = gates.note("shop", 7, 2, HELD, measured())
    assert gates.decide(dropping, DROPPING, "ada")
    assert gates.decide(gates.held("shop"), DROPPED)
    assert gates.held("shop") is None


def test_a_gate_is_one_a_site_and_checks_are_not_kept_for_ever(gates, sets, content):
    made = sets.create("shop", "Mine", "hand", [case(1)])
    gates.set(Gate("shop", made.id, "ndcg@10", 0.03, 100))
    gates.set(Gate("shop", made.id, "mrr@10", 0.05, 10))
    assert gates.all() == {"shop": Gate("shop", made.id, "mrr@10", 0.05, 10)}
    for number in range(KEPT + 5):
        gates.note("shop", number, 2, PASSED, measured())
    assert len(gates.history("shop", 100)) == KEPT
    assert gates.remove("shop")
    assert not gates.remove("shop")
