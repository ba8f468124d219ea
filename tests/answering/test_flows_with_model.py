"""Flows as the services make them, with a chat model behind every grader."""

import json
from dataclasses import replace

import pytest

from server.answering.grading import EvidenceGrader
from server.domain.answer import Outcome
from server.runtime.sites import VectorStore, open_flow, open_parts
from server.settings import Settings
from tests.answering.conftest import answer
from tests.openai_server import Fault

ASKED = "What does delivery cost?"
GOOD = "Delivery costs 4.50 EUR for each order. [1]"


@pytest.fixture
def pipeline(shop, chat_model):
    store = VectorStore(shop.chroma, None)
    parts = open_parts(store, shop.database, shop.content, shop.embedder, "shop")
    evidence = EvidenceGrader(shop.rarity)

    def made(flow):
        site = replace(shop.site, flow=flow)
        make = open_flow(site, parts, evidence, chat_model, shop.incidents, Settings())
        return shop.pipeline(chat_model, make)

    return made


def script(
    server, answers=(GOOD,), relevant=(1, 2), unsupported=((),), useful=(True,), query="delivery price"
):
    """Answers each kind of call in turn, the last reply again and again."""
    replies = {
        "You answer visitors": [json.dumps({"answer": text}) for text in answers],
        "which numbered excerpts": [json.dumps({"relevant": list(relevant)})],
        "You check an answer": [json.dumps({"unsupported": list(claims)}) for claims in unsupported],
        "You judge whether an answer": [json.dumps({"useful": value, "missing": ""}) for value in useful],
        "Write another search query": [json.dumps({"query": query})],
    }
    calls = []

    def reply(request):
        rules = request["messages"][0]["content"]
        kind = next(kind for kind in replies if kind in rules)
        calls.append(kind)
        return replies[kind].pop(0) if len(replies[kind]) > 1 else replies[kind][0]

    server.script = reply
    return calls


def test_a_clean_pass_asks_the_model_four_times(pipeline, model_server):
    calls = script(model_server)
    _, final = answer(pipeline("self-rag"), ASKED)
    assert final.text == GOOD
    assert len(calls) == len(set(calls)) == 4


def test_an_unsupported_statement_is_named_to_the_model_that_writes_again(pipeline, model_server):
    wrong = "Delivery costs 4.50 EUR for each order placed. [1]"
    script(model_server, answers=(wrong, GOOD), unsupported=((wrong,), ()))
    _, final = answer(pipeline("self-rag"), ASKED)
    assert final.text == GOOD
    prompts = [request["body"]["messages"][1]["content"] for request in model_server.requests]
    assert any("<avoid>" in prompt and "order placed" in prompt for prompt in prompts)


def test_a_model_that_finds_every_draft_of_no_use_ends_at_the_limits(pipeline, model_server):
    calls = script(model_server, useful=(False,))
    _, final = answer(pipeline("self-rag"), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert calls.count("You answer visitors") <= 2


def test_a_model_that_finds_no_chunk_of_use_leads_to_a_refusal(pipeline, model_server):
    calls = script(model_server, relevant=())
    _, final = answer(pipeline("self-rag"), ASKED)
    assert final.outcome is Outcome.REFUSED
    assert calls.count("which numbered excerpts") == 3


@pytest.mark.parametrize("flow", ["self-rag", "corrective"])
@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.BROKEN_BODY])
def test_without_its_model_a_flow_answers_from_the_pages(pipeline, model_server, flow, fault):
    model_server.fault = fault
    _, final = answer(pipeline(flow), ASKED)
    assert final.outcome is Outcome.ANSWERED
    assert final.model == "embedded"
    assert "4.50 EUR" in final.text


def test_the_corrective_flow_asks_the_model_for_chunks_and_paragraphs(pipeline, model_server):
    calls = script(model_server)
    _, final = answer(pipeline("corrective"), ASKED)
    assert final.text == GOOD
    assert calls.count("which numbered excerpts") >= 2
