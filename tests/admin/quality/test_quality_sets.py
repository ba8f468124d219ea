"""Quality on the dashboard: its pages, and test sets with their questions, without any model."""

import io
import json

import pytest

from server.domain.answer import Outcome
from server.storage.conversations.feedback import FeedbackStore
from tests.admin.samples import ask
from tests.admin.samples_quality import fill

ROOT = "/admin/sites/lantern/quality"
CASES = f"{ROOT}/cases"
NEW = f"{ROOT}/sets"
LINES = (
    '{"question": "How long do parcels take?", "expected_urls": ["/delivery"], "note": "kept as it is"}',
    '{"id": "radio", "question": "Reparieren Sie Radios? \\u00fc", "type": "unanswerable"}',
    '{"question": "And to islands?", "history": [{"question": "How long do parcels take?", "answer": "Two days."}]}',
)


@pytest.fixture
def filled(runtime, site):
    return fill(runtime)


def upload(operator, body, name="questions.jsonl", **fields):
    data = body if isinstance(body, bytes) else "\n".join(body).encode()
    return operator.send(NEW, {"file": (io.BytesIO(data), name), **fields}, f"{NEW}/upload",
                         content_type="multipart/form-data")  # fmt: skip


def only_set(runtime):
    (found,) = runtime.quality.testsets.all("lantern")
    return found


def test_the_page_without_a_site_says_what_to_do(operator):
    assert "Add a site first" in operator.get("/admin/quality").text


def test_each_page_shows_what_is_stored(operator, filled):
    testset, run = filled
    expected = {
        "/admin/quality": "Holds changes back",
        ROOT: "Questions of every day",
        f"{ROOT}/sets/{testset}": "How long do parcels to islands take?",
        f"{ROOT}/sets/{testset}/cases/1": "https://lantern.example/delivery",
        f"{ROOT}/runs/{run}": "Recommended:",
        f"{ROOT}/runs/{run}/answers": "right page at place 1",
        f"{ROOT}/runs/{run}/answers?show=missed": "right page not among ten",
        f"{ROOT}/compare": "equal.",
        f"{ROOT}/gate": "Let it go live anyway",
        f"{ROOT}/runs/new": "Words and meaning together",
    }
    for address, text in expected.items():
        shown = operator.get(address)
        assert shown.status_code == 200, address
        assert text in shown.text, address


def test_an_upload_comes_back_exactly_as_it_was(operator, runtime, site):
    assert upload(operator, LINES).status_code == 302
    made = only_set(runtime)
    assert (made.name, made.count, made.origin) == ("questions.jsonl", 3, "upload")
    assert operator.get(f"{ROOT}/sets/{made.id}.jsonl").text.splitlines() == list(LINES)
    again = upload(operator, operator.get(f"{ROOT}/sets/{made.id}.jsonl").data, upload_name="Again")
    second = runtime.quality.testsets.all("lantern")[0]
    assert again.status_code == 302
    assert runtime.quality.testsets.cases("lantern", second.id) == runtime.quality.testsets.cases(
        "lantern", made.id
    )


WRONG_FILES = [
    (["{", '{"question": "A?"}'], "Line 1 is not JSON"),
    (['{"question": "A?"}', '{"answer": "B"}'], "Line 2 needs an object with a &#34;question&#34;"),
    (['{"question": "A?", "expected_urls": "/a"}'], "must be a list of texts"),
    (['{"question": "A?", "must": ["("]}'], "is not a regular expression"),
    (['{"id": "a", "question": "A?"}', '{"id": "a", "question": "B?"}'], "is on line 1 too"),
    (['["a"]'], "Line 1 needs an object"),
    (['{"question": "' + "x" * 1001 + '"}'], "more than 1,000 characters"),
    (['{"question": "A?", "history": 3}'], "must be a list of objects"),
    ([""], "The file is empty"),
    (["null"], "Line 1 needs an object"),
]


def test_a_wrong_line_is_named_and_nothing_is_stored(operator, runtime, site):
    for lines, told in WRONG_FILES:
        answer = upload(operator, lines)
        assert answer.status_code == 422, lines
        assert told in answer.text, lines
        assert runtime.quality.testsets.all("lantern") == [], lines


def test_every_wrong_line_is_told_at_once(operator, site):
    answer = upload(operator, ["{", '{"question": "A?"}', "[]"])
    assert "Line 1" in answer.text
    assert "Line 3" in answer.text


