"""Storage is tested on real databases and by real processes."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from server.domain.site import Site
from server.storage.database import Database
from server.storage.sites.sites import SiteStore

ROOT = Path(__file__).parents[2]


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin("tests.server_fixtures"):
        config.pluginmanager.import_plugin("tests.server_fixtures")


@pytest.fixture
def site(database: Database) -> Site:
    """A site without content."""
    return SiteStore(database).create(Site("shop", "Shop", "The Shop", ("https://shop.example/",)))


@pytest.fixture
def run() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts another Python process on a piece of code with arguments; those left over are killed."""
    started = []

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, *arguments],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
