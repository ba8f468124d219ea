"""The dashboard's pages of the operator's own answers, and of how a site answers."""

import io
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import update

from server.domain.curated import CuratedAnswer
from server.domain.site import Site
from server.domain.spending import Used
from server.storage.conversations.curated import count_hit
from server.storage.schema.quality import gap_questions, gaps
from tests.admin import samples_gaps
from tests.admin.samples import ask

PAGE = "/admin/sites/lantern/answers"
FILLED = {
    "question": "Do you deliver?",
    "also": "delivery?\n",
    "text": "**Yes**, daily.",
    "links": "",
    "language": "",
    "enabled": "y",
}


def test_an_answer_is_written_listed_changed_and_removed(operator, runtime, site):
    assert "No answer of your own yet" in operator.get(PAGE).text
    assert operator.send(f"{PAGE}/new", FILLED).location == f"{PAGE}/1"
    (made,) = runtime.stores.curated.all("lantern")
    assert (made.questions, made.text, made.enabled) == (
        ("Do you deliver?", "delivery?"),
        "**Yes**, daily.",
        True,
    )
    assert made.edited_by == "ada@example.com"
    assert "Do you deliver?" in operator.get(PAGE).text
    one = f"{PAGE}/{made.id}"
    assert "<strong>Yes</strong>" in operator.get(one).text
    operator.send(one, {**FILLED, "text": "No.", "enabled": ""})
    changed = runtime.stores.curated.get("lantern", made.id)
    assert (changed.text, changed.enabled) == ("No.", False)
    operator.send(PAGE, {}, f"{one}/remove")
    assert runtime.stores.curated.all("lantern") == []


def test_lines_end_with_one_character_whatever_the_browser_sends(operator, runtime, site):
    operator.send(f"{PAGE}/new", {**FILLED, "text": "Yes.\r\n\r\n- Daily\r\n- Free"})
    assert runtime.stores.curated.get("lantern", 1).text == "Yes.\n\n- Daily\n- Free"


def test_an_answer_is_removed_only_at_the_second_press(operator, runtime, site):
    runtime.stores.curated.save(CuratedAnswer("lantern", ("Do you deliver?",), "Yes."), "x")
    page = BeautifulSoup(operator.get(PAGE).text, "html.parser")
    button = page.select_one(f'form[action="{PAGE}/1/remove"] button')
    asked = button.find_parent("details")
    assert asked is not None
    assert not asked.has_attr("open")
    assert asked.summary["aria-label"] == "Remove: Do you deliver?"
    assert button.text == "Remove for good"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"question": ""}, "Write the question as visitors ask it."),
        ({"text": " "}, "Write the answer."),
        ({"links": "shop"}, "is not an address"),
        ({"language": "12"}, "is not a language code"),
        ({"valid_from": "soon"}, "is not a day such as"),
        ({"valid_until": "2026-13-01"}, "is not a day such as"),
        ({"valid_from": "2026-02-02", "valid_until": "2026-02-01"}, "The last day is before the first day."),
        ({"text": "x" * 10_001}, "Keep to 10000 characters"),
    ],
)
def test_what_is_wrong_stands_beside_the_field(operator, runtime, site, values, said):
    answer = operator.send(f"{PAGE}/new", FILLED | values)
    assert answer.status_code == 422
    assert said in answer.text
    assert runtime.stores.curated.all("lantern") == []


def test_a_question_can_be_tried(operator, runtime, site):
    runtime.stores.curated.save(CuratedAnswer("lantern", ("Do you deliver?",), "Yes."), "x")
    runtime.stores.curated.save(
        CuratedAnswer("lantern", ("Do you deliver 3 lamps?",), "No.", enabled=False), "x"
    )
    given = operator.get(f"{PAGE}?try=do+you+deliver").text
    assert "Similarity 1.00, at least 0.77 is needed." in given
    assert "it is switched off" in given
    missed = operator.get(f"{PAGE}?try=warranty").text
    assert "None of these answers" in missed
    assert "Not similar enough" in missed


def test_an_answer_begins_and_ends_on_its_days(operator, runtime, site):
    said = operator.send(
        f"{PAGE}/new",
        {**FILLED, "valid_from": "2999-01-01", "valid_until": "2999-02-01"},
        follow_redirects=True,
    ).text
    assert "Visitors do not get it at the moment." in said
    listed = operator.get(PAGE).text
    assert "Not yet" in listed
    assert "from 1 Jan 2999" in listed
    assert "its first day is in the future" in operator.get(f"{PAGE}?try=do+you+deliver").text
    assert 'value="2999-02-01"' in operator.get(f"{PAGE}/1").text
    operator.send(f"{PAGE}/1", {**FILLED, "valid_until": "2020-02-01"})
    assert "Ended" in operator.get(PAGE).text


