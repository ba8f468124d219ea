"""Quality on the dashboard: runs of test sets, comparisons, and the gate, without any model."""

import json
import re

import pytest
from sqlalchemy import update

from server.domain.roles import Role
from server.domain.site import Site
from server.storage.leases import new_holder
from server.storage.schema.quality import quality_runs
from tests.admin.conftest import queued
from tests.admin.quality.test_quality_sets import LINES, NEW, ROOT, only_set, upload
from tests.admin.samples_quality import QUESTIONS, chosen, fill, hold_back, make_run
from tests.admin.tabs import opened


@pytest.fixture
def filled(runtime, site):
    return fill(runtime)


def test_a_run_is_queued_with_strategies_and_their_options(operator, runtime, site):
    upload(operator, LINES)
    made = only_set(runtime)
    fields = {"testset": str(made.id), "strategies": ["hybrid"], "specs": "raptor[clustering=tree], segments[model=false]",
              "flows": ["direct", "corrective"], "judge": "embedded", "abilities": "5", "limit": "2", "writes": "y"}  # fmt: skip
    answer = operator.send(f"{ROOT}/runs/new", fields)
    (run,) = runtime.quality.runs.all("lantern")
    assert answer.location.endswith(f"/runs/{run.id}")
    assert run.chosen["strategies"] == ["hybrid", "raptor", "segments[model=false]"], (
        "as they are written shortest"
    )
    assert (run.state, run.chosen["flows"], run.chosen["limit"]) == ("waiting", ["direct", "corrective"], 2)
    shown = operator.get(f"{ROOT}/runs/{run.id}").text
    assert "It starts in a moment." in shown
    assert "Done" not in shown


WRONG_RUNS = [
    ({"strategies": []}, "Choose at least one search method"),
    ({"strategies": ["magic"]}, "magic"),
    ({"specs": "raptor[depth=9]"}, "has no option"),
    ({"specs": "raptor["}, "is no strategy"),
    ({"specs": "hybrid[model=false]"}, "has no options of its own"),
    ({"flows": []}, "Choose at least one."),
    ({"flows": ["x"]}, "x"),
    ({"judge": "me"}, "me"),
    ({"judge": "model"}, "There is no chat model"),
    ({"limit": "-1"}, "Write a whole number from 0"),
    ({"limit": "few"}, "Write a whole number from 0"),
    ({"abilities": "5000"}, "Write a whole number from 0"),
    ({"testset": "99"}, "Choose a test set"),
    ({"specs": ",".join(f"raptor[max_layers={n}]" for n in range(1, 30))}, ""),
]


def test_a_wrong_run_is_not_queued(operator, runtime, site):
    upload(operator, LINES)
    for fields, told in WRONG_RUNS:
        usual = {"testset": str(only_set(runtime).id), "strategies": ["hybrid"], "flows": ["direct"], "judge": "none",
                 "abilities": "0", "limit": "0"}  # fmt: skip
        answer = operator.send(f"{ROOT}/runs/new", usual | fields)
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert runtime.quality.runs.all("lantern") == [], fields


def test_runs_are_stopped_resumed_and_deleted(operator, runtime, filled):
    _, run = filled
    running = runtime.quality.runs.all("lantern")[0]
    page = f"{ROOT}/runs/{running.id}"
    assert operator.get(f"{page}/progress").json["active"]
    operator.send(page, {}, f"{page}/stop")
    assert runtime.quality.runs.wanted(running.id) == "stop"
    assert "Stopping" in operator.get(page).text
    waiting = runtime.quality.runs.queue("lantern", running.testset_id, "x", chosen(), 50)
    page = f"{ROOT}/runs/{waiting.id}"
    operator.send(page, {}, f"{page}/stop")
    assert runtime.quality.runs.find(waiting.id).state == "stopped"
    operator.send(page, {}, f"{page}/resume")
    assert runtime.quality.runs.find(waiting.id).state == "waiting"
    operator.send(page, {}, f"{page}/remove")
    assert runtime.quality.runs.find(waiting.id) is None
    assert runtime.quality.runs.resume("lantern", run) is False, "one that is done does not go on"


def test_what_a_run_costs_is_told_and_agreed_to_before(operator, runtime, filled):
    testset, _ = filled
    runtime.quality.runs.stop("lantern", runtime.quality.runs.all("lantern")[0].id)
    run = runtime.quality.runs.queue("lantern", testset, "x", chosen(judge="model"), 50)
    busy = runtime.quality.runs.all("lantern")[1]
    runtime.quality.runs.remove("lantern", busy.id)
    holder = new_holder()
    assert runtime.quality.runs.work.claim(holder) == run.id
    costs = {"building": 12, "answering": 40, "judging": 30, "cost": 1.5, "calls": 82}
    runtime.quality.runs.work.end(run.id, holder, "asks", chosen={**run.chosen, "costs": costs})
    page = f"{ROOT}/runs/{run.id}"
    assert "at most 82 times" in operator.get(page).text
    assert "1.50" in operator.get(page).text
    operator.send(page, {}, f"{page}/agree")
    kept = runtime.quality.runs.find(run.id)
    assert (kept.state, kept.chosen["agreed"]) == ("waiting", True)
    assert operator.send(page, {}, f"{page}/agree").status_code == 302
    assert runtime.quality.runs.find(run.id).state == "waiting"


