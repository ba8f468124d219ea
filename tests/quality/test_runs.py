"""Runs of a test set by the worker, on a real index."""

import json
import threading
from threading import Event

import pytest

from server.quality.runs import FOLDER
from server.storage.leases import new_holder
from tests.quality.conftest import open_shop

CHOSEN = {"strategies": ["hybrid", "lexical"], "flows": ["direct"], "judge": "embedded", "abilities": 0, "limit": 0,
          "writes": True}  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, model_cache):
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(model_cache)
    with open_shop(folder) as shop:
        assert shop.crawl().state == "done"
        yield shop


@pytest.fixture
def testset(crawled):
    return crawled.add_test_set()


def queue(shop, testset, **other):
    return shop.runtime.quality.runs.queue("shop", testset.id, testset.name, CHOSEN | other, 50)


def work(shop, ending=None):
    return shop.runtime.quality_worker.work_once(ending or Event())


def test_a_run_asks_every_question_in_every_way_and_its_report_is_in_the_database(crawled, testset):
    run = queue(crawled, testset)
    assert work(crawled)
    store = crawled.runtime.quality.runs
    done = store.find(run.id)
    assert (done.state, done.questions, done.generation) == ("done", 6, crawled.generation)
    assert [way["name"] for way in done.summary] == ["hybrid, direct", "lexical, direct"]
    assert done.summary[0]["metrics"]["hit@5"] == 1
    assert done.summary[0]["metrics"]["groundedness"] > 0.5
    report = store.report(run.id)
    assert report["recommended"]["way"] == "hybrid, direct"
    answers = store.answers(run.id, 1, [row["id"] for row in report["rows"][:3]])
    assert all(answer["strategy"] == "lexical" and answer["ranked_urls"] for answer in answers.values())
    assert not work(crawled), "nothing is left to do"


def test_a_run_that_is_stopped_goes_on_where_it_was(crawled, testset, monkeypatch):
    from server.quality.variant import Evaluation

    asked = []
    ask = Evaluation.ask
    run = queue(crawled, testset, judge="none")

    def counted(self, case):
        asked.append(case.id)
        if len(asked) == 4:
            crawled.runtime.quality.runs.stop("shop", run.id)
            # The watch learns of it within a second; the step after that ends the run.
            for thread in threading.enumerate():
                if thread.name == "quality-watch":
                    thread.join(1.5)
        return ask(self, case)

    monkeypatch.setattr(Evaluation, "ask", counted)
    work(crawled)
    store = crawled.runtime.quality.runs
    assert store.find(run.id).state == "stopped"
    before = len(asked)
    assert before < 12
    assert store.resume("shop", run.id)
    work(crawled)
    assert store.find(run.id).state == "done"
    assert len(asked) == 12, "each question was asked once in each way"


def test_a_run_whose_worker_was_killed_goes_to_the_next_one(crawled, testset):
    store = crawled.runtime.quality.runs
    run = queue(crawled, testset, judge="none", strategies=["hybrid"])
    gone = new_holder().replace(" ", " 4194304 ", 1).split(" ")
    assert store.work.claim(" ".join([gone[0], "4194304", "dead"])) == run.id
    assert store.find(run.id).state == "running"
    assert work(crawled)
    assert store.find(run.id).state == "done"


def test_one_run_at_a_time_in_the_whole_installation(crawled, testset):
    store = crawled.runtime.quality.runs
    first, second = queue(crawled, testset), queue(crawled, testset)
    holder = new_holder()
    assert store.work.claim(holder) == first.id
    assert store.before(second) == 1
    assert not work(crawled)
    assert store.work.end(first.id, holder, "stopped")
    store.remove("shop", second.id)


def test_a_worker_that_ends_leaves_the_run_to_the_next(crawled, testset):
    run = queue(crawled, testset)
    ending = Event()
    ending.set()
    assert not work(crawled, ending)
    assert crawled.runtime.quality.runs.find(run.id).state == "waiting"
    crawled.runtime.quality.runs.remove("shop", run.id)


def test_a_run_of_a_deleted_set_fails_with_what_to_do(crawled, testset):
    run = queue(crawled, testset)
    crawled.runtime.quality.testsets.remove("shop", testset.id)
    work(crawled)
    ended = crawled.runtime.quality.runs.find(run.id)
    assert (ended.state, "deleted before the run began" in ended.message) == ("failed", True)


def test_a_deleted_run_leaves_no_folder(crawled, testset):
    run = queue(crawled, testset, judge="none", strategies=["lexical"])
    work(crawled)
    folder = crawled.runtime.configuration.folder.path / FOLDER
    (own,) = [place for place in folder.iterdir() if place.name.startswith(f"{run.id}-")]
    crawled.runtime.quality.runs.remove("shop", run.id)
    other = queue(crawled, testset, judge="none", strategies=["lexical"], limit=1)
    work(crawled)
    assert not own.exists()
    assert crawled.runtime.quality.runs.find(other.id).questions == 1


def test_a_set_is_made_from_the_headings_by_the_worker(crawled):
    chosen = {"count": 5, "kinds": ["headings"], "unanswerable": 1, "seed": 0}
    ordered = crawled.runtime.quality.testsets.order("shop", "Mine", "headings", chosen)
    assert work(crawled)
    made = crawled.runtime.quality.testsets.get("shop", ordered.id)
    assert made.is_ready
    assert made.count >= 4
    lines = [json.loads(case.line) for case in crawled.runtime.quality.testsets.cases("shop", made.id)]
    assert any(line.get("type") == "unanswerable" and line["left_out"] for line in lines)
    assert all(url.startswith(crawled.website.url) for line in lines for url in line.get("expected_urls", ()))


def test_a_set_that_cannot_be_made_says_why(crawled):
    chosen = {"count": 5, "kinds": ["faq"], "unanswerable": 0, "seed": 0}
    ordered = crawled.runtime.quality.testsets.order("shop", "None", "headings", chosen)
    work(crawled)
    made = crawled.runtime.quality.testsets.get("shop", ordered.id)
    assert (made.state, "no question of these kinds" in made.message) == ("failed", True)
