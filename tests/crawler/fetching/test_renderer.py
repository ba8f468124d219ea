"""The renderer with a real browser, against an application served on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crawler.content import Renderer
from crawler.errors import BadStart, FetchError
from crawler.extractors import SourceDocument, extract
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.options import CrawlOptions
from crawler.report import UrlState
from tests.conftest import missing_program
from tests.crawler.conftest import html as html_page

SHELL = (
    "<!DOCTYPE html><html lang=en><head><title>Shop</title>"
    "<link rel=stylesheet href=/app.css><script defer src=/app.js></script></head>"
    "<body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div></body></html>"
)
APP = """
async function show(path) {
  const answer = await fetch("/api" + path + ".json", {headers: {"X-Shop": "1"}});
  const page = await answer.json();
  document.title = page.title;
  const request = new XMLHttpRequest();
  request.onload = () => {
    document.getElementById("root").innerHTML =
      `<main><h1>${page.title}</h1><p>${page.text}</p><p id=note>${request.responseText}</p>` +
      page.links.map((link) => `<a href="${link}">${link}</a> `).join("") + "</main>";
  };
  request.open("GET", "/api/note");
  request.send();
}
addEventListener("click", (event) => {
  event.preventDefault();
  history.pushState({}, "", event.target.href);
  show(location.pathname);
});
show(location.pathname);
"""


@pytest.fixture(scope="module")
def rendering():
    """Renderers that end with the module; a browser takes a second to start."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        missing_program("Chromium", "apt-get install chromium")
    made: dict[object, tuple[Fetcher, Renderer]] = {}

    def make(**changes) -> Renderer:
        key = tuple(sorted(changes.items()))
        if key not in made:
            chosen = {
                "allow_private": True,
                "timeout_s": 15.0,
                "render_time_s": 20.0,
                "render_pages": 2,
                "browser_sandbox": os.geteuid() != 0,
                **changes,
            }
            options = CrawlOptions(start_urls=("http://127.0.0.1/",), **chosen)
            fetcher = Fetcher(options)
            made[key] = (fetcher, Renderer(options, fetcher))
        return made[key][1]

    yield make
    for fetcher, renderer in made.values():
        fetcher.close()
        renderer.close()


@pytest.fixture
def render(rendering, site):
    """HTML after the scripts of some markup ran."""

    def run(markup: str, path: str = "/page", url: str = "", **changes) -> str:
        address = url or site.url(path)
        reply = HttpResponse(address, 200, {"content-type": "text/html; charset=utf-8"}, markup.encode())
        return rendering(**changes).render(address, reply).decode()

    return run


@pytest.fixture
def shop(site):
    """A single-page application of two pages."""
    site.page("/app.js", APP, content_type="text/javascript")
    site.page("/api/note", "Note of the day", content_type="text/plain")
    for path, other in (("/tea", "/coffee"), ("/coffee", "/tea")):
        text = {"title": f"About {path[1:]}", "text": f"We sell {path[1:]} & more.", "links": [other]}
        site.page(f"/api{path}.json", json.dumps(text), content_type="application/json")
    return site


def test_text_that_scripts_fetch_is_on_the_page(shop, render) -> None:
    for path in ("/tea", "/coffee"):
        html = render(SHELL, path)
        found = extract(SourceDocument(shop.url(path), html.encode(), charset="utf-8"))
        assert found.page.title == f"About {path[1:]}"
        assert f"We sell {path[1:]} & more." in found.page.text
        assert "Note of the day" in found.page.text
        assert found.follow == (shop.url("/coffee" if path == "/tea" else "/tea"),)


def test_a_crawl_reads_an_application_without_being_told(shop, ends, rendering) -> None:
    for path in ("/", "/tea", "/coffee"):
        shop.page(path, SHELL)
    shop.page("/api/.json", json.dumps({"title": "Shop", "text": "Welcome to us.", "links": ["/tea"]}))
    shop.page("/plain", html_page("Plain", "A page with words of its own. " * 20))
    found = ends(start_urls=(shop.url("/"), shop.url("/plain")), render_pages=1)
    assert {path: outcome.state for path, outcome in found.items()} == dict.fromkeys(
        ("/", "/tea", "/coffee", "/plain"), UrlState.FETCHED
    )
    assert "We sell coffee & more." in found["/coffee"].page.text


def test_a_crawl_without_a_browser_says_what_to_install(shop, ends) -> None:
    shop.page("/", SHELL)
    outcome = ends(browser="/no/such/chromium")["/"]
    assert outcome.state is UrlState.EMPTY
    assert "/no/such/chromium" in outcome.reason
    with pytest.raises(BadStart, match="/no/such/chromium"):
        ends(browser="/no/such/chromium", render="always")
    assert ends(render="never")["/"].state is UrlState.EMPTY


