"""Fixtures of every part: the embedded model, the browser, real servers."""

import gc
import os
import shutil
import sys

import numpy as np
import pytest
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from server.__main__ import GARBAGE
from server.models.embedded import EmbeddedEmbedder

gc.disable()  # until pytest_collection_finish: what is imported and collected stays

# Without bytecode each process that a test starts compiles the product again, which takes longer than what it does.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest_plugins = ["tests.server_fixtures"]

# The databases of all tests share the statements that SQLAlchemy has compiled; each of them would compile its own, a
# sixth of what the tests compute. What is compiled for one dialect of SQLite is right for any other.
_STATEMENTS: LRUCache = LRUCache(3000)
SQLiteDialect_pysqlite.engine_created = lambda engine: setattr(engine, "_compiled_cache", _STATEMENTS)
SQLiteDialect_pysqlite.__hash__ = lambda self: hash(type(self))
SQLiteDialect_pysqlite.__eq__ = lambda self, other: type(self) is type(other)

# Hundreds of tests crawl the same few pages: each process embeds each text once, which is most of what they compute.
_embed = EmbeddedEmbedder._embed_one
_embedded: dict = {}


def _embed_once(self, text):
    self._load()  # a model that cannot be loaded fails as ever
    if text not in _embedded:
        made = _embed(self, text)
        _embedded[text] = made._replace(vector=np.array(made.vector, np.float32))  # an eighth of the memory
    return _embedded[text]._replace(vector=_embedded[text].vector.tolist())


EmbeddedEmbedder._embed_one = _embed_once

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same browser without its windows: a tab costs a fifth of the processor time."""
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # tabs of one site share a process: to start one takes as long as a short test
]


SYSTEM = {"browser", "rendering", "node", "node_modules", "postgresql_server", "redis_address", "chroma_url"}
"""Fixtures that start or need a program of the operating system."""
SLOW = (
    # They start processes of the product and wait for them.
    "tests/journey/", "tests/api/test_serving.py", "tests/api/test_openapi.py", "tests/jobs/", "tests/crawler/test_command.py",
    "tests/crawler/test_resume.py", "tests/crawler/fetching/test_browser_walls.py", "tests/storage/test_crashes.py",
    "tests/guards/test_limits.py", "tests/deploy/",
    # They crawl, index or question whole sites.
    "tests/answering/test_nobody_takes_the_chatbot_over.py", "tests/content/", "tests/contracts/test_strategy.py",
    "tests/crawler/test_documentation_sites.py", "tests/crawler/test_trap_site.py", "tests/gaps/test_gaps_of_a_shop.py",
    "tests/models/test_embedded.py", "tests/playground/", "tests/quality/test_gate.py", "tests/sources/test_site_of_sources.py",
    "tests/crawler/test_crawl.py", "tests/test_snippets.py", "tests/evaluation/test_evaluating.py", "tests/indexing/test_indexer.py",
    "tests/retrieval/test_contextual.py", "tests/retrieval/test_derived.py", "tests/retrieval/test_graphrag.py",
    "tests/retrieval/test_hierarchical.py", "tests/retrieval/test_hipporag.py", "tests/retrieval/test_lightrag",
    "tests/retrieval/test_raptor", "tests/retrieval/test_segments.py", "tests/retrieval/test_small_to_big.py",
    # They open every page of the dashboard, send to slow receivers, or hold half a year of questions.
    "tests/admin/test_access.py", "tests/admin/test_roles.py", "tests/admin/test_security.py", "tests/admin/test_seeded.py",
    "tests/contact/test_outbox.py", "tests/storage/test_backup.py",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Marks the tests that `make test-fast` leaves out, and puts the long files first."""
    for item in items:
        varied = {str(value) for value in getattr(getattr(item, "callspec", None), "params", {}).values()}
        if SYSTEM & set(item.fixturenames) or varied & {"postgresql", "redis", "chroma"}:
            item.add_marker("system")
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
    # Whole files, for with xdist a file is one worker's: a long one at the end would leave the other idle.
    long = {item.path for item in items if any(item.iter_markers("slow")) or "browser" in item.fixturenames}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish():
    """Modules and collected tests stay: looking through them for garbage takes a sixth of a run. The commands of the
    product do the same."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 50)
    gc.enable()


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
def launch_browser():
    """Starts headless Chromium, with further flags."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        missing_program("Chromium", "apt-get install chromium")
    with sync_playwright() as playwright:
        yield lambda *flags: playwright.chromium.launch(
            executable_path=program, args=[*CHROMIUM_FLAGS, *flags]
        )


@pytest.fixture(scope="session")
def browser(launch_browser):
    """Headless Chromium, one for all tests; make a context for each."""
    chromium = launch_browser()
    yield chromium
    chromium.close()
