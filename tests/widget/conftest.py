"""A scripted server and a browser profile for all tests of the widget; for each a fresh script and no stored data."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.conftest import missing_program
from tests.widget.service import PLAIN_PAGE, Script, Server

TAG = '<script src="HOST/widget/embed.js" data-site="harbour" {} async></script>'


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Where the packages of package.json are, which `make test` has installed."""
    folder = Path(sys.prefix) / "node" / "node_modules"
    if not folder.is_dir():
        missing_program("what tests/widget/package.json names", "make .venv/.node, which needs npm")
    return folder


@pytest.fixture(scope="session")
def widget_policy() -> str:
    """The Content-Security-Policy that the documentation gives."""
    text = (Path(__file__).parents[2] / "docs" / "widget.md").read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith("Content-Security-Policy: ")).partition(
        ": "
    )[2]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def script(server: Server) -> Iterator[Script]:
    server.script = Script()
    yield server.script
    server.script.hold.set()


def make_profile(browser: Browser) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-US", reduced_motion="reduce"
    )
    context.set_default_timeout(8000)
    return context


@pytest.fixture(scope="session")
def shared_profile(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A profile for all tests. Its first tab stays open and keeps the process that draws the others."""
    context = make_profile(browser)
    context.new_page().goto(server.home + "/widget/embed.js")
    yield context
    context.close()


@pytest.fixture
def new_profile(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile, for what cannot be taken back: a clock, scripts of every page, listeners."""
    context = make_profile(browser)
    yield context
    context.close()


@pytest.fixture
def profile(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """The shared profile with nothing in it, or the fresh one where the test names `new_profile`."""
    if "new_profile" in request.fixturenames:
        yield request.getfixturevalue("new_profile")
        return
    context: BrowserContext = request.getfixturevalue("shared_profile")
    session = context.new_cdp_session(context.pages[0])
    session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    session.send("Network.clearBrowserCache")
    session.detach()
    yield context
    context.set_offline(False)
    context.unroute_all()
    for page in context.pages[1:]:
        page.goto("about:blank")  # what it still stores is stored before the next test begins
        page.close()


@pytest.fixture
def visit(profile: BrowserContext, server: Server, script: Script) -> Callable[..., Page]:
    """Opens a page with the embed tag on it; `tag` are further attributes of the tag, `headers` of the page."""

    def go(
        tag: str = "",
        *,
        head: str = "",
        body: str = "",
        lang: str = "en",
        headers: dict[str, str] | None = None,
    ) -> Page:
        page = PLAIN_PAGE.format(lang=lang, head=head + TAG.format(tag), body=body)
        script.pages["/"] = (page, headers or {})
        tab = profile.new_page()
        tab.goto(server.home + "/")
        tab.bring_to_front()  # keys go to the tab in front, and another one stays open
        return tab

    return go


@pytest.fixture
def opened(visit: Callable[..., Page]) -> Callable[..., Page]:
    """The same with the panel open."""

    def go(*args: str, **kwargs: str) -> Page:
        page = visit(*args, **kwargs)
        page.locator(".launcher").click()
        page.locator(".chip, .acts").first.wait_for()
        return page

    return go
