"""Quality on the dashboard: test sets, their runs, comparisons and the gate, without any model."""

import io
import json
import re

import pytest

from server.domain.answer import Outcome
from server.domain.roles import Role
from server.domain.site import Site
from server.storage.feedback import FeedbackStore
from server.storage.holders import new_holder
from tests.admin.samples import ask
from tests.admin.samples_quality import QUESTIONS, chosen, fill, hold_back, make_run

ROOT = "/admin/sites/lantern/quality"
CASES = f"{ROOT}/cases"
NEW = f"{ROOT}/sets"
LINES = (
    '{"question": "How long do parcels take?", "expected_urls": ["/delivery"], "note": "kept as it is"}',
    '{"id": "radio", "question": "Reparieren Sie Radios? \\u00fc", "type": "unanswerable"}',
    '{"question": "And to islands?", "history": [{"question": "How long do parcels take?", "answer": "Two days."}]}',
)


@pytest.fixture
def filled(services, site):
    return fill(services)


def upload(operator, body, name="questions.jsonl", **fields):
    data = body if isinstance(body, bytes) else "\n".join(body).encode()
    return operator.send(NEW, {"file": (io.BytesIO(data), name), **fields}, f"{NEW}/upload",
                         content_type="multipart/form-data")  # fmt: skip


def only_set(services):
    (found,) = services.testsets.all("lantern")
    return found


def test_the_page_without_a_site_says_what_to_do(operator):
    assert "Add a site first" in operator.get("/admin/quality").text


def test_each_page_shows_what_is_stored(operator, filled):
    testset, run = filled
    expected = {
        "/admin/quality": "Holds an index back",
        ROOT: "Questions of every day",
        f"{ROOT}/sets/{testset}": "How long do parcels to islands take?",
        f"{ROOT}/sets/{testset}/cases/1": "https://lantern.example/delivery",
        f"{ROOT}/runs/{run}": "is recommended",
        f"{ROOT}/runs/{run}/answers": "right page at place 1",
        f"{ROOT}/runs/{run}/answers?show=missed": "right page not among ten",
        f"{ROOT}/compare": "equal by mrr@10",
        f"{ROOT}/gate": "Let it go live anyway",
        f"{ROOT}/runs/new": "How pages are searched",
    }
    for address, text in expected.items():
        shown = operator.get(address)
        assert shown.status_code == 200, address
        assert text in shown.text, address


def test_an_upload_comes_back_exactly_as_it_was(operator, services, site):
    assert upload(operator, LINES).status_code == 302
    made = only_set(services)
    assert (made.name, made.count, made.origin) == ("questions.jsonl", 3, "upload")
    assert operator.get(f"{ROOT}/sets/{made.id}.jsonl").text.splitlines() == list(LINES)
    again = upload(operator, operator.get(f"{ROOT}/sets/{made.id}.jsonl").data, upload_name="Again")
    second = services.testsets.all("lantern")[0]
    assert again.status_code == 302
    assert services.testsets.cases("lantern", second.id) == services.testsets.cases("lantern", made.id)


WRONG_FILES = [
    (["{", '{"question": "A?"}'], "Line 1 is not JSON"),
    (['{"question": "A?"}', '{"answer": "B"}'], "Line 2 needs an object with a &#34;question&#34;"),
    (['{"question": "A?", "expected_urls": "/a"}'], "must be a list of texts"),
    (['{"question": "A?", "must": ["("]}'], "is not a regular expression"),
    (['{"id": "a", "question": "A?"}', '{"id": "a", "question": "B?"}'], "stands on line 1 too"),
    (['["a"]'], "Line 1 needs an object"),
    (['{"question": "' + "x" * 1001 + '"}'], "more than 1,000 characters"),
    (['{"question": "A?", "history": 3}'], "must be a list of objects"),
    ([""], "The file is empty"),
    (["null"], "Line 1 needs an object"),
]