def test_the_recommended_way_is_taken_with_an_audit_entry_and_a_crawl(operator, runtime, filled):
    _, run = filled
    page = f"{ROOT}/runs/{run}"
    operator.send(page, {"way": "segments[model=false], direct"}, f"{page}/use")
    assert runtime.stores.sites.get("lantern").strategy == "segments[model=false]"
    assert runtime.stores.crawls.latest("lantern").state == "waiting"
    assert "took the way" in runtime.people.audit.recent(1)[0].action
    operator.send(page, {"way": "nothing"}, f"{page}/use")
    assert runtime.stores.sites.get("lantern").strategy == "segments[model=false]"


def test_a_report_is_downloaded_in_every_form(operator, filled):
    _, run = filled
    page = f"{ROOT}/runs/{run}/report"
    assert operator.get(f"{page}.html").text.startswith("<!doctype html>")
    assert operator.get(f"{page}.json").json["site"]["id"] == "lantern"
    assert "Lantern Shop" in operator.get(f"{page}.md").text
    lines = operator.get(f"{page}.jsonl").text.splitlines()
    assert len(lines) == 3 * len(QUESTIONS)
    assert json.loads(lines[0])["ranked_urls"]
    assert operator.get(f"{page}.exe").status_code == 404


def test_two_runs_are_compared_question_by_question_the_largest_loss_first(operator, runtime, site):
    testset, _ = fill(runtime)
    made = runtime.quality.testsets.get("lantern", testset)
    runtime.quality.runs.remove("lantern", runtime.quality.runs.all("lantern")[0].id)
    good, bad = make_run(runtime, made), make_run(runtime, made, misses=3)
    way = "hybrid, direct"
    query = f"before={good}:{way}&after={bad}:{way}"
    shown = operator.get(f"{ROOT}/compare?{query}&metric=mrr@10").text
    assert "3 worse" in shown
    assert "0 better" in shown
    only = operator.get(f"{ROOT}/compare?{query}&metric=mrr@10&show=worse").text
    assert QUESTIONS[0][0] in only
    assert QUESTIONS[5][0] not in only
    assert "95 % interval" in only
    nonsense = operator.get(f"{ROOT}/compare?before=x&after=9:y&metric=zzz&show=zzz&run=abc")
    assert nonsense.status_code == 200


def test_the_gate_is_set_and_turned_off(operator, runtime, site):
    upload(operator, LINES)
    made = only_set(runtime)
    fields = {"testset": str(made.id), "metric": "recall@5", "largest_drop": "2.5", "most": "80"}
    assert operator.send(f"{ROOT}/gate", fields).status_code == 302
    gate = runtime.quality.gates.get("lantern")
    assert (gate.testset_id, gate.metric, gate.largest_drop, gate.most) == (made.id, "recall@5", 0.025, 80)
    assert 'value="2.5"' in operator.get(f"{ROOT}/gate").text
    operator.send(f"{ROOT}/gate", {}, f"{ROOT}/gate/off")
    assert runtime.quality.gates.get("lantern") is None


WRONG_GATES = [
    ({"largest_drop": "-1"}, "from 0 to 100"),
    ({"largest_drop": "nan"}, "from 0 to 100"),
    ({"largest_drop": ""}, "from 0 to 100"),
    ({"most": "0"}, "from 1 to 2,000"),
    ({"metric": "luck"}, "luck"),
    ({"testset": "77"}, "Choose a test set"),
]


def test_a_wrong_gate_is_not_set(operator, runtime, site):
    upload(operator, LINES)
    for fields, told in WRONG_GATES:
        usual = {
            "testset": str(only_set(runtime).id),
            "metric": "ndcg@10",
            "largest_drop": "3",
            "most": "80",
        }
        answer = operator.send(f"{ROOT}/gate", usual | fields)
        assert answer.status_code == 422, fields
        assert told in answer.text or told == "luck", fields
        assert runtime.quality.gates.get("lantern") is None, fields


