"""Fixtures of every part: the embedded model, the browser, real servers."""

import os
import shutil

import pytest

pytest_plugins = ["tests.server_fixtures"]

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing_program(name, install):
    """Skips the test that needs a program of the system, or fails it where all tests have to run."""
    message = f"{name} is not installed; {install}"
    if os.environ.get("DOCENT_TESTS_REQUIRE_SYSTEM") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def node():
    """Path of Node.js."""
    return shutil.which("node") or missing_program("Node.js", "apt-get install nodejs, 20 or newer")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory):
    """Folder with the embedded model, prepared once for all tests."""
    from server.models.embedded import prepare

    folder = tmp_path_factory.mktemp("models")
    prepare(folder)
    return folder


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, one for all tests; make a context for each."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing_program("Chromium", "apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()