def test_a_wrong_line_is_named_and_nothing_is_stored(operator, services, site):
    for lines, told in WRONG_FILES:
        answer = upload(operator, lines)
        assert answer.status_code == 422, lines
        assert told in answer.text, lines
        assert services.testsets.all("lantern") == [], lines


def test_every_wrong_line_is_told_at_once(operator, site):
    answer = upload(operator, ["{", '{"question": "A?"}', "[]"])
    assert "Line 1" in answer.text
    assert "Line 3" in answer.text


def test_what_is_no_text_and_what_is_too_large_is_refused(operator, make_services, app, site, services):
    assert "not UTF-8" in upload(operator, b"\xff\xfe\x00").text
    assert "Choose a file" in operator.send(NEW, {}, f"{NEW}/upload").text
    many = "\n".join('{"question": "A?"}' for _ in range(services.settings.testset_questions + 1))
    assert "TESTSET_QUESTIONS" in upload(operator, many.encode()).text
    assert services.testsets.all("lantern") == []


def test_a_site_has_only_so_many_sets(operator, services, site):
    for number in range(services.settings.testsets_per_site):
        services.testsets.create("lantern", f"Set {number}", "hand")
    assert "TESTSETS_PER_SITE" in upload(operator, LINES).text
    answer = operator.send(CASES, {"question": "A?", "answerable": "1"}, CASES)
    assert answer.status_code == 422
    assert "TESTSETS_PER_SITE" in answer.text


def test_headings_are_ordered_and_the_page_waits_for_the_worker(operator, services, site):
    fields = {
        "count": "40",
        "unanswerable": "5",
        "kinds": ["headings", "faq"],
        "seed": "3",
        "headings_name": "Mine",
    }
    answer = operator.send(NEW, fields, f"{NEW}/headings")
    made = only_set(services)
    assert answer.location.endswith(f"/sets/{made.id}")
    assert (made.name, made.state, made.chosen["kinds"], made.chosen["count"]) == (
        "Mine",
        "waiting",
        ["headings", "faq"],
        40,
    )
    assert "data-active" in operator.get(f"{ROOT}/sets/{made.id}").text
    assert operator.get(f"{ROOT}/sets/{made.id}/progress").json["active"]


WRONG_HEADINGS = [
    ({"count": "0"}, "Write a whole number from 1 to 1,000."),
    ({"count": "many"}, "Write a whole number from 1 to 1,000."),
    ({"unanswerable": "-1"}, "Write a whole number from 0 to 1,000."),
    ({"kinds": []}, "Choose at least one."),
    ({"kinds": ["guesses"]}, "guesses"),
    ({"kinds": ["model"]}, "There is no chat model"),
    ({"headings_name": "x" * 101}, "at most 100 characters"),
]


def test_wrong_wishes_for_a_set_are_told_beside_their_field(operator, services, site):
    for fields, told in WRONG_HEADINGS:
        usual = {"count": "10", "unanswerable": "0", "kinds": ["headings"], "seed": "0"}
        answer = operator.send(NEW, usual | fields, f"{NEW}/headings")
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert services.testsets.all("lantern") == [], fields


def test_conversations_give_liked_questions_with_their_page_and_refused_ones(operator, services, site):
    liked = ask(services)
    visitor = services.conversations.get(liked.conversation_id).visitor_id
    FeedbackStore(services.database).put(liked.id, visitor, True)
    ask(services, question="Do you repair radios?", outcome=Outcome.REFUSED, citations=(), text="No.")
    ask(services, question="  do you repair RADIOS? ", outcome=Outcome.REFUSED, citations=(), text="No.")
    fields = {"helped": "y", "refused": "unanswerable", "days": "30", "most": "50"}
    assert operator.send(NEW, fields, f"{NEW}/conversations").status_code == 302
    cases = services.testsets.cases("lantern", only_set(services).id)
    assert [(case.question, case.answerable) for case in cases] == [
        (liked.question, True),
        (cases[1].question, False),
    ]
    assert cases[1].question.strip().lower() == "do you repair radios?"
    assert json.loads(cases[0].line)["expected_urls"] == [liked.answer.citations[0].url]


