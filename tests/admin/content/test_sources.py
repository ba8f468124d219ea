"""The dashboard's page of a site's sources."""

import io
import re

import pytest

from server.domain.site import Site
from server.storage.content.source_pages import SourceItem, SourcePages
from tests.crawler.files import archive

PAGE = "/admin/sites/lantern/sources"


def upload(browser, *files):
    return browser.send(
        PAGE,
        {"files": [(io.BytesIO(body), name) for name, body in files]},
        f"{PAGE}/files",
        content_type="multipart/form-data",
    )


def names(runtime):
    return [source.name for source in runtime.stores.sources.all("lantern")]


def error_beside(answer, field):
    return re.search(rf'<p class="error" id="{field}-error">(.*?)</p>', answer.text)[1]


def test_several_files_are_uploaded_at_once_and_read(operator, runtime, site):
    answer = upload(operator, ("a.md", b"# A"), ("b.txt", b"B"))
    assert answer.location == PAGE
    assert names(runtime) == ["a.md", "b.txt"]
    assert runtime.stores.crawls.latest("lantern").state == "waiting"
    assert "2 files are added. Docent is reading it now." in operator.get(PAGE).text


def test_an_archive_is_unpacked(operator, runtime, site):
    files = {"docs/a.md": b"# A", "docs/logo.png": b"x", "__MACOSX/docs/a.md": b"x", "../b.txt": b"B"}
    upload(operator, ("all.zip", archive(files)))
    assert names(runtime) == ["b.txt", "docs/a.md"]


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (
            ("logo.png", b"x"),
            "logo.png is a .png file: only HTML, Markdown, text, PDF and DOCX files are read.",
        ),
        (("a.md", b""), "a.md is empty."),
        (("a.zip", b"PK nothing"), "damaged or no zip archive"),
        (("a.md", b"x" * 20_000), "larger than 10,000 bytes"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_nothing_is_stored(make_runtime, file, says, request):
    runtime = request.getfixturevalue("make_small")
    operator = request.getfixturevalue("operator")
    answer = upload(operator, ("good.md", b"# Good"), file)
    assert answer.status_code == 422
    assert says in error_beside(answer, "files")
    assert names(runtime) == []


@pytest.fixture
def runtime(make_runtime):
    return make_runtime(sources_file_bytes=10_000, sources_upload_bytes=30_000)


@pytest.fixture
def make_small(runtime, site):
    return runtime


def test_no_file_at_all_is_told(operator, site):
    answer = operator.send(PAGE, {}, f"{PAGE}/files", content_type="multipart/form-data")
    assert answer.status_code == 422
    assert "Choose at least one file." in error_beside(answer, "files")


def test_an_upload_over_the_limit_is_refused_with_the_settings_to_change(operator, runtime, site):
    answer = upload(operator, *((f"{n}.md", b"x" * 9_000) for n in range(20)))
    assert answer.status_code == 413
    assert "larger uploads" in answer.text
    assert names(runtime) == []


def test_who_is_not_logged_in_uploads_nothing(client, runtime, site):
    answer = client.http.post(f"{PAGE}/files", data={"files": (io.BytesIO(b"# A"), "a.md")})
    assert "/admin/login" in answer.location
    assert names(runtime) == []


def test_pairs_are_pasted_and_replaced_by_name(operator, runtime, site):
    operator.send(PAGE, {"pairs": "Q: Open on Sunday?\nA: No.", "pairs_name": ""}, f"{PAGE}/pairs")
    operator.send(PAGE, {"pairs": "Q: Open on Sunday?\nA: Yes.", "pairs_name": ""}, f"{PAGE}/pairs")
    (source,) = runtime.stores.sources.all("lantern")
    assert (source.kind, source.name) == ("pairs", "Questions and answers")
    assert runtime.stores.sources.body("lantern", source.digest).endswith(b"A: Yes.")


def test_what_was_pasted_is_kept_when_it_is_wrong(operator, runtime, site):
    answer = operator.send(PAGE, {"pairs": "Q: Open on <Sunday>?", "pairs_name": "x"}, f"{PAGE}/pairs")
    assert answer.status_code == 422
    assert "Line 1: the answer is missing." in error_beside(answer, "pairs")
    assert "Q: Open on &lt;Sunday&gt;?" in answer.text


def test_addresses_are_listed(operator, runtime, site):
    text = "https://example.com/a\r\nexample.com/b\r\n"
    operator.send(PAGE, {"addresses": text, "addresses_name": "Two"}, f"{PAGE}/addresses")
    (source,) = runtime.stores.sources.all("lantern")
    assert (
        runtime.stores.sources.body("lantern", source.digest)
        == b"https://example.com/a\nhttps://example.com/b"
    )
    wrong = operator.send(PAGE, {"addresses": "ftp://x", "addresses_name": ""}, f"{PAGE}/addresses")
    assert "Line 1" in error_beside(wrong, "addresses")


def test_a_source_is_removed_and_the_site_is_read(operator, runtime, site):
    upload(operator, ("a.md", b"# A"))
    (source,) = runtime.stores.sources.all("lantern")
    for _ in range(2):
        answer = operator.send(PAGE, {}, f"{PAGE}/{source.id}/remove")
        assert answer.location == PAGE
    assert names(runtime) == []
    assert "It was removed already." in operator.get(PAGE).text


def test_parts_that_cannot_be_read_stand_first_with_their_reasons(operator, runtime, site):
    upload(operator, ("a.md", b"# A"))
    (source,) = runtime.stores.sources.all("lantern")
    items = [
        SourceItem("/sources/lantern/1", "a.md", "fetched", content_hash="h"),
        SourceItem("/sources/lantern/2", "z.pdf", "error", "it is protected by a password"),
    ]
    SourcePages(runtime.database, "lantern").replace_items(source.id, items)
    runtime.stores.sources.was_read(source, "", {})
    text = operator.get(f"{PAGE}/{source.id}").text
    assert (
        text.index("z.pdf")
        < text.index("It is protected by a password.")
        < text.index('href="http://127.0.0.1')
    )
    assert "1 not read" in operator.get(PAGE).text
    assert operator.get(f"{PAGE}/unknown").status_code == 404


def test_a_site_without_a_website_is_added_by_its_name(operator, runtime):
    answer = operator.send("/admin/new-site", {"site_name": "Handbücher & FAQ"}, "/admin/new-site/of-sources")
    assert answer.location == "/admin/sites/handb-cher-faq/sources"
    assert runtime.stores.sites.get("handb-cher-faq") == Site("handb-cher-faq", "Handbücher & FAQ", "")
    for path in (answer.location, "/admin/sites/handb-cher-faq", "/admin/sites", "/admin/"):
        assert operator.get(path).status_code == 200
    empty = operator.send("/admin/new-site", {"site_name": " "}, "/admin/new-site/of-sources")
    assert "Write what you call it." in error_beside(empty, "site_name")
