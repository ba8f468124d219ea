"""What the requests of a page in the browser are answered with."""

from __future__ import annotations

import pytest

from crawler.fetching.browser_requests import BrowserAnswer, BrowserRequest, PageRequests, ScriptCache
from crawler.fetching.fetcher import Fetcher, HttpResponse


@pytest.fixture
def page(site, options):
    """The requests of a page at /page."""
    made: list[Fetcher] = []

    def make(permits=lambda url: True, scripts: ScriptCache | None = None, **changes) -> PageRequests:
        chosen = options(**changes)
        made.append(Fetcher(chosen))
        reply = HttpResponse(
            site.url("/page"), 200, {"content-type": "text/html", "set-cookie": "a=1"}, b"page"
        )
        return PageRequests(reply, chosen, made[-1], permits, scripts or ScriptCache())

    yield make
    for fetcher in made:
        fetcher.close()


def asked(
    url: str, kind: str = "fetch", method: str = "GET", is_page: bool = False, **headers: str
) -> BrowserRequest:
    return BrowserRequest(
        url, method, kind, {name.replace("_", "-"): value for name, value in headers.items()}, is_page
    )


def test_the_page_itself_is_answered_from_what_was_fetched(site, page) -> None:
    assert page().answer(asked(site.url("/page"), "document", is_page=True)) == BrowserAnswer(
        200, {"content-type": "text/html"}, b"page"
    )
    assert site.requests == []


def test_requests_are_counted(site, page) -> None:
    site.page("/data", "x" * 5000, content_type="text/plain")
    one = page(render_max_requests=2)
    assert [one.answer(asked(site.url("/data"))) is not None for _ in range(4)] == [True, True, False, False]
    assert site.hits("/data") == 2


def test_bytes_are_counted(site, page) -> None:
    site.page("/data", "x" * 5000, content_type="text/plain")
    one = page(render_max_bytes=12_000)
    assert [one.answer(asked(site.url("/data"))) is not None for _ in range(3)] == [True, True, False]


def test_only_what_may_be_fetched_is_asked_for(site, page) -> None:
    site.page("/api/open", "x")
    site.redirect("/moved", "/api/closed")
    one = page(permits=lambda url: "closed" not in url)
    assert one.answer(asked(site.url("/api/open"))) is not None
    assert one.answer(asked(site.url("/api/closed"))) is None
    assert one.answer(asked(site.url("/moved"))) is None
    assert site.hits("/api/closed") == 0


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("fetch", "POST"), ("xhr", "PUT"), ("fetch", "DELETE"), ("document", "GET"), ("font", "GET"), ("media", "GET"),
        ("eventsource", "GET"), ("websocket", "GET"), ("manifest", "GET"), ("other", "GET"), ("ping", "POST"),
    ],
)  # fmt: skip
def test_everything_else_is_refused(site, page, kind: str, method: str) -> None:
    assert page().answer(asked(site.url("/x"), kind, method)) is None
    assert site.requests == []


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "data:text/plain,x", "blob:http://a/b", "ftp://example.com/"]
)
def test_only_the_web_is_asked(page, url: str) -> None:
    assert page().answer(asked(url)) is None


@pytest.mark.parametrize("kind", ["image", "stylesheet"])
def test_pictures_and_styles_are_empty_ones(site, page, kind: str) -> None:
    answer = page().answer(asked(site.url("/x"), kind))
    assert answer is not None
    assert answer.status == 200
    assert site.requests == []


def test_redirects_of_data_are_followed_here_and_those_of_documents_by_the_page(site, page) -> None:
    site.redirect("/old", "/new")
    site.page("/new", "new")
    one = page()
    one.answer(asked(site.url("/page"), "document", is_page=True))
    data = one.answer(asked(site.url("/old")))
    assert data is not None
    assert data.body == b"new"
    document = one.answer(asked(site.url("/old"), "document", is_page=True))
    assert document is not None
    assert document.headers["refresh"] == f"0; url={site.url('/new')}"
    assert site.hits("/new") == 1


def test_secrets_of_scripts_do_not_follow_a_redirect_to_another_host(site, page) -> None:
    other = f"http://localhost:{site.server.server_port}"
    site.redirect("/data", f"{other}/elsewhere")
    site.page("/elsewhere", "x")
    one = page(start_urls=(site.url("/"), "http://localhost:1234/"))
    one.answer(asked(site.url("/data"), authorization="Bearer secret", cookie="a=1", x_shop="1"))
    first, second = (headers for _, headers in site.requests)
    assert (first["authorization"], first["x-shop"]) == ("Bearer secret", "1")
    assert "authorization" not in second
    assert "x-shop" not in second
    assert "cookie" not in first


def test_an_address_inside_the_network_is_not_asked(site, page) -> None:
    one = page()
    assert one.answer(asked(f"http://localhost:{site.server.server_port}/")) is None
    assert one.answer(asked("http://169.254.169.254/latest/")) is None
    assert site.requests == []


def test_scripts_are_shared_by_pages_but_not_data(site, page) -> None:
    site.page("/app.js", "x", content_type="text/javascript")
    scripts = ScriptCache()
    for _ in range(2):
        one = page(scripts=scripts)
        one.answer(asked(site.url("/app.js"), "script"))
        one.answer(asked(site.url("/app.js"), "fetch"))
    assert site.hits("/app.js") == 3