def test_refused_questions_can_count_as_answerable(operator, services, site):
    ask(services, question="Do you repair radios?", outcome=Outcome.REFUSED, citations=(), text="No.")
    operator.send(NEW, {"refused": "unknown", "days": "30", "most": "50"}, f"{NEW}/conversations")
    (case,) = services.testsets.cases("lantern", only_set(services).id)
    assert case.answerable


WRONG_VISITORS = [
    ({}, "Choose questions with a thumb up"),
    ({"helped": "y", "days": "0"}, "Write a whole number from 1 to 3,650."),
    ({"helped": "y"}, "Visitors asked no such question"),
    ({"helped": "y", "refused": "perhaps"}, "perhaps"),
]


def test_wrong_wishes_for_conversations_are_told(operator, services, site):
    for fields, told in WRONG_VISITORS:
        answer = operator.send(
            NEW, {"refused": "no", "days": "30", "most": "50"} | fields, f"{NEW}/conversations"
        )
        assert answer.status_code == 422, fields
        assert told in answer.text or told == "perhaps", fields


def test_a_question_is_saved_from_anywhere_and_the_way_leads_back(operator, services, site):
    fields = {"question": " How long do\nparcels take? ", "testset": "", "name": "From the playground",
              "url": "https://lantern.example/delivery", "answerable": "1", "next": "/admin/sites"}  # fmt: skip
    answer = operator.send(CASES, fields)
    assert (answer.status_code, answer.location) == (302, "/admin/sites")
    made = only_set(services)
    (case,) = services.testsets.cases("lantern", made.id)
    assert (made.name, case.question) == ("From the playground", "How long do parcels take?")
    assert json.loads(case.line)["expected_urls"] == ["https://lantern.example/delivery"]
    second = {
        "question": "Do you repair radios?",
        "testset": str(made.id),
        "answerable": "0",
        "next": "//evil.example",
    }
    assert operator.send(CASES, second).location == "/admin/"
    assert [one.answerable for one in services.testsets.cases("lantern", made.id)] == [True, False]


WRONG_CASES = [
    ({"question": "  "}, "Write the question"),
    ({"question": "x" * 1001}, "at most 1,000 characters"),
    ({"url": "javascript:alert(1)"}, "is no address of a page"),
    ({"url": "not an address"}, "is no address of a page"),
    ({"url": "/delivery", "answerable": "0"}, "leave the page empty"),
    ({"answerable": "2"}, "2"),
    ({"testset": "999"}, "This test set was removed"),
    ({"testset": "x"}, "This test set was removed"),
    ({"name": "x" * 101}, "at most 100 characters"),
    ({"url": "\n".join(f"/{n}" for n in range(21))}, "at most 20 pages"),
]


def test_a_wrong_question_is_not_saved_and_stays_in_the_form(operator, services, site):
    for fields, told in WRONG_CASES:
        answer = operator.send(
            CASES, {"question": "How?", "answerable": "1", "next": "/admin/sites"} | fields
        )
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert 'value="/admin/sites"' in answer.text, fields
        assert services.testsets.all("lantern") == [], fields


def test_a_question_is_changed_and_what_the_form_does_not_show_is_kept(operator, services, site):
    upload(operator, LINES)
    made = only_set(services)
    page = f"{ROOT}/sets/{made.id}/cases/1"
    fields = {"question": "How long does a parcel take?", "answerable": "1", "url": "/delivery\n/returns", "answer": "Two days.",
              "kind": "howto"}  # fmt: skip
    assert operator.send(page, fields).status_code == 302
    row = json.loads(services.testsets.case("lantern", made.id, 1).line)
    assert row == {"question": "How long does a parcel take?", "expected_urls": ["/delivery", "/returns"],
                   "note": "kept as it is", "type": "howto", "answer": "Two days."}  # fmt: skip
    unchanged = {
        "question": "Reparieren Sie Radios? ü",
        "answerable": "0",
        "url": "",
        "answer": "",
        "kind": "unanswerable",
    }
    assert operator.send(f"{ROOT}/sets/{made.id}/cases/2", unchanged).status_code == 302
    assert services.testsets.case("lantern", made.id, 2).line == LINES[1], (
        "what is not changed stays letter for letter"
    )


