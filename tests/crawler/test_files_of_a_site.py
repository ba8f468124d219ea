"""Files that a website links become pages like any other, however the server calls them."""

from contextlib import closing
from urllib.parse import urlsplit

import pytest

from crawler.crawl import crawl
from crawler.options import CrawlOptions
from crawler.report import UrlState
from tests.crawler.files import LOREM, hyperlink, locked_pdf, pdf, word
from tests.websites import Website, serve


def guide(document):
    document.add_heading("Warranty", 1)
    hyperlink(document.add_paragraph("The warranty lasts five years. "), "Details", "/deep/terms.md")


FILES = {
    "/manual.pdf": ("application/pdf", pdf([[("h1", "Lamp manual"), ("p", LOREM)], [("p", "Second page.")]])),
    "/get.pdf": ("application/octet-stream", pdf([[("h1", "Price list"), ("p", "The Glow Mini costs 19.90 EUR.")]])),
    "/warranty.docx": ("application/octet-stream", word(guide)),
    "/deep/terms.md": ("text/plain; charset=utf-8", "# Terms\n\nGrüße. See [more](notes.txt).\n".encode()),
    "/deep/notes.txt": ("text/plain", b"Notes\n\nEverything else that one should know.\n"),
    "/locked.pdf": ("application/pdf", locked_pdf(pdf([[("p", LOREM)]]), "secret")),
    "/broken.docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK no"),
    "/scan.pdf": ("application/pdf", pdf([[]])),
    "/data.bin": ("application/octet-stream", b"\0\1\2"),
}  # fmt: skip


class Files(Website):
    def answer(self, path):
        if path in FILES:
            return 200, *FILES[path]
        return super().answer(path)


@pytest.fixture
def ends():
    wanted = ("manual.pdf", "get.pdf", "warranty.docx", "locked.pdf", "broken.docx", "scan.pdf", "data.bin")
    links = "".join(f"<li><a href='/{name}'>{name}</a></li>" for name in wanted)
    with serve(Files("Shop", {"/": ("Downloads", f"<p>All our files.</p><ul>{links}</ul>")})) as site:
        options = CrawlOptions(start_urls=(f"{site.url}/",), allow_private=True, concurrency=2)
        with closing(crawl(options)) as outcomes:
            return {urlsplit(outcome.url).path: outcome for outcome in outcomes}


def test_all_four_kinds_become_pages_and_their_links_are_followed(ends):
    titles = {path: end.page.title for path, end in ends.items() if end.page is not None}
    assert titles == {
        "/": "Downloads",
        "/manual.pdf": "Lamp manual",
        "/get.pdf": "Price list",
        "/warranty.docx": "Warranty",
        "/deep/terms.md": "Terms",
        "/deep/notes.txt": "Notes",
    }
    assert {block.anchor for block in ends["/manual.pdf"].page.blocks} == {"page=1", "page=2"}


def test_what_cannot_be_read_says_why(ends):
    told = {path: (end.state, end.reason) for path, end in ends.items() if end.page is None}
    assert told["/locked.pdf"] == (UrlState.ERROR, "it is protected by a password")
    assert told["/broken.docx"][0] is UrlState.ERROR
    assert "damaged or no DOCX file" in told["/broken.docx"][1]
    assert told["/scan.pdf"][0] is UrlState.EMPTY
    assert told["/data.bin"][0] is UrlState.UNSUPPORTED