@pytest.mark.parametrize(("button", "state"), [("release", "releasing"), ("drop", "dropping")])
def test_what_is_held_back_is_decided_by_an_editor(operator, runtime, filled, button, state):
    held = runtime.quality.gates.held("lantern")
    operator.send(f"{ROOT}/gate", {"check": str(held.id)}, f"{ROOT}/gate/{button}")
    decided = runtime.quality.gates.held("lantern")
    assert decided.state == state
    assert "@" in decided.decided_by
    assert queued(runtime) == [("lantern", held.crawl_id)]
    assert runtime.stores.crawls.get(held.crawl_id).state == "waiting"
    assert "index" in runtime.people.audit.recent(1)[0].action
    operator.send(f"{ROOT}/gate", {"check": str(held.id)}, f"{ROOT}/gate/{button}")
    assert len(queued(runtime)) == 1, "a second press changes nothing"


def test_another_index_than_the_one_on_the_page_is_not_decided(operator, runtime, filled):
    old = runtime.quality.gates.held("lantern")
    new = hold_back(runtime)
    operator.send(f"{ROOT}/gate", {"check": str(old.id)}, f"{ROOT}/gate/release")
    assert runtime.quality.gates.held("lantern") == new


def test_objects_of_another_site_are_not_there(operator, runtime, filled):
    testset, run = filled
    runtime.stores.sites.create(Site("other", "Other", ""))
    other = "/admin/sites/other/quality"
    for address in (f"sets/{testset}", f"sets/{testset}.jsonl", f"sets/{testset}/cases/1", f"runs/{run}",
                    f"runs/{run}/report.json", f"runs/{run}/answers", f"runs/{run}/progress"):  # fmt: skip
        assert operator.get(f"{other}/{address}").status_code == 404, address
    for action in ("stop", "resume", "agree", "use", "choices"):
        assert operator.send("/admin/quality", {}, f"{other}/runs/{run}/{action}").status_code == 404
    operator.send("/admin/quality", {}, f"{other}/runs/{run}/remove")
    operator.send("/admin/quality", {}, f"{other}/sets/{testset}/remove")
    assert runtime.quality.runs.find(run)
    assert runtime.quality.testsets.find(testset)
    form = {"question": "A?", "answerable": "1", "testset": str(testset)}
    assert operator.send("/admin/quality", form, f"{other}/cases").status_code == 422


def test_texts_of_visitors_and_pages_are_escaped(operator, runtime, site):
    evil = "<script>alert(1)</script>"
    upload(
        operator,
        [json.dumps({"question": evil, "expected_urls": ["https://lantern.example/" + evil]})],
        upload_name=evil,
    )
    made = only_set(runtime)
    run = make_run(runtime, made)
    hold_back(runtime)
    for address in (ROOT, f"{ROOT}/sets/{made.id}", f"{ROOT}/sets/{made.id}/cases/1", f"{ROOT}/runs/{run}",
                    f"{ROOT}/runs/{run}/answers", f"{ROOT}/compare", f"{ROOT}/gate"):  # fmt: skip
        assert evil not in operator.get(address).text, address


def test_no_page_has_a_style_or_a_script_within(operator, filled):
    _testset, run = filled
    for address in (
        ROOT,
        f"{ROOT}/runs/{run}",
        f"{ROOT}/runs/{run}/answers",
        f"{ROOT}/gate",
        f"{ROOT}/compare",
        NEW,
    ):
        text = operator.get(address).text
        assert not re.search(r"\sstyle=|<style|<script(?![^>]* src=)", text), address


def test_a_viewer_sees_and_changes_nothing(app, runtime, operator, operator_id, filled):
    testset, run = filled
    runtime.people.operators.create("other@example.com", "x")
    runtime.people.operators.set_role(operator_id, Role.VIEWER)
    shown = operator.get(f"{ROOT}/gate").text
    assert "Held back" in shown
    assert "Let it go live" not in shown
    assert "<form method" not in shown.split("</header>")[1]
    for address in (f"{ROOT}/sets/{testset}", f"{ROOT}/runs/{run}"):
        assert "<button" not in operator.get(address).text.split("</header>")[1].replace(
            '<button class="quiet">Search</button>', ""
        )
    assert operator.get(f"{ROOT}/runs/new").status_code == 403
    assert operator.send(ROOT, {}, f"{ROOT}/gate/off").status_code == 403


def test_what_is_opened_on_a_panel_stays_open_while_the_panel_changes(
    browser, address, cookie, runtime, filled
):
    running = runtime.quality.runs.all("lantern")[0]
    with opened(browser, address, "desk", "light", [cookie]) as tab:
        tab.goto(f"{ROOT}/runs/{running.id}")
        tab.locator("summary", has_text="Delete").click()
        with runtime.database.begin() as connection:
            connection.execute(update(quality_runs).where(quality_runs.c.id == running.id).values(done=40))
        tab.get_by_text("40 of").wait_for()
        assert tab.get_by_role("button", name="Delete for good: this run").is_visible()
        assert tab.evaluate("document.activeElement.textContent") == "Delete"
