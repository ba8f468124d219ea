"""Limits are tested against a real Redis, too."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin("tests.server_fixtures"):
        config.pluginmanager.import_plugin("tests.server_fixtures")
