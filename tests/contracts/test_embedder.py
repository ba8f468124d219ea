"""What every Embedder does, over every implementation."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from server.domain.protocols import ModelError
from server.models.cached import CachedEmbedder
from server.models.resilient import CallLimits, ResilientEmbedder
from server.models.table import EMBEDDERS
from tests.models.tiny_model import write_model
from tests.openai_server import Fault, OpenAIServer
from tests.servers import HERE

LIMITS = CallLimits(backoff_s=0.001)
TEXTS = [
    "Where is my parcel?",
    "Refunds take a week.",
    "",
    "  \n",
    "Lieferung nach Österreich",
    "退款需要多久?",
]


@pytest.fixture(scope="module")
def server():
    with OpenAIServer() as running:
        yield running


@pytest.fixture(params=["embedded", "folder", "openai", "cached", "resilient", "cached resilient openai"])
def embedder(request, server, model_cache, tmp_path):
    server.reset()
    openai = EMBEDDERS.load("openai")("test-embedding", base_url=server.base_url, guard=HERE)
    embedded = EMBEDDERS.load("embedded")(model_cache, threads=2)
    return {
        "embedded": lambda: embedded,
        "folder": lambda: EMBEDDERS.load("folder")(write_model(tmp_path), threads=2),
        "openai": lambda: openai,
        "cached": lambda: CachedEmbedder(embedded),
        "resilient": lambda: ResilientEmbedder(embedded, LIMITS, batch=4),
        "cached resilient openai": lambda: CachedEmbedder(ResilientEmbedder(openai, LIMITS)),
    }[request.param]()


def test_every_text_gets_a_vector_of_length_one_and_of_the_same_dimensions(embedder):
    vectors = np.array(embedder.embed(TEXTS))
    assert vectors.shape[0] == len(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_no_text_gives_no_vector(embedder):
    assert embedder.embed([]) == []


def test_vectors_come_in_the_order_of_the_texts(embedder):
    texts = [f"article {number} " + "about shipping " * (number % 7) for number in range(150)]
    vectors = np.array(embedder.embed(texts))
    assert np.argmax(vectors @ np.array(embedder.embed([texts[77]])[0])) == 77
    assert vectors[149] == pytest.approx(embedder.embed([texts[149]])[0], abs=1e-6)


def test_the_same_text_gets_the_same_vector_again(embedder):
    assert embedder.embed(["Where is my parcel?"]) == embedder.embed(["Where is my parcel?"])


def test_a_text_past_the_models_input_is_cut(embedder):
    [vector] = embedder.embed(["shipping " * 20_000])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_half_a_surrogate_pair_does_no_harm(embedder):
    [vector] = embedder.embed(["broken \ud83d emoji"])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_several_threads_may_embed_at_once(embedder):
    texts = [f"question number {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    assert np.array(vectors) == pytest.approx(np.array(embedder.embed(texts)), abs=1e-6)


def test_the_fingerprint_is_hexadecimal_and_the_name_is_not_empty(embedder):
    assert re.fullmatch(r"[0-9a-f]{8,}", embedder.fingerprint)
    assert embedder.name
    assert isinstance(embedder.languages, frozenset)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.RATE_LIMITED, "rate_limited"),
        (Fault.SERVER_ERROR, "server_error"),
        (Fault.WRONG_KEY, "wrong_key"),
        (Fault.UNKNOWN_MODEL, "wrong_model"),
        (Fault.BROKEN_BODY, "bad_reply"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda e: e, CachedEmbedder, lambda e: ResilientEmbedder(e, LIMITS)])
def test_failures_of_a_provider_are_model_errors_of_one_line(server, fault, kind, wrap):
    server.reset()
    server.retry_after_s = 0.01
    server.fault = fault
    embedder = wrap(EMBEDDERS.load("openai")("test-embedding", base_url=server.base_url, guard=HERE))
    with pytest.raises(ModelError) as caught:
        embedder.embed(["parcel"])
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    server.fault = None
    assert embedder.embed(["parcel"])
