"""The rerank API, in both dialects and with every fault, over a local server."""

import threading

import pytest

from server.domain.protocols import ModelError
from server.models.rerank import HttpRelevance
from server.models.resilient import CallLimits, ResilientRelevance, RetryLater
from tests.rerank_server import RerankServer
from tests.servers import HERE

TEXTS = ["Shops are open.", "Parcels to islands take five days.", "Parcels are brown."]


@pytest.fixture
def server():
    with RerankServer() as running:
        yield running


def judged(server, **options):
    return HttpRelevance(server.url, "judge-1", **options, guard=HERE).relevance("parcels to islands", TEXTS)


@pytest.mark.parametrize("dialect", ["results", "tei"])
def test_each_text_gets_its_judgement_in_the_order_of_the_texts(server, dialect):
    server.dialect = dialect
    assert judged(server) == pytest.approx([0, 1, 1 / 3])


def test_the_dialect_is_found_out_once(server):
    server.dialect = "tei"
    model = HttpRelevance(server.url, guard=HERE)
    model.relevance("parcels", TEXTS)
    model.relevance("islands", TEXTS)
    assert ["documents" in request["body"] for request in server.requests] == [True, False, False]


def test_model_and_key_are_sent(server):
    server.api_key = "secret"
    judged(server, api_key="secret")
    [request] = server.requests
    assert request["path"] == "/v1/rerank"
    assert request["body"]["model"] == "judge-1"


def test_an_address_that_names_the_page_is_taken_as_it_is(server):
    HttpRelevance(f"{server.url}/rerank", guard=HERE).relevance("parcels", TEXTS)
    assert server.requests[0]["path"] == "/v1/rerank"


def test_raw_values_become_shares_in_the_same_order(server):
    server.raw = True
    scores = judged(server)
    assert all(0 <= score <= 1 for score in scores)
    assert scores[1] > scores[2] > scores[0]


def test_no_texts_need_no_call(server):
    assert HttpRelevance(server.url, guard=HERE).relevance("parcels", []) == []
    assert server.requests == []


def test_text_that_is_no_utf8_and_empty_text_are_sent_all_the_same(server):
    assert len(HttpRelevance(server.url, guard=HERE).relevance("\ud800", ["", "\udfff parcels"])) == 2


@pytest.mark.parametrize(
    ("status", "kind", "permanent"),
    [
        (401, "wrong_key", True),
        (404, "wrong_model", True),
        (500, "server_error", False),
        (400, "bad_reply", True),
    ],
)
def test_a_refusal_says_what_to_do(server, status, kind, permanent):
    server.status = status
    with pytest.raises(ModelError) as raised:
        judged(server)
    assert (raised.value.kind, raised.value.permanent) == (kind, permanent)
    assert server.url in str(raised.value)


def test_a_password_in_the_address_is_in_no_message(server):
    server.status = 500
    address = server.url.replace("://", "://user:hunter2@")
    with pytest.raises(ModelError) as caught:
        HttpRelevance(address, "judge-1", guard=HERE).relevance("parcels", TEXTS)
    assert "hunter2" not in str(caught.value)


def test_a_limit_of_calls_says_how_long_to_wait(server):
    server.status = 429
    with pytest.raises(RetryLater) as raised:
        judged(server)
    assert raised.value.retry_after_s == 2


@pytest.mark.parametrize(
    "body",
    [
        "<html>",
        "[]",
        "{}",
        '{"results": [{"index": 0, "relevance_score": 1}]}',
        '{"results": [{"index": 7, "relevance_score": 1}, {"index": 1, "relevance_score": 1}, {"index": 2}]}',
        '[{"index": 0, "score": NaN}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]',
    ],
)
def test_what_is_not_the_protocol_is_a_bad_reply(server, body):
    server.body = body
    with pytest.raises(ModelError, match="RERANK_URL") as raised:
        judged(server)
    assert raised.value.kind == "bad_reply"


def test_a_server_that_is_silent_is_given_up(server):
    server.held_by = threading.Event()
    with pytest.raises(ModelError) as raised:
        judged(server, timeout_s=0.1)
    server.held_by.set()
    assert raised.value.kind == "timeout"


def test_a_server_that_is_not_there_is_unreachable():
    with RerankServer() as gone:
        url = gone.url
    with pytest.raises(ModelError) as raised:
        HttpRelevance(url, guard=HERE).relevance("parcels", TEXTS)
    assert raised.value.kind == "unreachable"


def test_a_failure_that_passes_is_tried_again(server):
    class Recovering:
        name = "judge"

        def relevance(self, query, texts):
            server.status = 500 if not server.requests else 200
            return HttpRelevance(server.url, guard=HERE).relevance(query, texts)

    model = ResilientRelevance(Recovering(), CallLimits(retries=1, backoff_s=0.01))
    assert len(model.relevance("parcels", TEXTS)) == 3
    assert len(server.requests) == 2
