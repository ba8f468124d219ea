import socket

import numpy as np
import pytest

from server.domain.protocols import ModelError, Prompt
from server.models.resilient import CallLimits, ResilientChat, RetryLater
from server.models.table import CHAT_MODELS, EMBEDDERS
from tests.openai_server import Fault, Reply
from tests.servers import HERE

PROMPT = Prompt(system="Reply in JSON.", user="Question: how long?", max_tokens=50, json=True)


@pytest.fixture
def chat(openai_server):
    return make_chat(openai_server)


def make_chat(server, **options):
    return CHAT_MODELS.load("openai")("test-chat", guard=HERE, **({"base_url": server.base_url} | options))


def make_embedder(server, **options):
    return EMBEDDERS.load("openai")("test-embedding", guard=HERE, **({"base_url": server.base_url} | options))


def bodies(server):
    return [request["body"] for request in server.requests]


def test_only_parameters_that_every_provider_knows_are_sent(openai_server, chat):
    list(chat.stream(PROMPT))
    assert set(bodies(openai_server)[0]) == {
        "model", "messages", "stream", "temperature", "max_tokens", "response_format",
    }  # fmt: skip


@pytest.mark.parametrize("refused", ["temperature", "response_format", "max_tokens"])
def test_a_parameter_that_the_provider_refuses_is_left_out_from_then_on(openai_server, chat, refused):
    openai_server.refused_parameters = frozenset({refused})
    assert chat.complete(PROMPT)
    assert "".join(chat.stream(PROMPT))
    assert [refused in body for body in bodies(openai_server)] == [True, False, False]


def test_a_provider_that_refuses_one_name_for_the_reply_length_gets_the_other(openai_server, chat):
    openai_server.refused_parameters = frozenset({"max_tokens"})
    chat.complete(PROMPT)
    assert bodies(openai_server)[-1]["max_completion_tokens"] == 50


def test_a_provider_that_refuses_every_optional_parameter_still_answers(openai_server, chat):
    openai_server.refused_parameters = frozenset(
        {"max_tokens", "max_completion_tokens", "temperature", "response_format"}
    )
    assert chat.complete(PROMPT)


TOO_LONG = (
    "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 4096 "
    "tokens and your request has 4080 input tokens."
)


def test_a_prompt_that_is_too_long_says_what_to_lower_and_later_prompts_keep_their_limit(openai_server, chat):
    openai_server.rejects = TOO_LONG
    with pytest.raises(ModelError, match=r"longer than the context of test-chat .*CONTEXT_TOKENS") as caught:
        list(chat.stream(PROMPT))
    assert caught.value.permanent
    openai_server.rejects = ""
    assert chat.complete(PROMPT)
    assert [body.get("max_tokens") for body in bodies(openai_server)] == [50, 50]


def thinks(room):
    """A model that needs `room` tokens before its first word."""

    def script(body):
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 0
        if limit < room:
            return Reply("", reasoning="Hm. " * 20, finish_reason="length")
        return Reply("Two days.", reasoning="Hm. " * 20)

    return script


@pytest.mark.parametrize("ask", [lambda c: c.complete(PROMPT), lambda c: "".join(c.stream(PROMPT))])
def test_a_model_that_reasons_gets_room_for_it_and_is_asked_to_reason_little(openai_server, chat, ask):
    openai_server.script = thinks(1000)
    assert ask(chat) == "Two days."
    assert ask(chat) == "Two days."
    assert ["reasoning_effort" in body for body in bodies(openai_server)] == [False, True, True]


def test_a_reasoning_model_behind_a_server_without_that_parameter_gets_its_room(openai_server, chat):
    openai_server.script = thinks(1000)
    openai_server.refused_parameters = frozenset({"reasoning_effort"})
    assert "".join(chat.stream(PROMPT)) == "Two days."
    assert [bodies(openai_server)[-1].get("reasoning_effort"), len(openai_server.requests)] == [None, 3]


def test_a_model_that_reasons_without_end_is_told_of_and_not_tried_for_ever(openai_server, chat):
    openai_server.script = thinks(10**9)
    model = ResilientChat(chat, CallLimits(backoff_s=0.001, retries=5))
    with pytest.raises(ModelError, match="reasons less"):
        list(model.stream(PROMPT))
    assert len(openai_server.requests) == 2


def test_content_in_parts_is_read_without_its_reasoning(openai_server, chat):
    openai_server.script = lambda request: Reply("Two days, as a rule.", reasoning="Hm. " * 9, in_parts=True)
    assert chat.complete(PROMPT) == "".join(chat.stream(PROMPT)) == "Two days, as a rule."


def test_an_error_in_place_of_a_reply_is_told_in_the_providers_words(openai_server, chat):
    openai_server.script = lambda request: Reply(error="The upstream model is overloaded.")
    for ask in (lambda c: c.complete(PROMPT), lambda c: list(c.stream(PROMPT))):
        with pytest.raises(ModelError, match="upstream model is overloaded") as caught:
            ask(chat)
        assert caught.value.kind == "server_error"


