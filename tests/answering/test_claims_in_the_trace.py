"""The trace of an answer says of every claim how well it is supported, whether it was given, and why not."""

import json

import pytest

from server.answering.grading import DEFAULT_FLOOR
from server.answering.verifying.leaks import LeakCheck
from server.answering.verifying.verifier import Verified
from server.answering.writing.attempt import LONGEST, MOST, claim_note, claims_for_trace
from server.domain.answer import Answer, Citation, Claim, Outcome
from tests.answering.conftest import answer
from tests.answering.test_flows_with_model import pipeline, script  # noqa: F401  a fixture of that file

ASKED = "What does delivery cost?"


def written(server, text):
    server.script = lambda request: json.dumps({"answer": text})


def given(final):
    return [claim["text"] for claim in final.trace["claims"] if claim["kept"]]


def test_quotations_are_supported_as_well_as_can_be(shop):
    _, final = answer(shop.pipeline(), ASKED)
    assert final.trace["support"] == 1.0
    claim = final.trace["claims"][0]
    assert claim["kept"]
    assert claim["support"] == 1.0
    assert claim["sources"] == final.trace["cited"][:1]
    assert claim["citations"] == [1]


def test_a_claim_in_other_words_is_supported_less_than_one_in_the_pages_words(shop, chat_model, model_server):
    written(
        model_server,
        "Delivery costs 4.50 EUR for each order. [1] Sending one parcel costs visitors 4.50 EUR for each order. [1]",
    )
    _, final = answer(shop.pipeline(chat_model), ASKED)
    first, second = final.trace["claims"]
    assert first["kept"]
    assert second["kept"]
    assert 0 < second["support"] < first["support"] <= 1
    assert final.trace["support"] == second["support"], "that of the least supported one"


def test_a_removed_claim_says_why_and_does_not_count_for_the_support(shop, chat_model, model_server):
    written(model_server, "Delivery costs 4.50 EUR for each order. [1] Members pay only 1.00 EUR. [1]")
    _, final = answer(shop.pipeline(chat_model), ASKED)
    kept, removed = final.trace["claims"]
    assert (removed["kept"], removed["text"]) == (False, "Members pay only 1.00 EUR.")
    assert removed["why"] == "'1.00 EUR' is not on the cited page"
    assert final.trace["support"] == kept["support"] > 0.9


def test_a_refusal_has_no_support(shop):
    _, final = answer(shop.pipeline(), "When does the next train to Hamburg leave?")
    assert final.outcome is Outcome.REFUSED
    assert "support" not in final.trace
    assert "claims" not in final.trace


def test_evidence_floor_and_what_was_kept_are_noted(shop):
    _, final = answer(shop.pipeline(), ASKED)
    assert final.trace["floor"]["answerability"] >= final.trace["floor"]["floor"] == DEFAULT_FLOOR
    assert final.trace["kept"][0] == final.trace["candidates"][0]["chunk"]
    _, refused = answer(shop.pipeline(), "When does the next train to Hamburg leave?")
    assert refused.trace["floor"]["answerability"] < 0.35
    assert refused.trace["kept"] == []


def test_a_candidate_keeps_its_heading_beside_its_scores(shop):
    _, final = answer(shop.pipeline(), ASKED)
    first = final.trace["candidates"][0]
    assert first["heading"].startswith("Delivery")
    assert {"dense", "words"} <= set(first["scores"])


def test_claims_of_a_draft_that_was_not_given_say_so(pipeline, model_server):  # noqa: F811
    wrong = "Delivery costs 4.50 EUR for each order placed. [1]"
    good = "Delivery costs 4.50 EUR for each order. [1]"
    script(model_server, answers=(wrong, good), unsupported=((wrong,), ()))
    _, final = answer(pipeline("self-rag"), ASKED)
    assert given(final) == ["Delivery costs 4.50 EUR for each order."]
    left = next(claim for claim in final.trace["claims"] if not claim["kept"])
    assert left["text"] == "Delivery costs 4.50 EUR for each order placed."
    assert left["why"] == "it is not in the draft that was given"


@pytest.mark.parametrize("flow", ["direct", "self-rag", "corrective"])
def test_every_flow_tells_of_its_claims(pipeline, model_server, flow):  # noqa: F811
    script(model_server)
    _, final = answer(pipeline(flow), ASKED)
    assert given(final) == ["Delivery costs 4.50 EUR for each order."]
    assert final.trace["support"] > 0.9
    assert final.trace["kept"]


def test_what_a_model_took_out_says_so():
    answered = Answer(Outcome.ANSWERED, "Parcels take two days. [1]")
    notes = [
        {"text": "Parcels take two days.", "support": 0.9, "kept": True, "why": ""},
        {"text": "Islands take a year.", "support": 0.4, "kept": True, "why": ""},
    ]
    told = claims_for_trace(answered, notes, ["Islands take a year. [2]"])
    assert [row["why"] for row in told["claims"]] == [
        "",
        "the model that graded the answer found no support for it",
    ]
    assert told["support"] == 0.9


def test_links_and_markers_that_were_taken_off_make_no_difference():
    answered = Answer(Outcome.ANSWERED, "See the price list [1] for all **prices**.")
    notes = [
        {
            "text": "See the [price list](https://s.example/p) for all **prices**.",
            "support": 0.8,
            "kept": True,
            "why": "",
        }
    ]
    assert claims_for_trace(answered, notes)["claims"][0]["kept"]


def test_what_was_refused_in_the_end_gave_nothing():
    refused = Answer(Outcome.REFUSED, "The site does not say.")
    told = claims_for_trace(refused, [{"text": "Two days.", "support": 0.9, "kept": True, "why": ""}])
    assert told["claims"][0]["why"] == "no answer was given"
    assert "support" not in told


def test_an_answer_made_of_quotations_alone_claims_its_quotations():
    quoted = Answer(Outcome.ANSWERED, "It sells lamps. [1]", (Citation(1, "u", "t", "It sells lamps.", "u"),))
    assert claims_for_trace(quoted, [])["support"] == 1.0
    assert claims_for_trace(Answer(Outcome.CURATED, "Ask us."), []) == {}


def test_what_was_leaked_stays_out_of_the_trace():
    secret = Verified(Claim("The rules say XYZ.", ()), (), "it repeats what the model was told", leaked=True)
    assert claim_note(secret, [], secret.reason)["text"] == ""
    assert LeakCheck(("rules",), ("XYZ",)).leaks("XYZ")


def test_a_model_that_writes_without_end_does_not_fill_the_database():
    notes = [{"text": f"{n} " + "x" * 5000, "support": 0.0, "kept": False, "why": "no"} for n in range(500)]
    told = claims_for_trace(Answer(Outcome.REFUSED, ""), notes)
    assert len(told["claims"]) == MOST
    assert max(len(row["text"]) for row in told["claims"]) == LONGEST
