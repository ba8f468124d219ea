from dataclasses import replace

import pytest

from server.domain.answer import Outcome
from server.storage.errors import StorageError
from tests.api.conftest import ANSWER, CITATION, EVENTS, OTHER, new_visitor


def test_an_answer_has_every_promised_field(visitor):
    answer = visitor.ask().json
    assert answer["answer"] == ANSWER.text
    assert answer["source"] == [CITATION.url]
    cited = {
        "number": 1,
        "url": CITATION.url,
        "title": "Delivery",
        "quote": "two days",
        "link": CITATION.link,
    }
    assert answer["citations"] == [{**cited, "corrected": False}]
    assert answer["suggestions"] == ["What does it cost?"]
    assert '<a class="cite"' in answer["answer_html"]
    assert {
        "outcome": "answered",
        "strategy": "hybrid",
        "flow": "direct",
        "model": "embedded",
    }.items() <= answer.items()
    assert answer["timings_ms"] == {"write": 1.0}
    assert "trace" not in answer


def test_the_answer_is_stored_before_it_is_given(visitor, runtime):
    answer = visitor.ask("How long?").json
    (message,) = runtime.dialogue.conversations.get(answer["conversation_id"]).messages
    assert (message.id, message.question, message.answer.text) == (
        answer["message_id"],
        "How long?",
        ANSWER.text,
    )


def test_a_follow_up_is_read_with_the_turn_before(visitor, script):
    conversation = visitor.ask("How long?").json["conversation_id"]
    visitor.ask("And to islands?", conversation_id=conversation)
    assert [turn.question for turn in script.questions[-1].history] == ["How long?"]


@pytest.mark.parametrize("conversation", ["0" * 32, "nonsense", "' OR 1=1 --"])
def test_a_conversation_that_never_was_is_refused(visitor, conversation):
    response = visitor.ask(conversation_id=conversation)
    assert (response.status_code, response.json["error"]["code"]) == (404, "conversation_unknown")


def test_nobody_goes_on_with_somebody_elses_conversation(client, visitor):
    conversation = visitor.ask().json["conversation_id"]
    assert new_visitor(client).ask(conversation_id=conversation).status_code == 404
    assert new_visitor(client, site=OTHER.id).ask(conversation_id=conversation).status_code == 404


@pytest.mark.parametrize("message", ["", "   \n\t", "\x00"])
def test_an_empty_message_is_refused(visitor, message):
    response = visitor.ask(message)
    assert (response.status_code, response.json["error"]["code"]) == (422, "message_empty")


def test_the_longest_message_is_taken_and_one_more_character_is_not(visitor, runtime, script):
    longest = runtime.configuration.settings.limits.message_chars
    assert visitor.ask("ü" * longest).status_code == 200
    response = visitor.ask("ü" * (longest + 1))
    assert (response.status_code, response.json["error"]["code"]) == (422, "message_too_long")
    assert str(longest) in response.json["error"]["message"]
    assert len(script.questions) == 1


def test_a_message_keeps_its_script_and_loses_only_what_no_database_takes(visitor, script):
    visitor.ask("  Wie lange\x00 dauert 配送? 🚚 ")
    assert script.questions[-1].text == "Wie lange  dauert 配送? 🚚"


def test_other_outcomes_are_answers_too(visitor, script):
    script.events = (replace(ANSWER, outcome=Outcome.REFUSED, citations=(), text="Not found."),)
    response = visitor.ask()
    assert (response.status_code, response.json["outcome"], response.json["source"]) == (200, "refused", [])


def test_a_defect_is_a_number_for_the_visitor_and_a_traceback_in_the_log(visitor, script, caplog):
    script.error = RuntimeError("secret detail")
    response = visitor.ask("my private question")
    error = response.json["error"]
    assert (response.status_code, error["code"]) == (500, "internal_error")
    assert "secret detail" not in response.text
    (number,) = [
        word
        for word in caplog.text.split()
        if word in error["message"].replace(".", " ").split() and len(word) == 12
    ]
    assert number
    assert "secret detail" in caplog.text
    assert "my private question" not in caplog.text


def test_a_store_out_of_order_is_a_503_that_can_be_retried(visitor, script):
    script.error = StorageError("the disk is full: free some space")
    response = visitor.ask()
    assert (response.status_code, response.json["error"]["code"]) == (503, "unavailable")
    assert response.headers["Retry-After"] == str(response.json["error"]["retry_after"])
    assert "disk" not in response.text


def test_the_events_of_a_stream_are_not_lost_in_a_whole_answer(visitor, script):
    script.events = (*EVENTS[:3], replace(ANSWER, text="Authoritative."))
    assert visitor.ask().json["answer"] == "Authoritative."
