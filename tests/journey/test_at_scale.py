"""The same main path on PostgreSQL, Redis and a Chroma server of its own, with a model."""

import pytest

from tests.journey.conftest import Docent
from tests.journey.test_main_path import Visitor
from tests.openai_server import Fault, OpenAIServer


@pytest.fixture(scope="module")
def model_server():
    with OpenAIServer() as server:
        yield server


@pytest.fixture(scope="module")
def docent(shop, tmp_path_factory, new_postgresql, redis_address, chroma_url, model_server):
    server = Docent(
        tmp_path_factory.mktemp("scale") / "data",
        SITE=shop.url,
        CRAWL_ALLOW_PRIVATE="1",
        DATABASE_URL=new_postgresql(),
        REDIS_URL=redis_address,
        CHROMA_URL=chroma_url,
        OPENAI_BASE_URL=model_server.base_url,
        OPENAI_API_KEY="test-key",
        CHAT_MODEL="test-model",
        EMBEDDING_MODEL="test-embeddings",
        MODEL_RETRIES="0",
        MODEL_CACHE_HOURS="0",
    )
    server.start()
    server.wait_until_ready()
    yield server
    server.stop()


@pytest.fixture
def visitor(docent):
    return Visitor(docent, docent.site_id())


def test_the_model_answers_from_the_site_with_a_citation(visitor, model_server):
    answer = visitor.ask("How long does delivery to islands take?")
    assert answer["model"] == "test-model"
    assert "five working days" in answer["answer"]
    assert answer["citations"]


def test_when_the_model_is_down_the_visitor_gets_the_quoted_answer(visitor, model_server):
    model_server.fault = Fault.SERVER_ERROR
    answer = visitor.ask("What does delivery cost?")
    model_server.fault = None
    assert answer["model"] == "embedded"
    assert "4.50 EUR" in answer["answer"]


def test_nothing_of_it_is_kept_in_files(docent, visitor):
    visitor.ask("How do I return a lamp?")
    from pathlib import Path

    left = {path.name for path in Path(docent.settings["DATA_DIR"]).iterdir()}
    assert not left & {"docent.sqlite3", "chroma", "jobs.sqlite3"}
