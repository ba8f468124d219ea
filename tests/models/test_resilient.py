import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from server.domain.protocols import ModelError, Prompt
from server.models.metered import Budgets
from server.models.resilient import CallLimits, ResilientChat, ResilientEmbedder
from server.models.table import CHAT_MODELS, EMBEDDERS
from server.storage.conversations.figures import UsageStore
from tests.openai_server import Fault, Reply
from tests.servers import HERE

PROMPT = Prompt(system="Answer.", user="Question: how long do refunds take?")


@pytest.fixture
def make_chat(openai_server):
    openai_server.script = lambda request: "Refunds take a week, as a rule, and never more than two."
    openai = CHAT_MODELS.load("openai")

    def make(first_token_s=5.0, **limits):
        model = openai("test-chat", base_url=openai_server.base_url, first_token_s=first_token_s, guard=HERE)
        return ResilientChat(model, CallLimits(**({"backoff_s": 0.001} | limits)))

    return make


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.BROKEN_BODY, Fault.RATE_LIMITED])
def test_a_failure_that_passes_is_not_seen(openai_server, make_chat, fault):
    openai_server.retry_after_s = 0
    openai_server.fail_next(fault, times=2)
    assert "".join(make_chat().stream(PROMPT)).startswith("Refunds take a week")
    assert len(openai_server.requests) == 3


def test_a_failure_that_stays_is_raised_after_the_last_try(openai_server, make_chat):
    openai_server.fault = Fault.SERVER_ERROR
    with pytest.raises(ModelError) as caught:
        make_chat(retries=3).complete(PROMPT)
    assert caught.value.kind == "server_error"
    assert len(openai_server.requests) == 4


@pytest.mark.parametrize("fault", [Fault.WRONG_KEY, Fault.UNKNOWN_MODEL, Fault.OUT_OF_QUOTA])
def test_a_failure_that_cannot_pass_is_not_tried_again(openai_server, make_chat, fault):
    openai_server.fault = fault
    with pytest.raises(ModelError):
        make_chat().complete(PROMPT)
    assert len(openai_server.requests) == 1


def test_a_stream_that_has_begun_is_never_begun_anew(openai_server, make_chat):
    openai_server.fail_next(Fault.CUT_STREAM)
    pieces = []
    with pytest.raises(ModelError):
        pieces.extend(make_chat().stream(PROMPT))
    assert len(openai_server.requests) == 1


def test_the_wait_that_the_provider_asks_for_is_kept(openai_server, make_chat):
    openai_server.retry_after_s = 0.4
    openai_server.fail_next(Fault.RATE_LIMITED)
    began = monotonic()
    make_chat().complete(PROMPT)
    assert monotonic() - began >= 0.4


def test_a_wait_longer_than_the_caller_has_patience_for_is_not_begun(openai_server, make_chat):
    openai_server.retry_after_s = 30
    openai_server.fault = Fault.RATE_LIMITED
    began = monotonic()
    with pytest.raises(ModelError) as caught:
        make_chat(retry_until_s=5).complete(PROMPT)
    assert caught.value.kind == "rate_limited"
    assert monotonic() - began < 5


def test_a_stream_that_takes_too_long_in_all_ends_in_a_timeout(openai_server, make_chat):
    openai_server.token_delay_s = 0.05
    openai_server.script = lambda request: "word " * 1000
    with pytest.raises(ModelError) as caught:
        list(make_chat(total_s=0.3).stream(PROMPT))
    assert caught.value.kind == "timeout"
    assert openai_server.wait_until_idle(5)


def test_no_more_calls_are_made_at_once_than_allowed(openai_server, make_chat):
    openai_server.latency_s = 0.05
    chat = make_chat(concurrency=3)
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda _: chat.complete(PROMPT), range(12)))
    assert len(replies) == 12
    assert openai_server.busiest == 3


