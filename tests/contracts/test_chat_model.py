"""What every ChatModel does, over every implementation."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from server.domain.protocols import ModelError, Prompt
from server.models.cached import CachedChat
from server.models.resilient import CallLimits, ResilientChat
from server.models.table import CHAT_MODELS
from server.playground.asking import PromptRecorder
from server.storage.shared_cache import DiskSharedCache
from tests.openai_server import Fault, OpenAIServer
from tests.servers import HERE

LIMITS = CallLimits(backoff_s=0.001)
PROMPT = Prompt(system="Answer from the chunks.", user="Question: how long do refunds take?")


@pytest.fixture(scope="module")
def server():
    with OpenAIServer(piece_chars=5) as running:
        yield running


@pytest.fixture
def cache(tmp_path):
    shared = DiskSharedCache(tmp_path)
    yield shared
    shared.close()


@pytest.fixture(params=["openai", "resilient", "cached", "cached resilient", "recorded"])
def make_chat(request, server, cache):
    """Makes one implementation, with its times."""
    server.reset()
    server.retry_after_s = 0.01

    def make(**times):
        openai = CHAT_MODELS.load("openai")("test-chat", base_url=server.base_url, guard=HERE, **times)
        resilient = ResilientChat(openai, LIMITS)
        return {
            "openai": openai,
            "resilient": resilient,
            "cached": CachedChat(openai, cache, ttl_s=60),
            "cached resilient": CachedChat(resilient, cache, ttl_s=60),
            "recorded": PromptRecorder(openai, deadline=float("inf"), keeps=True),
        }[request.param]

    return make


@pytest.fixture
def chat(make_chat):
    return make_chat(first_token_s=30, total_s=30)


def test_the_pieces_of_a_stream_are_the_complete_reply(server, chat):
    server.script = lambda request: "Refunds take a week. 退款需要一周。"
    pieces = list(chat.stream(PROMPT))
    assert "".join(pieces) == chat.complete(PROMPT) == "Refunds take a week. 退款需要一周。"
    assert all(pieces)


def test_a_first_reply_comes_in_more_than_one_piece(server, chat):
    server.script = lambda request: "Refunds take a week."
    assert len(list(chat.stream(PROMPT))) == 4


def test_the_prompt_arrives_as_system_and_user_message(server, chat):
    chat.complete(Prompt(system="The rules", user="The case", max_tokens=77))
    body = server.requests[-1]["body"]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "The rules"),
        ("user", "The case"),
    ]
    assert body["model"] == "test-chat"
    assert 77 in body.values()


def test_json_is_asked_for_only_where_the_prompt_wants_it(server, chat):
    chat.complete(Prompt(system="Reply in JSON.", user="Question: x?", json=True))
    assert server.requests[-1]["body"]["response_format"] == {"type": "json_object"}
    chat.complete(PROMPT)
    assert "response_format" not in server.requests[-1]["body"]


def test_an_empty_reply_is_an_empty_text(server, chat):
    server.fault = Fault.EMPTY_ANSWER
    assert chat.complete(PROMPT) == ""
    assert list(chat.stream(PROMPT)) == []


def test_several_threads_may_ask_at_once(server, chat):
    server.script = lambda request: request["messages"][1]["content"].upper()
    prompts = [Prompt(system="", user=f"question {number}") for number in range(40)]
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda prompt: "".join(chat.stream(prompt)), prompts))
    assert replies == [prompt.user.upper() for prompt in prompts]


def test_a_stream_may_be_left_before_its_end(server, chat):
    server.script = lambda request: "word " * 200
    stream = chat.stream(PROMPT)
    assert next(stream)
    stream.close()
    assert chat.complete(Prompt(system="", user="another")) == "word " * 200


FAILURES = [
    (Fault.RATE_LIMITED, "rate_limited"),
    (Fault.OUT_OF_QUOTA, "rate_limited"),
    (Fault.SERVER_ERROR, "server_error"),
    (Fault.BROKEN_BODY, "bad_reply"),
    (Fault.WRONG_KEY, "wrong_key"),
    (Fault.UNKNOWN_MODEL, "wrong_model"),
]


@pytest.mark.parametrize(("fault", "kind"), FAILURES, ids=[fault for fault, _ in FAILURES])
@pytest.mark.parametrize(
    "ask", [lambda c: c.complete(PROMPT), lambda c: list(c.stream(PROMPT))], ids=["complete", "stream"]
)
def test_every_failure_is_a_model_error_of_one_line_and_then_the_model_works_again(
    server, chat, fault, kind, ask
):
    server.fault = fault
    with pytest.raises(ModelError) as caught:
        ask(chat)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    server.fault = None
    assert ask(chat)


def test_a_model_that_never_answers_is_a_timeout(server, make_chat):
    server.fault = Fault.TIMEOUT
    chat = make_chat(first_token_s=0.1, total_s=0.1)
    for ask in (chat.complete, lambda prompt: list(chat.stream(prompt))):
        with pytest.raises(ModelError) as caught:
            ask(PROMPT)
        assert caught.value.kind == "timeout"


def test_a_stream_that_breaks_off_is_an_error_after_the_pieces_that_came(server, chat):
    server.script = lambda request: "Refunds take a week."
    server.fault = Fault.CUT_STREAM
    pieces = []
    with pytest.raises(ModelError) as caught:
        pieces.extend(chat.stream(PROMPT))
    assert caught.value.kind == "server_error"
    server.fault = None
    assert "".join(chat.stream(PROMPT)) == "Refunds take a week."
