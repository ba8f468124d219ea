import gzip
import os
import re

import brotli
import pytest

from server.api.assets.widget_files import WidgetFiles


@pytest.fixture
def version(client):
    return re.search(r"\bv/([0-9a-f]{12})/", client.get("/widget/embed.js").text)[1]


def test_the_loader_knows_the_version_of_the_modules(client, version):
    response = client.get("/widget/embed.js")
    assert "__VERSION__" not in response.text
    assert response.mimetype == "text/javascript"
    assert 60 <= int(re.search(r"max-age=(\d+)", response.headers["Cache-Control"])[1]) <= 3600
    assert client.get(f"/widget/v/{version}/src/site-chat.js").status_code == 200


def test_modules_are_kept_for_ever_and_may_be_imported_from_any_page(client, version):
    response = client.get(
        f"/widget/v/{version}/src/site-chat.js", headers={"Origin": "https://anywhere.example"}
    )
    assert response.data == WidgetFiles().current().files["src/site-chat.js"].body
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_page_with_the_loader_of_yesterday_gets_modules_but_does_not_keep_them(client):
    response = client.get("/widget/v/000000000000/src/site-chat.js")
    assert response.status_code == 200
    assert "immutable" not in response.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("accepted", "expand"), [("br, gzip", brotli.decompress), ("gzip", gzip.decompress), ("", bytes)]
)
def test_files_travel_in_the_smallest_form_that_is_accepted(client, version, accepted, expand):
    response = client.get(f"/widget/v/{version}/src/site-chat.js", headers={"Accept-Encoding": accepted})
    assert expand(response.data) == WidgetFiles().current().files["src/site-chat.js"].body
    assert "Accept-Encoding" in response.headers["Vary"]
    assert response.headers["ETag"].strip('"').endswith({"br, gzip": "br", "gzip": "gzip"}.get(accepted, ""))


def test_what_the_browser_has_already_is_not_sent_again(client):
    for accepted in ("br", "gzip", ""):
        headers = {"Accept-Encoding": accepted}
        etag = client.get("/widget/embed.js", headers=headers).headers["ETag"]
        response = client.get("/widget/embed.js", headers=headers | {"If-None-Match": etag})
        assert (response.status_code, response.data) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "embed.jsx",
        "v/x/types.d.ts",
        "v/x/jsconfig.json",
        "v/x/../../README.md",
        "v/x/%2e%2e/requirements.txt",
        "v/x/src",
        "v/x/demo/index.html",
    ],
)
def test_nothing_else_is_served(client, path):
    assert client.get(f"/widget/{path}").status_code == 404


def test_a_changed_file_changes_the_version_within_a_second(tmp_path, monkeypatch):
    (tmp_path / "embed.js").write_text("const VERSION = '__VERSION__';")
    (tmp_path / "part.js").write_text("one")
    files = WidgetFiles(tmp_path)
    before = files.current()
    assert files.current() is before
    (tmp_path / "part.js").write_text("two")
    os.utime(tmp_path / "part.js", ns=(1, 1))
    assert files.current() is before
    monkeypatch.setattr("server.api.assets.widget_files.LOOK_S", 0.0)
    after = files.current()
    assert after.version != before.version
    assert after.version.encode() in after.files["embed.js"].body
