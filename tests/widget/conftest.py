"""One browser and one scripted server for all tests of the widget; a fresh profile and script for each."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
from service import PLAIN_PAGE, Script, Server  # noqa: E402  beside this file, which is no package

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TAG = '<script src="HOST/widget/embed.js" data-site="harbour" {} async></script>'


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture()
def script(server: Server) -> Iterator[Script]:
    server.script = Script()
    yield server.script
    server.script.hold.set()


@pytest.fixture()
def browser_context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-US", reduced_motion="reduce"
    )
    context.set_default_timeout(8000)
    yield context
    context.close()


@pytest.fixture()
def visit(browser_context: BrowserContext, server: Server, script: Script) -> Callable[..., Page]:
    """Opens a page with the embed tag on it; `tag` are further attributes of the tag, `headers` of the page."""

    def go(
        tag: str = "",
        *,
        head: str = "",
        body: str = "",
        lang: str = "en",
        headers: dict[str, str] | None = None,
    ) -> Page:
        html = PLAIN_PAGE.format(lang=lang, head=head + TAG.format(tag), body=body)
        script.pages["/"] = (html, headers or {})
        page = browser_context.new_page()
        page.goto(server.home + "/")
        return page

    return go