def test_a_field_for_errors_that_is_empty_is_no_error(openai_server, chat):
    openai_server.script = lambda request: Reply("Two days.", extra={"error": None})
    assert chat.complete(PROMPT) == "".join(chat.stream(PROMPT)) == "Two days."


def test_a_reply_that_a_content_filter_stops_is_no_whole_reply(openai_server, chat):
    openai_server.script = lambda request: Reply("Parcels arrive in", finish_reason="content_filter")
    for ask in (lambda c: c.complete(PROMPT), lambda c: list(c.stream(PROMPT))):
        with pytest.raises(ModelError, match="content filter"):
            ask(chat)


SHAPED = Prompt("Reply in JSON.", "Question: which?", 50, json={"relevant": [int], "why": str, "sure": bool})


def test_a_reply_with_known_fields_is_asked_for_by_its_schema(openai_server, chat):
    assert chat.complete(SHAPED)
    asked = bodies(openai_server)[0]["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["strict"]
    assert asked["json_schema"]["schema"] == {
        "type": "object",
        "properties": {
            "relevant": {"type": "array", "items": {"type": "integer"}},
            "why": {"type": "string"},
            "sure": {"type": "boolean"},
        },
        "required": ["relevant", "why", "sure"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("formats", "sent"),
    [
        ({"json_schema", "json_object"}, ["json_schema", "json_schema"]),
        ({"json_object"}, ["json_schema", "json_object", "json_object"]),
        ({"text"}, ["json_schema", "json_object", "none", "none"]),
    ],
)
def test_a_format_that_the_provider_refuses_is_replaced_by_the_next_from_then_on(
    openai_server, chat, formats, sent
):
    openai_server.formats = frozenset(formats)
    assert chat.complete(SHAPED)
    assert chat.complete(SHAPED)
    assert [body.get("response_format", {"type": "none"})["type"] for body in bodies(openai_server)] == sent


def test_a_provider_that_knows_only_schemas_gets_them_for_known_fields_alone(openai_server, chat):
    openai_server.formats = frozenset({"text", "json_schema"})
    assert chat.complete(PROMPT)
    assert chat.complete(SHAPED)
    sent = [body.get("response_format", {"type": "none"})["type"] for body in bodies(openai_server)]
    assert sent == ["json_object", "none", "json_schema"]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ('<think>\nIs it two? {"answer": "no"}\n</think>\n\nTwo days.', "Two days."),
        ("\n<thinking>hm</thinking>Two days.", "Two days."),
        ("<table> is a tag.", "<table> is a tag."),
        ("Write </think> at the end.", "Write </think> at the end."),
        ("<", "<"),
    ],
)
def test_reasoning_before_a_reply_is_left_out(openai_server, chat, reply, shown, size):
    openai_server.script = lambda request: reply
    openai_server.piece_chars = size
    assert "".join(chat.stream(PROMPT)) == shown
    assert chat.complete(PROMPT) == shown


def test_a_whole_reply_begins_behind_reasoning_that_was_not_opened(openai_server, chat):
    openai_server.script = lambda request: 'Is it two?\n</think>\n{"answer": "Two days."}'
    assert chat.complete(PROMPT) == '{"answer": "Two days."}'
    openai_server.piece_chars = 5
    with pytest.raises(ModelError, match="reasoning parser"):
        list(chat.stream(PROMPT))


def test_a_streamed_reply_that_is_cut_at_its_longest_length_is_an_error(openai_server, chat):
    openai_server.script = lambda request: Reply("Parcels arrive in tw", finish_reason="length")
    with pytest.raises(ModelError, match="cut short"):
        list(chat.stream(PROMPT))


def test_the_key_is_sent_as_bearer_token(openai_server):
    openai_server.api_key = "sk-right"
    assert make_chat(openai_server, api_key="sk-right").complete(PROMPT)
    assert make_embedder(openai_server, api_key="sk-right").embed(["x"])


def test_a_wrong_key_is_named_by_its_setting_and_never_shown(openai_server):
    openai_server.api_key = "sk-right"
    with pytest.raises(ModelError, match="OPENAI_API_KEY") as caught:
        make_chat(openai_server, api_key="sk-secret-wrong").complete(PROMPT)
    assert caught.value.permanent
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("make", "setting"), [(make_chat, "CHAT_MODEL"), (make_embedder, "EMBEDDING_MODEL")])
def test_an_unknown_model_is_named_with_the_setting_to_change(openai_server, make, setting):
    openai_server.models = ("gpt-something",)
    model = make(openai_server)
    with pytest.raises(ModelError, match=f"test-.* {setting}") as caught:
        model.embed(["x"]) if setting == "EMBEDDING_MODEL" else list(model.stream(PROMPT))
    assert caught.value.kind == "wrong_model"


