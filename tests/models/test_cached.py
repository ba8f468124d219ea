import pytest

from server.domain.protocols import ModelError, Prompt, token_space
from server.models.cached import CachedChat, CachedEmbedder
from server.models.embedded import EmbeddedEmbedder
from server.models.table import CHAT_MODELS, EMBEDDERS
from tests.openai_server import Fault
from tests.servers import HERE

PROMPT = Prompt(system="Answer.", user="Question: how long?")


@pytest.fixture
def embedder(openai_server):
    return EMBEDDERS.load("openai")("test-embedding", base_url=openai_server.base_url, guard=HERE)


@pytest.fixture
def embedded_model(model_cache):
    return EmbeddedEmbedder(model_cache)


@pytest.fixture
def chat(openai_server):
    return CHAT_MODELS.load("openai")("test-chat", base_url=openai_server.base_url, guard=HERE)


def test_a_query_is_embedded_once(openai_server, embedder):
    cached = CachedEmbedder(embedder)
    assert cached.embed(["refund"]) == cached.embed(["refund"]) == embedder.embed(["refund"])
    assert len(openai_server.requests) == 2


def test_only_the_unknown_texts_of_a_call_are_embedded_each_once(openai_server, embedder):
    cached = CachedEmbedder(embedder)
    cached.embed(["a"])
    cached.embed(["b", "a", "c", "b"])
    assert [request["body"]["input"] for request in openai_server.requests] == [["a"], ["b", "c"]]


def test_the_text_that_was_not_used_for_longest_is_forgotten(openai_server, embedder):
    cached = CachedEmbedder(embedder, entries=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        cached.embed([text])
    assert [request["body"]["input"][0] for request in openai_server.requests] == ["a", "b", "c", "b"]


def test_indexing_does_not_fill_the_cache(openai_server, embedder):
    cached = CachedEmbedder(embedder, largest_call=3)
    cached.embed(["a", "b", "c", "d"])
    cached.embed(["a"])
    assert len(openai_server.requests) == 2


def test_changing_a_returned_vector_does_not_change_the_kept_one(embedder):
    cached = CachedEmbedder(embedder)
    cached.embed(["refund"])
    cached.embed(["refund"])[0][0] = 9.0
    assert cached.embed(["refund"]) == embedder.embed(["refund"])


def test_a_question_is_embedded_once_for_its_vector_and_its_tokens(embedded_model):
    class Counting:
        name, fingerprint, languages, token_space = "counting", "0123456789ab", frozenset(), "space"
        calls = 0

        def embed_tokens(self, texts):
            self.calls += 1
            return embedded_model.embed_tokens(texts)

    counting = Counting()
    cached = CachedEmbedder(counting)
    (vector,) = cached.embed(["refund"])
    (again,) = cached.embed_tokens(["refund"])
    assert (counting.calls, vector) == (1, again.vector)
    assert again.tokens == embedded_model.embed_tokens(["refund"])[0].tokens
    assert token_space(cached) == "space"


def test_an_embedder_without_tokens_has_none_behind_a_cache_either(embedder):
    cached = CachedEmbedder(embedder)
    assert token_space(cached) == ""
    assert cached.embed_tokens(["refund"])[0].tokens is None


def test_the_same_prompt_is_answered_once_streamed_or_not(openai_server, chat, cache):
    openai_server.script = lambda request: "A week."
    cached = CachedChat(chat, cache, ttl_s=60)
    assert (
        "".join(cached.stream(PROMPT))
        == cached.complete(PROMPT)
        == "".join(cached.stream(PROMPT))
        == "A week."
    )
    assert len(openai_server.requests) == 1


def test_another_instance_finds_the_reply(openai_server, chat, cache):
    CachedChat(chat, cache, ttl_s=60).complete(PROMPT)
    CachedChat(chat, cache, ttl_s=60).complete(PROMPT)
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    "other",
    [
        Prompt(system="Answer!", user=PROMPT.user),
        Prompt(system=PROMPT.system, user="Question: how much?"),
        Prompt(system=PROMPT.system, user=PROMPT.user, max_tokens=5),
        Prompt(system=PROMPT.system, user=PROMPT.user, json=True),
        Prompt(system="Answer.Question: how long?", user=""),
    ],
)
def test_another_prompt_is_asked_anew(openai_server, chat, cache, other):
    cached = CachedChat(chat, cache, ttl_s=60)
    cached.complete(PROMPT)
    cached.complete(other)
    assert len(openai_server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "as_json"), [("", False), ("  ", False), ('{"answer": "cut', True), ("x" * 101, False)]
)
def test_a_reply_of_no_use_or_too_long_is_not_kept(openai_server, chat, cache, reply, as_json):
    openai_server.script = lambda request: reply
    cached = CachedChat(chat, cache, ttl_s=60, max_characters=100)
    prompt = Prompt(system="json", user="x", json=as_json)
    assert cached.complete(prompt) == "".join(cached.stream(prompt)) == reply
    assert len(openai_server.requests) == 2


def test_a_reply_that_broke_off_or_was_left_is_not_kept(openai_server, chat, cache):
    openai_server.script = lambda request: "Refunds take a week, as a rule, and never more than two."
    cached = CachedChat(chat, cache, ttl_s=60)
    openai_server.fail_next(Fault.CUT_STREAM)
    with pytest.raises(ModelError):
        list(cached.stream(PROMPT))
    left = cached.stream(PROMPT)
    next(left)
    left.close()
    assert "".join(cached.stream(PROMPT)).endswith("than two.")
    assert len(openai_server.requests) == 3
