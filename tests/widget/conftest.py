"""A scripted server for all tests of the widget; for each test a fresh script and a fresh browser profile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.widget.service import PLAIN_PAGE, Script, Server

TAG = '<script src="HOST/widget/embed.js" data-site="harbour" {} async></script>'


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


@pytest.fixture
def profile(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-US", reduced_motion="reduce"
    )
    context.set_default_timeout(8000)
    yield context
    context.close()


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
