"""Headless browsers that can reach nothing by themselves. The only module that knows Playwright.

One thread runs one driver; each page that is open at a time has a browser of its own, started when first
needed and replaced when a page breaks it. What keeps pages from the network:
1. every request is intercepted and answered by browser_requests.py;
2. whatever escapes that meets a proxy that does not answer and a resolver that finds no name.
The driver ends with this process, however that ends, and the browsers end with the driver.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, BrowserContext, Page, Playwright, Request, Route, async_playwright
from playwright.async_api import Error as BrowserError

from crawler.discovery import urls
from crawler.errors import FetchError
from crawler.fetching.browser_requests import BrowserRequest, PageRequests
from crawler.options import CrawlOptions


def _script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


BEFORE = _script("before_page.js")
"""Removes what a reader does not need, and ways to the network other than requests. The wall that keeps a
page in are the flags that the browser is started with."""
HAS_TEXT = "() => !!(document.body && document.body.innerText.trim())"
SERIALIZED = _script("serialized_page.js")
"""The document as HTML, with the content of open shadow roots in its place and without scripts and
styles; null when longer than the limit. An address given becomes the base of relative links."""

T = TypeVar("T")

_QUIET_S = 0.5
"""Without a request for so long, a page with text is finished."""
_PATIENCE_S = 3.0
"""A quiet page without text may be waiting for a timer of its own."""
_GRACE_S = 3.0
"""To hand over a document, or to close: takes milliseconds, unless a script runs for ever."""
_TICK_S = 0.05
_FLAGS = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--mute-audio",
    "--js-flags=--max-old-space-size=512",
)
# Our own environment may hold keys, and the browser runs other people's scripts.
_ENVIRONMENT: dict[str, str | float | bool] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class Browsers:
    """A pool of browsers behind one thread; all methods may be called from any thread."""

    def __init__(self, options: CrawlOptions, program: str) -> None:
        self._options = options
        self._program = program
        self._loop = asyncio.new_event_loop()
        self._workers = ThreadPoolExecutor(4 * options.render_pages, thread_name_prefix="crawl-browser")
        self._driver: Playwright | None = None
        self._starting = asyncio.Lock()
        self._free: asyncio.Queue[Browser | None] = asyncio.Queue()
        self._running: set[Browser] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        # Bound but not listening: connecting to it fails at once, and nobody else can listen there.
        self._nowhere = socket.socket()
        self._nowhere.bind(("127.0.0.1", 0))
        for _ in range(options.render_pages):
            self._free.put_nowait(None)
        self._thread = threading.Thread(target=self._loop.run_forever, name="crawl-browsers", daemon=True)
        self._thread.start()

    def render(self, url: str, requests: PageRequests) -> bytes:
        """Return the page's HTML after its scripts ran. Raises FetchError."""
        return self._waited_for(self._rendered(url, requests))

    def try_one(self) -> None:
        """Start a browser, or raise FetchError."""
        self._waited_for(self._with_browser(_nothing))

    def close(self) -> None:
        """End all browsers at once."""
        try:
            with suppress(TimeoutError, CancelledError):
                asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result(3 * _GRACE_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_GRACE_S)
            self._workers.shutdown(wait=False, cancel_futures=True)
            if not self._thread.is_alive():
                self._loop.close()
            self._nowhere.close()

    def _waited_for(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop).result()
        except (CancelledError, RuntimeError) as error:  # cancelled, or the loop is closed
            work.close()
            raise FetchError("stopped", "the crawl was stopped") from error
        except BrowserError as error:
            raise FetchError("browser", f"the browser gave up: {_first_line(error)}") from error

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)

    async def _rendered(self, url: str, requests: PageRequests) -> bytes:
        async def render(browser: Browser) -> bytes:
            context = await self._context(browser)
            try:
                page = _OpenPage(context, await context.new_page(), requests, self._workers)
                return await page.rendered(url, self._options)
            finally:
                await asyncio.wait_for(context.close(), _GRACE_S)

        return await self._with_browser(render)

    async def _with_browser(self, use: Callable[[Browser], Awaitable[T]]) -> T:
        """Wait for a free browser and use it; replace one that broke."""
        browser = await self._free.get()
        try:
            if browser is None or not browser.is_connected():
                browser = await self._launched()
            return await use(browser)
        except TimeoutError as error:
            await self._discard(browser)
            browser = None
            raise FetchError("browser", "the browser hung") from error
        finally:
            self._free.put_nowait(browser)

    async def _launched(self) -> Browser:
        async with self._starting:
            if self._driver is None:
                self._driver = await async_playwright().start()
        try:
            browser = await self._driver.chromium.launch(
                executable_path=self._program or None,
                chromium_sandbox=self._options.browser_sandbox,
                args=[*_FLAGS, f"--proxy-server=http://127.0.0.1:{self._nowhere.getsockname()[1]}"],
                env=_ENVIRONMENT,
                timeout=30_000,
            )
        except BrowserError as error:
            raise FetchError("browser", f"the browser does not start: {_first_line(error)}") from error
        self._running.add(browser)
        return browser

    async def _context(self, browser: Browser) -> BrowserContext:
        """Open a context without cookies, storage or permissions of earlier pages."""
        context = await browser.new_context(
            user_agent=_user_agent(browser.version, self._options),
            service_workers="block",
            accept_downloads=False,
        )
        await context.add_init_script(BEFORE)
        await context.route_web_socket("**/*", lambda channel: channel.close())
        return context

    async def _discard(self, browser: Browser | None) -> None:
        if browser is not None:
            self._running.discard(browser)
            with suppress(BrowserError, TimeoutError):
                await asyncio.wait_for(browser.close(), _GRACE_S)

    async def _shut_down(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(self._discard(browser) for browser in list(self._running)))
        if self._driver is not None:
            with suppress(BrowserError, TimeoutError):
                await asyncio.wait_for(self._driver.stop(), _GRACE_S)
        left = asyncio.all_tasks() - {asyncio.current_task()}  # of the library, about pages that are gone
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


