"""What citations of uploaded files open: harmless HTML, and the file."""

import pytest
from markupsafe import Markup
from playwright.sync_api import Error as BrowserError

from crawler.sources.files import read_file
from server.api.source_files import page_html
from server.domain.site import Site
from server.storage.columns import now
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.content.source_pages import PageVersion, SourcePages
from server.storage.content.sources import SourceKind
from tests.crawler.files import LOREM, pdf
from tests.servers import web_server

EVIL = b"""# <script>alert(1)</script> *Lamp*

Use &lt;b&gt; and <img src=x onerror=alert(2)> "quotes".

| a | b |
| --- | --- |
| <i>c</i> | d |

- one
  1. two
- three

```
<script>alert(3)</script>
```
"""


def html(name, body):
    page = read_file(name, body, "/sources/shop/x").page.to_json()
    return page_html(page["title"], page["blocks"])


def test_nothing_of_a_file_becomes_markup():
    shown = html("evil.md", EVIL)
    assert isinstance(shown, Markup)
    for sign in ("<script", "<img", "<i>", "onerror=alert(2)>"):
        assert sign not in shown
    assert "&lt;script&gt;alert(3)&lt;/script&gt;" in shown


def test_every_kind_of_block_has_its_markup():
    shown = html("evil.md", EVIL)
    assert '<tr><th scope="col">a</th><th scope="col">b</th></tr><tr><td>c</td><td>d</td></tr>' in shown
    assert "<ul><li>one<ol><li>two</li></ol></li><li>three</li></ul>" in shown


def test_one_wide_row_does_not_widen_the_others():
    rows = "\n".join(["\t" * 3000, *["a"] * 3000])
    shown = page_html("Prices", [{"kind": "table", "text": rows, "heading_path": [], "anchor": ""}])
    assert len(shown) < 200_000
    assert shown.count("<tr>") == 3001


def test_a_list_may_begin_with_any_number():
    for first, start in (("7", ' start="7"'), ("9" * 5000, "")):
        block = {"kind": "list", "text": f"{first}. one", "heading_path": [], "anchor": ""}
        shown = page_html("Steps", [block])
        assert f"<ol{start}>" in shown or (not start and "one</p>" in shown)


def test_headings_are_nested_below_the_title_and_are_anchors():
    shown = html("a.md", b"# Guide\n\nIntro.\n\n## One\n\nText.\n\n### Two\n\nText.\n\n## One\n\nAgain.\n")
    assert shown.startswith('<h1 id="guide">Guide</h1>\n<p>Intro.</p>\n<h2 id="one">One</h2>')
    assert '<h3 id="two">Two</h3>' in shown
    assert '<h2 id="one-1">One</h2>' in shown
    assert html("b.md", b"Only text.").startswith("<h1>b</h1>\n<p>Only text.</p>")


def test_pages_of_a_pdf_are_anchors():
    shown = html("a.pdf", pdf([[("p", LOREM)], [("p", "The second page says this.")]]))
    assert 'id="page=2" data-page="2"></div>\n<p>The second page says this.</p>' in shown


@pytest.fixture
def serve(runtime, client):
    """Makes a file live in the site "files"; gives the address of its page."""
    runtime.stores.sites.create(Site("files", "Files", "Files"))

    def live(name, body):
        digest = runtime.stores.sources.put("files", SourceKind.FILE, name, body, most_bytes=10**8).digest
        url = f"/sources/files/{digest[:16]}"
        page = read_file(name, body, url).page
        pages = SourcePages(runtime.database, "files")
        pages.put(PageVersion(url, page.content_hash, page.to_json(), digest, name))
        record = PageRecord(url, page.title, "", page.content_hash, "", "", 0, now())
        store = ContentStore(runtime.database, "files")
        store.put_page(record, (), ())
        store.go_live()
        return url

    return live


def test_a_page_runs_no_script_and_is_not_for_search_engines(serve, client):
    answer = client.get(serve("guide.md", b"# Guide\n\nText."))
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "script" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Robots-Tag"] == "noindex"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    again = client.get(answer.request.path, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("name", "body", "kind", "how"),
    [
        ("a.pdf", pdf([[("p", LOREM)]]), "application/pdf", "inline"),
        ("a.txt", b"Text, and more text.", "text/plain", "inline"),
        ("a.md", b"# A\n\nText.", "text/plain", "inline"),
        ("a.html", b"<p>Text <script>alert(1)</script></p>", "application/octet-stream", "attachment"),
    ],
)
def test_the_file_itself_runs_nothing_either(serve, client, name, body, kind, how):
    answer = client.get(f"{serve(name, body)}/file")
    assert answer.data == body
    assert answer.mimetype == kind
    assert answer.headers["Content-Disposition"].startswith(how)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert kind == "application/pdf" or "sandbox" in answer.headers["Content-Security-Policy"]


def test_a_name_cannot_write_headers(serve, client):
    answer = client.get(f"{serve(chr(34) + 'x; Grüße.html', b'<p>Some text.</p>')}/file")
    assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    assert "\n" not in answer.headers["Content-Disposition"]


def test_what_is_not_live_is_not_there(serve, runtime, client):
    url = serve("guide.md", b"# Guide\n\nText.")
    store = ContentStore(runtime.database, "files")
    store.remove_page(url)
    assert client.get(url).status_code == 200
    store.go_live()
    assert client.get(url).status_code == 404
    assert client.get(f"{url}/file").status_code == 404
    assert client.get("/sources/nowhere/0123456789abcdef").status_code == 404


def test_in_a_browser_the_page_has_no_part_in_the_origin_and_keeps_its_look(serve, runtime, client, browser):
    with web_server(client.application) as base, browser.new_context() as context:
        tab = context.new_page()
        tab.goto(base + serve("guide.md", b"# Guide\n\nText.\n"))
        assert tab.evaluate("self.origin") == "null"
        assert tab.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
        with pytest.raises(BrowserError):
            tab.evaluate("document.cookie")
