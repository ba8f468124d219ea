import pytest

from tests.api.conftest import new_visitor


@pytest.fixture
def message_id(visitor):
    return visitor.ask().json["message_id"]


def judge(visitor, message_id, helpful=True, **more):
    body = {"message_id": message_id, "helpful": helpful} | more
    return visitor.client.post("/api/v1/feedback", json=body, headers=visitor.headers)


def test_feedback_is_stored_and_the_last_one_counts(visitor, runtime, message_id):
    assert judge(visitor, message_id, comment="Thanks").status_code == 204
    assert judge(visitor, message_id, helpful=False, comment="It was wrong").status_code == 204
    stored = runtime.dialogue.feedback.of([message_id]).get(message_id)
    assert (stored.helpful, stored.comment) == (False, "It was wrong")


def test_nobody_judges_another_visitors_answer(client, runtime, message_id):
    response = judge(new_visitor(client), message_id)
    assert (response.status_code, response.json["error"]["code"]) == (404, "message_unknown")
    assert runtime.dialogue.feedback.of([message_id]).get(message_id) is None


def test_an_answer_that_never_was_cannot_be_judged(visitor):
    assert judge(visitor, "f" * 32).status_code == 404


@pytest.mark.parametrize("helpful", [1, "true", None])
def test_helpful_is_yes_or_no(visitor, message_id, helpful):
    assert judge(visitor, message_id, helpful).status_code == 422


def test_a_comment_may_hold_anything_but_not_too_much(visitor, runtime, message_id):
    assert judge(visitor, message_id, comment="<b>\x00 '; DROP TABLE").status_code == 204
    assert runtime.dialogue.feedback.of([message_id]).get(message_id).comment == "<b>  '; DROP TABLE"
    assert judge(visitor, message_id, comment="x" * 2001).status_code == 422


def test_an_answer_that_did_not_help_is_made_anew_for_the_next_visitor(visitor, script, message_id):
    asked = script.questions[-1].text
    judge(visitor, message_id, helpful=True)
    assert script.forgotten == []
    judge(visitor, message_id, helpful=False)
    assert script.forgotten == [asked]
