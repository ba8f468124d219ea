import pytest

from server.storage.shared_cache import DiskSharedCache
from tests.openai_server import OpenAIServer


@pytest.fixture(scope="session")
def running_openai_server():
    """One local OpenAI-compatible server for all tests."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def openai_server(running_openai_server):
    """The local OpenAI-compatible server, free of faults, scripts and earlier requests."""
    running_openai_server.reset()
    yield running_openai_server
    running_openai_server.reset()


@pytest.fixture
def cache(tmp_path):
    """The cache that processes share, as it is used without Redis."""
    shared = DiskSharedCache(tmp_path / "cache")
    yield shared
    shared.close()
