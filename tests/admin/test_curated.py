"""The dashboard's pages of the operator's own answers, and of how a site answers."""

import pytest

from server.domain.curated import CuratedAnswer
from server.domain.spending import Used
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


def test_an_answer_is_written_listed_changed_and_removed(operator, services, site):
    assert "No answer of your own yet" in operator.get(PAGE).text
    assert operator.send(f"{PAGE}/new", FILLED).location == PAGE
    (made,) = services.curated.all("lantern")
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
    changed = services.curated.get("lantern", made.id)
    assert (changed.text, changed.enabled) == ("No.", False)
    operator.send(PAGE, {}, f"{one}/remove")
    assert services.curated.all("lantern") == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"question": ""}, "Write the question as visitors ask it."),
        ({"text": " "}, "Write the answer."),
        ({"links": "shop"}, "is not an address"),
        ({"language": "12"}, "is not a language code"),
    ],
)
def test_what_is_wrong_stands_beside_the_field(operator, services, site, values, said):
    answer = operator.send(f"{PAGE}/new", FILLED | values)
    assert answer.status_code == 422
    assert said in answer.text
    assert services.curated.all("lantern") == []


def test_a_question_can_be_tried(operator, services, site):
    services.curated.save(CuratedAnswer("lantern", ("Do you deliver?",), "Yes."), "x")
    assert "alike by 1.00" in operator.get(f"{PAGE}?try=do+you+deliver").text
    assert "none of these answers" in operator.get(f"{PAGE}?try=warranty").text


def test_a_conversations_answer_can_be_corrected(operator, services, site):
    trace = {
        "usage": {"calls": 2, "tokens_in": 1200, "tokens_out": 34, "cost": 0.0002},
        "nodes": [
            {"node": "grade_documents", "kept": ["lantern-0"], "ms": 1},
            {"node": "after grade_documents", "next": "generate"},
        ],
    }
    message = ask(services, "lantern", "Do you deliver on Sundays?", trace=trace)
    page = operator.get(f"/admin/conversations/{message.conversation_id}").text
    assert "1,234 tokens in 2 calls, 0.00020 in money" in page
    assert "Grade documents" in page
    assert "generate" in page
    link = f"{PAGE}/new?message={message.id}"
    assert link in page
    assert "Do you deliver on Sundays?" in operator.get(link).text


def test_an_answer_that_is_gone_is_not_found(operator, site):
    assert operator.get(f"{PAGE}/99").status_code == 404


def test_the_site_page_sums_tokens_and_money(operator, services, site):
    services.usage.add("lantern", "small", Used(2, 1000, 234, 0.5))
    text = operator.get("/admin/sites/lantern").text
    assert "1,234 tokens today (0.5000 in money)" in " ".join(text.split())