def test_a_question_is_taken_out_and_a_set_deleted(operator, services, site):
    upload(operator, LINES)
    made = only_set(services)
    operator.send(f"{ROOT}/sets/{made.id}/cases/2", {}, f"{ROOT}/sets/{made.id}/cases/2/remove")
    assert [case.number for case in services.testsets.cases("lantern", made.id)] == [1, 3]
    operator.send(f"{ROOT}/sets/{made.id}", {}, f"{ROOT}/sets/{made.id}/remove")
    assert services.testsets.all("lantern") == []


def test_a_set_that_the_gate_measures_by_is_not_deleted(operator, services, filled):
    testset, _ = filled
    operator.send(f"{ROOT}/sets/{testset}", {}, f"{ROOT}/sets/{testset}/remove")
    assert services.testsets.find(testset) is not None


def test_questions_are_searched_and_listed_in_pages(operator, services, filled):
    testset, _ = filled
    assert "Glow Maxi" not in operator.get(f"{ROOT}/sets/{testset}?search=refunds").text
    assert "No question fits" in operator.get(f"{ROOT}/sets/{testset}?search=50%25").text


def test_a_set_is_renamed(operator, services, site):
    upload(operator, LINES)
    made = only_set(services)
    assert operator.send(f"{ROOT}/sets/{made.id}", {"name": "Better"}).status_code == 302
    assert only_set(services).name == "Better"
    assert operator.send(f"{ROOT}/sets/{made.id}", {"name": " "}).status_code == 422


def test_a_run_is_queued_with_strategies_and_their_options(operator, services, site):
    upload(operator, LINES)
    made = only_set(services)
    fields = {"testset": str(made.id), "strategies": ["hybrid"], "specs": "raptor[clustering=tree], segments[model=false]",
              "flows": ["direct", "corrective"], "judge": "embedded", "abilities": "5", "limit": "2", "writes": "y"}  # fmt: skip
    answer = operator.send(f"{ROOT}/runs/new", fields)
    (run,) = services.quality_runs.all("lantern")
    assert answer.location.endswith(f"/runs/{run.id}")
    assert run.chosen["strategies"] == ["hybrid", "raptor", "segments[model=false]"], (
        "as they are written shortest"
    )
    assert (run.state, run.chosen["flows"], run.chosen["limit"]) == ("waiting", ["direct", "corrective"], 2)
    assert "The worker takes it up" in operator.get(f"{ROOT}/runs/{run.id}").text


WRONG_RUNS = [
    ({"strategies": []}, "Choose at least one strategy"),
    ({"strategies": ["magic"]}, "magic"),
    ({"specs": "raptor[depth=9]"}, "has no option"),
    ({"specs": "raptor["}, "is no strategy"),
    ({"specs": "hybrid[model=false]"}, "has no options of its own"),
    ({"flows": []}, "Choose at least one flow"),
    ({"flows": ["x"]}, "x"),
    ({"judge": "me"}, "me"),
    ({"judge": "model"}, "There is no chat model"),
    ({"limit": "-1"}, "Write a whole number from 0"),
    ({"limit": "few"}, "Write a whole number from 0"),
    ({"abilities": "5000"}, "Write a whole number from 0"),
    ({"testset": "99"}, "Choose a test set"),
    ({"specs": ",".join(f"raptor[max_layers={n}]" for n in range(1, 30))}, ""),
]