def test_what_is_no_text_and_what_is_too_large_is_refused(operator, make_runtime, app, site, runtime):
    assert "not UTF-8" in upload(operator, b"\xff\xfe\x00").text
    assert "Choose a file" in operator.send(NEW, {}, f"{NEW}/upload").text
    many = "\n".join(
        '{"question": "A?"}' for _ in range(runtime.configuration.settings.quality.testset_questions + 1)
    )
    assert "TESTSET_QUESTIONS" in upload(operator, many.encode()).text
    assert runtime.quality.testsets.all("lantern") == []


def test_a_site_has_only_so_many_sets(operator, runtime, site):
    for number in range(runtime.configuration.settings.quality.testsets_per_site):
        runtime.quality.testsets.create("lantern", f"Set {number}", "hand")
    assert "which is the limit" in upload(operator, LINES).text
    answer = operator.send(CASES, {"question": "A?", "answerable": "1"}, CASES)
    assert answer.status_code == 422
    assert "which is the limit" in answer.text


def test_headings_are_ordered_and_the_page_waits_for_the_worker(operator, runtime, site):
    fields = {
        "count": "40",
        "unanswerable": "5",
        "kinds": ["headings", "faq"],
        "seed": "3",
        "headings_name": "Mine",
    }
    answer = operator.send(NEW, fields, f"{NEW}/headings")
    made = only_set(runtime)
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


def test_wrong_wishes_for_a_set_are_told_beside_their_field(operator, runtime, site):
    for fields, told in WRONG_HEADINGS:
        usual = {"count": "10", "unanswerable": "0", "kinds": ["headings"], "seed": "0"}
        answer = operator.send(NEW, usual | fields, f"{NEW}/headings")
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert runtime.quality.testsets.all("lantern") == [], fields


def test_limits_of_numbers_are_written_as_the_reader_writes_them(operator, site):
    usual = {"count": "0", "unanswerable": "0", "kinds": ["headings"], "seed": "0"}
    operator.http.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    assert "von 1 bis 1.000 ein" in operator.send(NEW, usual, f"{NEW}/headings").text


def test_conversations_give_liked_questions_with_their_page_and_refused_ones(operator, runtime, site):
    liked = ask(runtime)
    visitor = runtime.dialogue.conversations.get(liked.conversation_id).visitor_id
    FeedbackStore(runtime.database).put(liked.id, visitor, True)
    ask(runtime, question="Do you repair radios?", outcome=Outcome.REFUSED, citations=(), text="No.")
    ask(runtime, question="  do you repair RADIOS? ", outcome=Outcome.REFUSED, citations=(), text="No.")
    fields = {"helped": "y", "refused": "unanswerable", "days": "30", "most": "50"}
    assert operator.send(NEW, fields, f"{NEW}/conversations").status_code == 302
    cases = runtime.quality.testsets.cases("lantern", only_set(runtime).id)
    assert [(case.question, case.answerable) for case in cases] == [
        (liked.question, True),
        (cases[1].question, False),
    ]
    assert cases[1].question.strip().lower() == "do you repair radios?"
    assert json.loads(cases[0].line)["expected_urls"] == [liked.answer.citations[0].url]


def test_refused_questions_can_count_as_answerable(operator, runtime, site):
    ask(runtime, question="Do you repair radios?", outcome=Outcome.REFUSED, citations=(), text="No.")
    operator.send(NEW, {"refused": "unknown", "days": "30", "most": "50"}, f"{NEW}/conversations")
    (case,) = runtime.quality.testsets.cases("lantern", only_set(runtime).id)
    assert case.answerable


WRONG_VISITORS = [
    ({}, "Choose questions with a thumb up"),
    ({"helped": "y", "days": "0"}, "Write a whole number from 1 to 3,650."),
    ({"helped": "y"}, "Visitors asked no such question"),
    ({"helped": "y", "refused": "perhaps"}, "perhaps"),
]


def test_wrong_wishes_for_conversations_are_told(operator, runtime, site):
    for fields, told in WRONG_VISITORS:
        answer = operator.send(
            NEW, {"refused": "no", "days": "30", "most": "50"} | fields, f"{NEW}/conversations"
        )
        assert answer.status_code == 422, fields
        assert told in answer.text or told == "perhaps", fields