def test_an_address_where_nothing_listens_is_named_with_the_setting_to_change(openai_server):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=f"{url} cannot be reached .*OPENAI_BASE_URL") as caught:
            make_chat(openai_server, base_url=url).complete(PROMPT)
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize("fault", [Fault.WRONG_KEY, Fault.SERVER_ERROR, Fault.BROKEN_BODY])
def test_a_password_in_the_address_is_in_no_message(openai_server, fault):
    openai_server.fault = fault
    address = openai_server.base_url.replace("://", "://user:hunter2@")
    for ask in (lambda: make_chat(openai_server, base_url=address).complete(PROMPT),
                lambda: make_embedder(openai_server, base_url=address).embed(["x"])):  # fmt: skip
        with pytest.raises(ModelError) as caught:
            ask()
        assert openai_server.base_url in str(caught.value)
        assert "hunter2" not in str(caught.value)


def test_a_base_url_without_its_path_says_what_it_usually_ends_in(openai_server):
    openai_server.fault = Fault.BROKEN_BODY
    for ask in (lambda c: c.complete(PROMPT), lambda c: list(c.stream(PROMPT))):
        with pytest.raises(ModelError, match="usually ends in /v1"):
            ask(make_chat(openai_server))


def test_retry_after_reaches_the_caller(openai_server, chat):
    openai_server.retry_after_s = 7
    openai_server.fault = Fault.RATE_LIMITED
    with pytest.raises(RetryLater) as caught:
        list(chat.stream(PROMPT))
    assert caught.value.retry_after_s == 7


def test_an_account_without_credit_is_not_tried_again(openai_server, chat):
    openai_server.fault = Fault.OUT_OF_QUOTA
    with pytest.raises(ModelError, match="top the account up") as caught:
        chat.complete(PROMPT)
    assert caught.value.permanent


def test_a_first_word_that_comes_too_late_is_a_timeout(openai_server):
    openai_server.latency_s = 5
    with pytest.raises(ModelError) as caught:
        list(make_chat(openai_server, first_token_s=0.1).stream(PROMPT))
    assert caught.value.kind == "timeout"


def test_a_slow_stream_is_no_timeout_while_words_keep_coming(openai_server):
    openai_server.script = lambda request: "word " * 20
    openai_server.token_delay_s = 0.1
    assert "".join(make_chat(openai_server, first_token_s=0.3).stream(PROMPT)) == "word " * 20


def test_a_silence_in_the_middle_of_a_stream_is_a_timeout(openai_server):
    openai_server.script = lambda request: "word " * 20
    openai_server.token_delay_s = 5
    stream = make_chat(openai_server, first_token_s=0.2).stream(PROMPT)
    assert next(stream)
    with pytest.raises(ModelError) as caught:
        list(stream)
    assert caught.value.kind == "timeout"


def test_a_stream_that_was_read_leaves_its_connection_to_the_next(openai_server, chat):
    openai_server.usage = (10, 5)
    for _ in range(3):
        assert list(chat.stream(PROMPT))
    assert openai_server.connections <= 1


def test_leaving_a_stream_closes_the_connection(openai_server, chat):
    openai_server.script = lambda request: Reply("word " * 100_000)
    stream = chat.stream(PROMPT)
    next(stream)
    stream.close()
    assert openai_server.wait_until_idle(5)


def test_many_texts_go_in_few_calls(openai_server):
    texts = [f"text {number}" for number in range(130)]
    vectors = make_embedder(openai_server).embed(texts)
    assert len(vectors) == 130
    assert [len(body["input"]) for body in bodies(openai_server)] == [64, 64, 2]


def test_a_batch_that_the_provider_finds_too_large_is_sent_in_parts(openai_server):
    openai_server.longest_batch = 10
    texts = [f"text {number}" for number in range(64)]
    vectors = make_embedder(openai_server).embed(texts)
    openai_server.longest_batch = 0
    assert np.array(vectors) == pytest.approx(np.array(make_embedder(openai_server).embed(texts)))


def test_a_text_that_the_provider_finds_too_long_is_cut_and_the_others_are_not(openai_server):
    openai_server.longest_input = 3000
    embedder = make_embedder(openai_server)
    short, long, other = embedder.embed(["refund", "parcel " * 2000, "voucher"])
    assert [short, other] == embedder.embed(["refund", "voucher"])
    assert np.linalg.norm(long) == pytest.approx(1.0)


def test_the_fingerprint_changes_with_the_model_and_its_address(openai_server):
    make = EMBEDDERS.load("openai")
    fingerprints = {
        make("a").fingerprint,
        make("b").fingerprint,
        make("a", base_url=openai_server.base_url).fingerprint,
    }
    assert len(fingerprints) == 3
    assert make("a").fingerprint == make("a", api_key="k").fingerprint


def test_the_operators_languages_are_declared(openai_server):
    assert make_embedder(openai_server, languages=frozenset({"de"})).languages == {"de"}