def test_a_wrong_run_is_not_queued(operator, services, site):
    upload(operator, LINES)
    for fields, told in WRONG_RUNS:
        usual = {"testset": str(only_set(services).id), "strategies": ["hybrid"], "flows": ["direct"], "judge": "none",
                 "abilities": "0", "limit": "0"}  # fmt: skip
        answer = operator.send(f"{ROOT}/runs/new", usual | fields)
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert services.quality_runs.all("lantern") == [], fields


def test_runs_are_stopped_resumed_and_deleted(operator, services, filled):
    _, run = filled
    running = services.quality_runs.all("lantern")[0]
    page = f"{ROOT}/runs/{running.id}"
    assert operator.get(f"{page}/progress").json["active"]
    operator.send(page, {}, f"{page}/stop")
    assert services.quality_runs.wanted(running.id) == "stop"
    assert "Stopping" in operator.get(page).text
    waiting = services.quality_runs.queue("lantern", running.testset_id, "x", chosen(), 50)
    page = f"{ROOT}/runs/{waiting.id}"
    operator.send(page, {}, f"{page}/stop")
    assert services.quality_runs.find(waiting.id).state == "stopped"
    operator.send(page, {}, f"{page}/resume")
    assert services.quality_runs.find(waiting.id).state == "waiting"
    operator.send(page, {}, f"{page}/remove")
    assert services.quality_runs.find(waiting.id) is None
    assert services.quality_runs.resume("lantern", run) is False, "one that is done does not go on"


def test_what_a_run_costs_is_told_and_agreed_to_before(operator, services, filled):
    testset, _ = filled
    services.quality_runs.stop("lantern", services.quality_runs.all("lantern")[0].id)
    run = services.quality_runs.queue("lantern", testset, "x", chosen(judge="model"), 50)
    busy = services.quality_runs.all("lantern")[1]
    services.quality_runs.remove("lantern", busy.id)
    holder = new_holder()
    assert services.quality_runs.work.claim(holder) == run.id
    costs = {"building": 12, "answering": 40, "judging": 30, "cost": 1.5, "calls": 82}
    services.quality_runs.work.end(run.id, holder, "asks", chosen={**run.chosen, "costs": costs})
    page = f"{ROOT}/runs/{run.id}"
    assert "about 82 times at most" in operator.get(page).text
    assert "1.50" in operator.get(page).text
    operator.send(page, {}, f"{page}/agree")
    kept = services.quality_runs.find(run.id)
    assert (kept.state, kept.chosen["agreed"]) == ("waiting", True)
    assert operator.send(page, {}, f"{page}/agree").status_code == 302
    assert services.quality_runs.find(run.id).state == "waiting"


def test_the_recommended_way_is_taken_with_an_audit_entry_and_a_crawl(operator, services, filled):
    _, run = filled
    page = f"{ROOT}/runs/{run}"
    operator.send(page, {"way": "segments[model=false], direct"}, f"{page}/use")
    assert services.sites.get("lantern").strategy == "segments[model=false]"
    assert services.crawls.latest("lantern").state == "waiting"
    assert "took the way" in services.audit.recent(1)[0].action
    operator.send(page, {"way": "nothing"}, f"{page}/use")
    assert services.sites.get("lantern").strategy == "segments[model=false]"


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


def test_two_runs_are_compared_question_by_question_the_largest_loss_first(operator, services, site):
    testset, _ = fill(services)
    made = services.testsets.get("lantern", testset)
    services.quality_runs.remove("lantern", services.quality_runs.all("lantern")[0].id)
    good, bad = make_run(services, made), make_run(services, made, misses=3)
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


def test_the_gate_is_set_and_turned_off(operator, services, site):
    upload(operator, LINES)
    made = only_set(services)
    fields = {"testset": str(made.id), "metric": "recall@5", "largest_drop": "2.5", "most": "80"}
    assert operator.send(f"{ROOT}/gate", fields).status_code == 302
    gate = services.gates.get("lantern")
    assert (gate.testset_id, gate.metric, gate.largest_drop, gate.most) == (made.id, "recall@5", 0.025, 80)
    assert 'value="2.5"' in operator.get(f"{ROOT}/gate").text
    operator.send(f"{ROOT}/gate", {}, f"{ROOT}/gate/off")
    assert services.gates.get("lantern") is None


