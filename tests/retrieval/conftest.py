"""Shops for tests of strategies."""

import pytest

from tests.openai_server import OpenAIServer
from tests.strategy_shop import Shop


@pytest.fixture
def open_shop(tmp_path, model_cache):
    """Opens a shop in a folder of its own; all are closed in the end."""
    opened = []

    def open_one(strategy, folder="one", model=None, kind=Shop, **parts):
        (tmp_path / folder).mkdir(exist_ok=True)
        opened.append(kind(strategy, tmp_path / folder, model_cache, model, **parts))
        return opened[-1]

    yield open_one
    for shop in opened:
        shop.chroma.close()


@pytest.fixture
def server():
    """A server of chat models."""
    with OpenAIServer() as running:
        yield running