def test_scripts_are_fetched_once_for_all_pages_and_pictures_and_styles_never(shop, render) -> None:
    for _ in range(2):
        html = render(
            SHELL + "<img src=/logo.png alt=Logo><img src=/b.png onerror=this.remove() alt=Kept>", "/tea"
        )
        assert 'alt="Logo"' in html
        assert 'alt="Kept"' in html
    assert shop.hits("/app.js") == 1
    assert shop.hits("/api/tea.json") == 2
    asked = {path for path, _ in shop.requests}
    assert asked == {"/app.js", "/api/tea.json", "/api/note"}


def test_requests_of_scripts_bear_the_name_of_the_crawler_and_no_cookies(shop, render) -> None:
    render(SHELL.replace("<head>", "<head><script>document.cookie = 'id=1'</script>"), "/tea")
    headers = dict(shop.requests)["/api/tea.json"]
    assert headers["user-agent"].startswith("DocentBot/")
    assert headers["x-shop"] == "1"
    assert "cookie" not in headers


def test_nothing_is_kept_from_one_page_to_the_next(render) -> None:
    seen = "<p id=p>x</p><script>p.textContent = [document.cookie, localStorage.a];{}</script>"
    render(seen.replace("{}", "document.cookie = 'a=1; max-age=999'; localStorage.a = 2"))
    assert '<p id="p">,</p>' in render(seen)


def test_text_behind_a_timer_is_waited_for(render) -> None:
    assert "late" in render("<div id=r></div><script>setTimeout(() => r.textContent = 'late', 1200)</script>")


def test_open_shadow_roots_stand_in_their_place(render) -> None:
    html = render(
        "<p>before</p><x-card><b slot=name>Ada</b></x-card><script>customElements.define('x-card', class extends "
        "HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = "
        "'<p>Name: <slot name=name></slot></p><style>p {color: red}</style>' } })</script>"
    )
    page = extract(SourceDocument("http://example.com/", html.encode(), charset="utf-8")).page
    assert "Name: Ada" in page.text
    assert "color" not in html


def test_markup_survives_as_it_stands(render) -> None:
    body = '<p title="a &quot;b&quot; &lt;c&gt;">1 &lt; 2 &amp;&amp; x&nbsp;y</p><pre>\n\n a\n  b</pre><br>'
    json_ld = '<script type="application/ld+json">{"name": "A < B"}</script>'
    html = render(f"<!DOCTYPE html><html lang=de><head>{json_ld}</head><body>{body}</body></html>")
    assert json_ld in html
    assert "1 &lt; 2 &amp;&amp; x&nbsp;y</p>" in html
    assert '<html lang="de">' in html
    assert 'title="a &quot;b&quot; ' in html


def test_a_redirect_by_script_is_followed_on_the_same_origin(site, render) -> None:
    site.redirect("/old", "/deep/new")
    site.page("/deep/new", "<p>Here it is. <a href=next>Next</a></p>")
    html = render("<script>location = '/old'</script>")
    assert "Here it is." in html
    found = extract(SourceDocument(site.url("/page"), html.encode(), charset="utf-8"))
    assert found.follow == (site.url("/deep/next"),)


@pytest.mark.parametrize(
    "target", ["http://other.example/", "file:///etc/hostname", "data:text/html,<p>gone"]
)
def test_a_script_cannot_lead_elsewhere(render, target: str) -> None:
    assert "<p>still here</p>" in render(f"<p>still here</p><script>location = '{target}'</script>")


def test_a_page_of_its_own_making_is_not_taken_for_the_page(render) -> None:
    with pytest.raises(FetchError, match="left it for blob:"):
        render(
            "<p>x</p><script>location = URL.createObjectURL(new Blob(['<p>x'], {type: 'text/html'}))</script>"
        )


def test_dialogs_and_popups_do_not_stop_the_page(site, render) -> None:
    html = render(
        "<p id=p></p><a id=a target=_blank href=/popup></a>"
        "<script>alert(1); confirm(2); prompt(3); print(); open('/popup'); a.click(); p.textContent = 'done'</script>"
    )
    assert "done" in html
    assert site.hits("/popup") == 0


def test_an_endless_script_is_cut_off_and_the_next_page_is_read(render) -> None:
    began = time.monotonic()
    with pytest.raises(FetchError, match="not finished after 1 s") as caught:
        render("<p>x</p><script>for (;;);</script>", render_time_s=1.0)
    assert caught.value.kind == "too_slow"
    assert time.monotonic() - began < 60
    assert "<p>fine</p>" in render("<p>fine</p>", render_time_s=1.0)