@dataclass(eq=False)
class _OpenPage:
    """One page in a context of its own."""

    _context: BrowserContext
    _page: Page
    _requests: PageRequests
    _workers: ThreadPoolExecutor

    def __post_init__(self) -> None:
        self._under_way = 0
        self._last_request = time.monotonic()

    async def rendered(self, url: str, options: CrawlOptions) -> bytes:
        await self._context.route("**/*", self._answer)
        self._context.on("page", lambda popup: popup.close())
        with suppress(TimeoutError):  # what is there by then is taken
            async with asyncio.timeout(options.render_time_s):
                await self._page.goto(url, wait_until="commit", timeout=0)
                await self._settled()
        try:
            async with asyncio.timeout(_GRACE_S):
                text = await self._document(url, options.max_bytes)
        except TimeoutError as error:
            reason = f"its scripts were not finished after {options.render_time_s:g} s"
            raise FetchError("too_slow", reason) from error
        if text is None or len(found := text.encode("utf-8", "replace")) > options.max_bytes:
            raise FetchError("too_large", f"more than {options.max_bytes:,} bytes after its scripts ran")
        return found

    async def _answer(self, route: Route) -> None:
        self._under_way += 1
        try:
            asked = self._asked(route.request)
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._workers, self._requests.answer, asked)
            if answer is not None:
                await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)
            else:  # a refused navigation must leave the page that it would have replaced
                await route.abort("aborted" if asked.kind == "document" else "blockedbyclient")
        except BrowserError:
            pass  # the page is gone, and its question with it
        finally:
            self._under_way -= 1
            self._last_request = time.monotonic()

    def _asked(self, request: Request) -> BrowserRequest:
        is_page = request.is_navigation_request() and request.frame == self._page.main_frame
        return BrowserRequest(request.url, request.method, request.resource_type, request.headers, is_page)

    async def _settled(self) -> None:
        """Wait until the page sends no more requests and has text."""
        opened = time.monotonic()
        while True:
            await asyncio.sleep(_TICK_S)
            now = time.monotonic()
            if self._under_way or now - self._last_request < _QUIET_S:
                continue
            with suppress(BrowserError):  # a script led to another page just now
                if await self._page.evaluate(HAS_TEXT) or now - max(opened, self._last_request) > _PATIENCE_S:
                    return

    async def _document(self, url: str, limit: int) -> str | None:
        while True:
            ended_at = self._page.url
            if not ended_at.startswith(urls.origin(url) + "/"):  # a blob: or about: of its own making
                raise FetchError("browser", f"its scripts left it for {ended_at[:100]}")
            moved = ended_at if ended_at.partition("#")[0] != url.partition("#")[0] else ""
            try:
                text: str | None = await self._page.evaluate(SERIALIZED, [limit, moved])
            except BrowserError as error:
                if self._page.is_closed() or "navigat" not in str(error):
                    raise
                continue  # a script led to another page just now
            return text


def _user_agent(version: str, options: CrawlOptions) -> str:
    """Return the user agent that scripts see: a browser's, so that they run, with our name in it."""
    browser = f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}"
    return f"{browser} Safari/537.36 {options.user_agent_header}"


def _first_line(error: BrowserError) -> str:
    return error.message.strip().partition("\n")[0]


async def _nothing(browser: Browser) -> None:
    pass
