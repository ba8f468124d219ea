"""A site on loopback whose every answer a test decides."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crawler.crawl import crawl
from crawler.extractors import Extraction, SourceDocument
from crawler.extractors.html.extractor import extract as extract_html
from crawler.options import CrawlOptions
from crawler.report import UrlOutcome

Answer = Callable[[BaseHTTPRequestHandler], None]


def html(title: str, *paragraphs: str, links: tuple[str, ...] = (), head: str = "") -> str:
    """A small page; paragraphs may hold markup."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    anchors = "".join(f'<p>Read on at <a href="{link}">another page of ours</a>.</p>' for link in links)
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1>{body}{anchors}</main></body></html>"
    )


class Site:
    """Routes and a record of what was asked."""

    def __init__(self) -> None:
        self.routes: dict[str, Answer] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self.released = threading.Event()
        """Answers that never end wait for this, so that the server can be closed."""
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: object, client_address: object) -> None:
                pass  # clients that hang up are part of the tests

        self.server = Server(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def page(
        self,
        path: str,
        body: str | bytes,
        *,
        status: int = 200,
        content_type: str = "text/html; charset=utf-8",
        headers: dict[str, str] | None = None,
    ) -> None:
        content = body.encode() if isinstance(body, str) else body

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            if content_type:
                handler.send_header("Content-Type", content_type)
            for name, value in (headers or {}).items():
                handler.send_header(name, value)
            if "Content-Length" not in (headers or {}):
                handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)

        self.routes[path] = answer

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        self.page(path, "", status=status, headers={"Location": target})

    def hits(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.requests)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.requests.append((handler.path, {k.lower(): v for k, v in handler.headers.items()}))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            route = self.routes.get(handler.path)
            if route is not None:
                route(handler)
            else:
                handler.send_response(404)
                handler.send_header("Content-Length", "0")
                handler.end_headers()
        finally:
            with self._lock:
                self._at_once -= 1

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def site() -> Iterator[Site]:
    served = Site()
    yield served
    served.close()


@pytest.fixture
def options(site: Site) -> Callable[..., CrawlOptions]:
    """Options for the site, quick and allowed on loopback."""

    def make(**changes: object) -> CrawlOptions:
        chosen: dict[str, object] = {
            "start_urls": (site.url("/"),),
            "allow_private": True,
            "timeout_s": 5.0,
            "page_time_s": 10.0,
            "retries": 0,
            "concurrency": 4,
            "browser_sandbox": os.geteuid() != 0,
        }
        return CrawlOptions(**{**chosen, **changes})  # type: ignore[arg-type]

    return make


@pytest.fixture
def ends(options: Callable[..., CrawlOptions]) -> Callable[..., dict[str, UrlOutcome]]:
    """Crawls the site; the end of every URL by its path. Fails when one ended twice."""

    def run(known: object = None, **changes: object) -> dict[str, UrlOutcome]:
        chosen = options(**changes)
        found: dict[str, UrlOutcome] = {}
        for outcome in crawl(chosen, known):  # type: ignore[arg-type]
            path = "/" + outcome.url.split("/", 3)[3]
            assert path not in found, f"{path} ended twice"
            found[path] = outcome
        return found

    return run


@pytest.fixture
def read() -> Callable[..., Extraction]:
    """Extracts a page from markup."""

    def run(markup: str, url: str = "https://example.com/docs/page", **source: str) -> Extraction:
        return extract_html(SourceDocument(url, markup.encode(), **source))

    return run


@pytest.fixture
def blocks(read: Callable[..., Extraction]) -> Callable[[str], list[str]]:
    """Texts of the blocks of a page's main part."""

    def run(inner: str) -> list[str]:
        return [
            block.text for block in read(f"<main>{inner}<p>{'Filler words. ' * 8}</p></main>").page.blocks
        ][:-1]

    return run