WRONG_GATES = [
    ({"largest_drop": "-1"}, "from 0 to 100"),
    ({"largest_drop": "nan"}, "from 0 to 100"),
    ({"largest_drop": ""}, "from 0 to 100"),
    ({"most": "0"}, "from 1 to 2,000"),
    ({"metric": "luck"}, "luck"),
    ({"testset": "77"}, "Choose a test set"),
]


def test_a_wrong_gate_is_not_set(operator, services, site):
    upload(operator, LINES)
    for fields, told in WRONG_GATES:
        usual = {
            "testset": str(only_set(services).id),
            "metric": "ndcg@10",
            "largest_drop": "3",
            "most": "80",
        }
        answer = operator.send(f"{ROOT}/gate", usual | fields)
        assert answer.status_code == 422, fields
        assert told in answer.text or told == "luck", fields
        assert services.gates.get("lantern") is None, fields


@pytest.mark.parametrize(("button", "state"), [("release", "releasing"), ("drop", "dropping")])
def test_what_is_held_back_is_decided_by_an_editor(operator, services, filled, button, state):
    held = services.gates.held("lantern")
    operator.send(f"{ROOT}/gate", {"check": str(held.id)}, f"{ROOT}/gate/{button}")
    decided = services.gates.held("lantern")
    assert decided.state == state
    assert "@" in decided.decided_by
    assert services.queued == [("lantern", held.crawl_id)]
    assert services.crawls.get(held.crawl_id).state == "waiting"
    assert "index" in services.audit.recent(1)[0].action
    operator.send(f"{ROOT}/gate", {"check": str(held.id)}, f"{ROOT}/gate/{button}")
    assert len(services.queued) == 1, "a second press changes nothing"


def test_another_index_than_the_one_on_the_page_is_not_decided(operator, services, filled):
    old = services.gates.held("lantern")
    new = hold_back(services)
    operator.send(f"{ROOT}/gate", {"check": str(old.id)}, f"{ROOT}/gate/release")
    assert services.gates.held("lantern") == new


def test_objects_of_another_site_are_not_there(operator, services, filled):
    testset, run = filled
    services.sites.create(Site("other", "Other", ""))
    other = "/admin/sites/other/quality"
    for address in (f"sets/{testset}", f"sets/{testset}.jsonl", f"sets/{testset}/cases/1", f"runs/{run}",
                    f"runs/{run}/report.json", f"runs/{run}/answers", f"runs/{run}/progress"):  # fmt: skip
        assert operator.get(f"{other}/{address}").status_code == 404, address
    for action in ("stop", "resume", "agree", "use", "choices"):
        assert operator.send("/admin/quality", {}, f"{other}/runs/{run}/{action}").status_code == 404
    operator.send("/admin/quality", {}, f"{other}/runs/{run}/remove")
    operator.send("/admin/quality", {}, f"{other}/sets/{testset}/remove")
    assert services.quality_runs.find(run)
    assert services.testsets.find(testset)
    form = {"question": "A?", "answerable": "1", "testset": str(testset)}
    assert operator.send("/admin/quality", form, f"{other}/cases").status_code == 422


def test_texts_of_visitors_and_pages_are_escaped(operator, services, site):
    evil = "<script>alert(1)</script>"
    upload(
        operator,
        [json.dumps({"question": evil, "expected_urls": ["https://lantern.example/" + evil]})],
        upload_name=evil,
    )
    made = only_set(services)
    run = make_run(services, made)
    hold_back(services)
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


def test_a_viewer_sees_and_changes_nothing(app, services, operator, operator_id, filled):
    testset, run = filled
    services.operators.create("other@example.com", "x")
    services.operators.set_role(operator_id, Role.VIEWER)
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