def test_a_question_is_saved_from_anywhere_and_the_way_leads_back(operator, runtime, site):
    fields = {"question": " How long do\nparcels take? ", "testset": "", "name": "From the playground",
              "url": "https://lantern.example/delivery", "answerable": "1", "next": "/admin/sites"}  # fmt: skip
    answer = operator.send(CASES, fields)
    assert (answer.status_code, answer.location) == (302, "/admin/sites")
    made = only_set(runtime)
    (case,) = runtime.quality.testsets.cases("lantern", made.id)
    assert (made.name, case.question) == ("From the playground", "How long do parcels take?")
    assert json.loads(case.line)["expected_urls"] == ["https://lantern.example/delivery"]
    second = {
        "question": "Do you repair radios?",
        "testset": str(made.id),
        "answerable": "0",
        "next": "//evil.example",
    }
    assert operator.send(CASES, second).location == "/admin/"
    assert [one.answerable for one in runtime.quality.testsets.cases("lantern", made.id)] == [True, False]


WRONG_CASES = [
    ({"question": "  "}, "Write the question"),
    ({"question": "x" * 1001}, "at most 1,000 characters"),
    ({"url": "javascript:alert(1)"}, "is no address of a page"),
    ({"url": "not an address"}, "is no address of a page"),
    ({"url": "/delivery", "answerable": "0"}, "leave the page empty"),
    ({"answerable": "2"}, "2"),
    ({"testset": "999"}, "This test set was deleted"),
    ({"testset": "x"}, "This test set was deleted"),
    ({"name": "x" * 101}, "at most 100 characters"),
    ({"url": "\n".join(f"/{n}" for n in range(21))}, "at most 20 pages"),
]


def test_a_wrong_question_is_not_saved_and_stays_in_the_form(operator, runtime, site):
    for fields, told in WRONG_CASES:
        answer = operator.send(
            CASES, {"question": "How?", "answerable": "1", "next": "/admin/sites"} | fields
        )
        assert answer.status_code == 422, fields
        assert told in answer.text, fields
        assert 'value="/admin/sites"' in answer.text, fields
        assert runtime.quality.testsets.all("lantern") == [], fields


def test_a_question_is_changed_and_what_the_form_does_not_show_is_kept(operator, runtime, site):
    upload(operator, LINES)
    made = only_set(runtime)
    page = f"{ROOT}/sets/{made.id}/cases/1"
    fields = {"question": "How long does a parcel take?", "answerable": "1", "url": "/delivery\n/returns", "answer": "Two days.",
              "kind": "howto"}  # fmt: skip
    assert operator.send(page, fields).status_code == 302
    row = json.loads(runtime.quality.testsets.case("lantern", made.id, 1).line)
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
    assert runtime.quality.testsets.case("lantern", made.id, 2).line == LINES[1], (
        "what is not changed stays letter for letter"
    )


def test_a_question_is_taken_out_and_a_set_deleted(operator, runtime, site):
    upload(operator, LINES)
    made = only_set(runtime)
    operator.send(f"{ROOT}/sets/{made.id}/cases/2", {}, f"{ROOT}/sets/{made.id}/cases/2/remove")
    assert [case.number for case in runtime.quality.testsets.cases("lantern", made.id)] == [1, 3]
    operator.send(f"{ROOT}/sets/{made.id}", {}, f"{ROOT}/sets/{made.id}/remove")
    assert runtime.quality.testsets.all("lantern") == []


def test_a_set_that_the_gate_measures_by_is_not_deleted(operator, runtime, filled):
    testset, _ = filled
    operator.send(f"{ROOT}/sets/{testset}", {}, f"{ROOT}/sets/{testset}/remove")
    assert runtime.quality.testsets.find(testset) is not None


def test_questions_are_searched_and_listed_in_pages(operator, runtime, filled):
    testset, _ = filled
    assert "Glow Maxi" not in operator.get(f"{ROOT}/sets/{testset}?search=refunds").text
    assert "No question matches" in operator.get(f"{ROOT}/sets/{testset}?search=50%25").text


def test_a_set_is_renamed(operator, runtime, site):
    upload(operator, LINES)
    made = only_set(runtime)
    assert operator.send(f"{ROOT}/sets/{made.id}", {"name": "Better"}).status_code == 302
    assert only_set(runtime).name == "Better"
    assert operator.send(f"{ROOT}/sets/{made.id}", {"name": " "}).status_code == 422