def test_who_waits_too_long_for_a_free_call_is_told(openai_server, make_chat):
    answering, release = threading.Event(), threading.Event()

    def script(request):
        answering.set()
        return Reply("Refunds take a week, as a rule.", held_by=release)

    openai_server.script = script
    chat = make_chat(concurrency=1, slot_wait_s=0.05)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(chat.complete, PROMPT)
        assert answering.wait(5)
        with pytest.raises(ModelError, match="MODEL_CONCURRENCY") as caught:
            chat.complete(PROMPT)
        release.set()
        assert first.result(5)
    assert caught.value.kind == "rate_limited"


def test_a_stream_left_early_frees_its_call(openai_server, make_chat):
    chat = make_chat(concurrency=1, slot_wait_s=0.05)
    for _ in range(3):
        stream = chat.stream(PROMPT)
        assert next(stream)
        stream.close()
    assert chat.complete(PROMPT)


def test_a_model_that_keeps_failing_is_left_alone(openai_server, make_chat):
    openai_server.fault = Fault.SERVER_ERROR
    chat = make_chat(retries=0, failures_to_pause=3)
    for _ in range(10):
        with pytest.raises(ModelError) as caught:
            list(chat.stream(PROMPT))
    assert len(openai_server.requests) == 3
    assert caught.value.kind == "server_error"
    assert "failed 3 times" in str(caught.value)


@pytest.mark.parametrize("call", ["complete", "embed"])
def test_so_is_one_whose_whole_replies_keep_failing(openai_server, make_chat, call):
    openai_server.fault = Fault.SERVER_ERROR
    limits = CallLimits(retries=0, failures_to_pause=2, pause_s=60)
    embedder = EMBEDDERS.load("openai")("test-embedding", base_url=openai_server.base_url, guard=HERE)
    model = (
        make_chat(retries=0, failures_to_pause=2, pause_s=60)
        if call == "complete"
        else ResilientEmbedder(embedder, limits)
    )
    for _ in range(5):
        with pytest.raises(ModelError):
            model.complete(PROMPT) if call == "complete" else model.embed(["refund"])
    assert len(openai_server.requests) == 2


def test_a_caller_with_more_patience_than_the_pause_is_not_told_to_leave_the_model_alone(
    openai_server, make_chat
):
    openai_server.fail_next(Fault.SERVER_ERROR, times=6)
    assert make_chat(retries=8, backoff_max_s=0.01, retry_until_s=60, failures_to_pause=3).complete(PROMPT)
    assert len(openai_server.requests) == 7


def test_refused_input_does_not_count_as_failing(openai_server, make_chat):
    openai_server.refused_parameters = frozenset({"model"})
    chat = make_chat(failures_to_pause=2)
    for _ in range(4):
        with pytest.raises(ModelError, match="400"):
            chat.complete(PROMPT)
    openai_server.refused_parameters = frozenset()
    assert chat.complete(PROMPT)


def test_a_spent_budget_stops_calls_before_they_are_made(openai_server, database):
    embedder = EMBEDDERS.load("openai")("test-embedding", base_url=openai_server.base_url, guard=HERE)
    resilient = ResilientEmbedder(embedder, CallLimits(), budgets=Budgets(UsageStore(database), 3))
    assert resilient.embed(["refund"])
    with pytest.raises(ModelError, match="MODEL_DAILY_TOKENS"):
        resilient.embed(["refund"])
    assert len(openai_server.requests) == 1


def test_one_failed_batch_of_many_is_the_only_one_sent_again(openai_server):
    embedder = EMBEDDERS.load("openai")("test-embedding", base_url=openai_server.base_url, guard=HERE)
    resilient = ResilientEmbedder(embedder, CallLimits(backoff_s=0.001), batch=10)
    openai_server.fail_next(Fault.SERVER_ERROR)
    assert len(resilient.embed([f"text {number}" for number in range(30)])) == 30
    assert len(openai_server.requests) == 4


def test_a_call_that_had_to_wait_for_a_second_try_keeps_its_result(openai_server):
    openai_server.retry_after_s = 0.2
    openai_server.fail_next(Fault.RATE_LIMITED)
    embedder = EMBEDDERS.load("openai")("test-embedding", base_url=openai_server.base_url, guard=HERE)
    assert ResilientEmbedder(embedder, CallLimits(total_s=0.1)).embed(["refund"])