def test_an_endless_reload_ends_with_what_is_there(render) -> None:
    began = time.monotonic()
    assert "<p>x</p>" in render(
        "<p>x</p><script>setInterval(() => location.reload(), 5)</script>", render_time_s=1.0
    )
    assert time.monotonic() - began < 10


def test_an_answer_that_never_comes_does_not_hold_the_page_up(site, render) -> None:
    site.routes["/slow"] = lambda handler: site.released.wait(20)
    began = time.monotonic()
    html = render("<p>x</p><script>fetch('/slow').catch(() => {})</script>", render_time_s=1.0)
    assert "<p>x</p>" in html
    assert time.monotonic() - began < 10


def test_a_document_larger_than_a_page_may_be_is_refused(render) -> None:
    with pytest.raises(FetchError) as caught:
        render("<p id=p></p><script>p.textContent = 'x'.repeat(11e6)</script>")
    assert caught.value.kind == "too_large"


def test_many_threads_share_few_browsers(render) -> None:
    found: list[str] = []
    render("<p>warm</p>")
    threads = [
        threading.Thread(target=lambda number=number: found.append(render(f"<p>page {number}</p>")))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(html[html.index("page") :][:6] for html in found) == [
        f"page {number}" for number in range(4)
    ]


def test_closing_ends_pages_that_are_open(site, rendering) -> None:
    renderer = rendering(render_time_s=30.0)
    opened = threading.Event()
    site.routes["/slow"] = lambda handler: (opened.set(), site.released.wait(20))
    caught: list[FetchError] = []

    def run() -> None:
        markup = b"<script>fetch('/slow')</script>"
        try:
            renderer.render(
                site.url("/"), HttpResponse(site.url("/"), 200, {"content-type": "text/html"}, markup)
            )
        except FetchError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert opened.wait(20)
    began = time.monotonic()
    renderer.close()
    thread.join(10)
    assert [error.kind for error in caught] == ["stopped"]
    assert time.monotonic() - began < 8
    with pytest.raises(FetchError, match="stopped"):
        renderer.render(site.url("/"), HttpResponse(site.url("/"), 200, {}, b""))


_RENDERS_FOR_EVER = """
import sys
from crawler.fetching.fetcher import Fetcher, HttpResponse
from crawler.options import CrawlOptions
from crawler.content import Renderer
options = CrawlOptions(start_urls=("http://site.example/",), render_time_s=100, render_pages=1, browser_sandbox=False)
renderer = Renderer(options, Fetcher(options))
headers = {"content-type": "text/html"}
print(renderer.render("http://site.example/", HttpResponse("http://site.example/", 200, headers, b"<p>x</p>")), flush=True)
renderer.render("http://site.example/", HttpResponse("http://site.example/", 200, headers, b"<script>for(;;);</script>"))
"""


def _descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_no_process_outlives_a_killed_crawler(rendering) -> None:
    process = subprocess.Popen([sys.executable, "-c", _RENDERS_FOR_EVER], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert "<p>x</p>" in process.stdout.readline()
        children = _descendants(process.pid)
        assert len(children) >= 3, "the driver, the browser and its renderer"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    deadline = time.monotonic() + 10
    while (left := {pid for pid in children if _alive(pid)}) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def test_a_browser_that_is_not_there_is_named_with_a_way_out() -> None:
    options = CrawlOptions(start_urls=("https://example.com/",), browser="/no/such/chromium", render="always")
    fetcher = Fetcher(options)
    renderer = Renderer(options, fetcher)
    assert "/no/such/chromium" in renderer.missing
    with pytest.raises(BadStart, match="/no/such/chromium"):
        renderer.require()
    with pytest.raises(FetchError) as caught:
        renderer.render("https://example.com/", HttpResponse("https://example.com/", 200, {}, b""))
    assert caught.value.kind == "browser"
    fetcher.close()


def test_a_program_that_is_no_browser_is_an_error_in_words(render) -> None:
    with pytest.raises(FetchError, match="does not start"):
        render("<p>x</p>", browser="/bin/false")


def test_as_root_no_page_is_opened_without_a_sandbox_unless_that_is_allowed(shop, ends, monkeypatch):
    shop.page("/tea", SHELL)
    assert ends(start_urls=(shop.url("/tea"),))["/tea"].page
    monkeypatch.setattr("crawler.content.os.geteuid", lambda: 0)
    outcome = ends(start_urls=(shop.url("/tea"),), browser_sandbox=True)["/tea"]
    assert outcome.state is UrlState.EMPTY
    assert "Chromium has no sandbox as root; run Docent as another user" in outcome.reason
    with pytest.raises(BadStart, match="CRAWL_BROWSER_SANDBOX=0"):
        ends(start_urls=(shop.url("/tea"),), browser_sandbox=True, render="always")
