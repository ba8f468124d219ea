"""Contract tests run over real servers."""

import pytest

from tests.retrieval.conftest import open_shop, server  # noqa: F401


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin("tests.server_fixtures"):
        config.pluginmanager.import_plugin("tests.server_fixtures")