def test_the_list_says_what_was_given_and_what_differs_from_the_pages(operator, runtime, site):
    samples_gaps.fill(runtime)
    listed = operator.get(PAGE).text
    assert "Differs from the pages" in listed
    (differing,) = [one for one in runtime.stores.curated.all("lantern") if one.content_check]
    one = operator.get(f"{PAGE}/{differing.id}").text
    assert "The site says 14 days, this answer says 30 days." in one
    assert "Never given yet" in one
    with runtime.database.begin() as connection:
        count_hit(connection, "lantern", differing.id)
    assert "Given 1 time" in operator.get(f"{PAGE}/{differing.id}").text


def test_an_answer_to_a_gap_starts_with_its_wordings(operator, runtime, site):
    samples_gaps.make_gap(runtime, "g", samples_gaps.ASKED["warranty"])
    form = operator.get(f"{PAGE}/new?gap=g").text
    assert 'value="How long is the warranty on a lamp?"' in form
    assert "how long does the warranty last" in form
    runtime.stores.sites.create(Site("other", "Other", "Other"))
    assert "warranty" not in operator.get("/admin/sites/other/answers/new?gap=g").text


def test_how_a_follow_up_was_searched_is_never_prefilled_as_a_question(operator, runtime, site):
    samples_gaps.make_gap(runtime, "g", [("And abroad?", "ben"), ("How long is the warranty?", "cleo")])
    with runtime.database.begin() as connection:
        rewritten = "and abroad how long is the warranty on a lamp"
        connection.execute(
            update(gap_questions).where(gap_questions.c.question == "And abroad?").values(question=rewritten)
        )
        connection.execute(update(gaps).values(question=rewritten))
    form = operator.get(f"{PAGE}/new?gap=g").text
    assert 'value="How long is the warranty?"' in form
    assert rewritten not in form
    assert "And abroad?" not in form
    page = operator.get("/admin/gaps/g").text
    assert '<h1 dir="auto">And abroad?</h1>' in page
    assert rewritten not in page
    assert rewritten not in operator.get("/admin/gaps").text


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_is_exported_can_be_imported_again(operator, runtime, site, kind):
    samples_gaps.fill(runtime)
    before = runtime.stores.curated.all("lantern")
    file = operator.get(f"{PAGE}.{kind}")
    assert f'filename="lantern-answers.{kind}"' in file.headers["Content-Disposition"]
    for answer in before:
        runtime.stores.curated.remove("lantern", answer.id)
    sent = upload(operator, file.data, f"answers.{kind}", follow_redirects=True)
    assert "3 new, 0 replaced." in sent.text
    plain = [replace(one, id=0, edited_by="", edited_at=None, content_check=None) for one in before]
    after = [
        replace(one, id=0, edited_by="", edited_at=None) for one in runtime.stores.curated.all("lantern")
    ]
    assert sorted(after, key=str) == sorted(plain, key=str)
    assert "0 new, 3 replaced." in upload(operator, file.data, f"a.{kind}", follow_redirects=True).text


def test_a_file_with_a_fault_is_refused_whole_with_its_lines(operator, runtime, site):
    data = b"question,answer\nOpen?,Yes\n,No\nWhere?,\n"
    refused = upload(operator, data, "answers.csv")
    assert refused.status_code == 422
    assert "<b>Line 3:</b> Write the question" in refused.text
    assert "<b>Line 4:</b> Write the answer." in refused.text
    assert runtime.stores.curated.all("lantern") == []
    empty = operator.send(f"{PAGE}/import", {})
    assert empty.status_code == 422
    assert "Choose a file." in empty.text
    hostile = upload(operator, b'{"question": "<script>alert(1)</script>", "links": 3}', "a.jsonl")
    assert "<script>alert" not in hostile.text


def upload(operator, data, name, **options):
    form = {"answers": (io.BytesIO(data), name)}
    return operator.send(f"{PAGE}/import", form, content_type="multipart/form-data", **options)


def test_a_conversations_answer_can_be_corrected(operator, runtime, site):
    message = ask(runtime, "lantern", "Do you deliver on Sundays?")
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    link = f"{PAGE}/new?message={message.id}"
    assert link in page
    assert "Do you deliver on Sundays?" in operator.get(link).text


def test_an_answer_that_is_gone_is_not_found(operator, site):
    assert operator.get(f"{PAGE}/99").status_code == 404


def test_the_site_page_sums_tokens_and_money(operator, runtime, site):
    runtime.stores.usage.add("lantern", "small", Used(2, 1000, 234, 0.5))
    text = operator.get("/admin/sites/lantern").text
    assert "The model used 1,234 tokens today" in " ".join(text.split())


def test_a_question_that_has_two_answers_is_pointed_out(operator, runtime, site):
    operator.send(f"{PAGE}/new", FILLED)
    other = operator.send(f"{PAGE}/new", {**FILLED, "question": "do you deliver", "text": "No."})
    said = "“do you deliver” has another of your answers too. Visitors get the one that was saved last"
    assert said in operator.get(other.location).text
    first = operator.send(f"{PAGE}/1", {**FILLED, "also": "", "enabled": ""}, f"{PAGE}/1")
    assert "has another of your answers" not in operator.get(first.location).text, "visitors do not get it"
    assert runtime.stores.curated.count("lantern") == 2
