"""Closed by default: every address needs an operator, every form a token."""

import re

import pytest

from tests.admin import routes
from tests.admin.conftest import EMAIL, PASSWORD
from tests.admin.routes import PUBLIC
from tests.admin.samples import make_crawl


def rules(app, method):
    """(endpoint, address) of every rule of the dashboard that takes the method."""
    return [(endpoint, path) for endpoint, path, _ in routes.rules(app, method)]


def test_every_address_but_setup_login_and_files_leads_to_the_login(app, client, site):
    closed = [(endpoint, path) for endpoint, path in rules(app, "GET") if endpoint not in PUBLIC]
    assert len(closed) >= 10
    for endpoint, path in closed:
        answer = client.get(path)
        assert (answer.status_code, answer.location.split("?")[0]) == (302, "/admin/login"), endpoint
        assert "Lantern" not in answer.text, endpoint


def test_every_form_but_setup_and_login_leads_to_the_login(app, client, site, runtime):
    closed = [(endpoint, path) for endpoint, path in rules(app, "POST") if endpoint not in PUBLIC]
    assert len(closed) >= 3
    for endpoint, path in closed:
        answer = client.http.post(path, data={"address": "https://example.com/"})
        leads = (answer.status_code, answer.location.split("?")[0])
        assert leads == (302, "/admin/login"), endpoint
    assert [known.id for known in runtime.stores.sites.all()] == ["lantern"]
    assert runtime.stores.crawls.latest("lantern") is None


def test_every_form_needs_its_token(app, operator, site, runtime):
    for endpoint, path in rules(app, "POST"):
        for fields in ({}, {"csrf_token": "forged"}):
            answer = operator.http.post(path, data={**fields, "email": EMAIL, "password": PASSWORD})
            assert answer.status_code == 400, endpoint
            assert "not sent" in answer.text, endpoint
    assert runtime.stores.crawls.latest("lantern") is None
    assert operator.get("/admin/").status_code == 200, "still logged in: a forged logout did nothing"


def test_a_token_of_another_browser_is_refused(app, operator, client, site):
    other = app.test_client()
    foreign = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', other.get("/admin/login").text)[1]
    answer = operator.http.post("/admin/sites/lantern/crawls", data={"csrf_token": foreign})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://[localhost"]
)
def test_a_form_of_another_origin_is_refused_even_with_a_token(operator, site, runtime, origin):
    answer = operator.send(
        "/admin/sites/lantern", {}, "/admin/sites/lantern/crawls", headers={"Origin": origin}
    )
    assert answer.status_code == 400
    assert runtime.stores.crawls.latest("lantern") is None


@pytest.mark.parametrize("origin", ["http://localhost", "https://localhost", "http://127.0.0.1:8000"])
def test_forms_of_the_own_and_of_the_public_address_are_taken(operator, site, runtime, origin):
    answer = operator.send(
        "/admin/sites/lantern", {}, "/admin/sites/lantern/crawls", headers={"Origin": origin}
    )
    assert answer.status_code == 302
    assert runtime.stores.crawls.latest("lantern").state == "waiting"


def test_a_script_is_told_to_log_in_again(client, site):
    answer = client.get("/admin/sites/lantern/progress", headers={"Accept": "application/json"})
    assert answer.status_code == 401
    assert answer.json["error"]["code"] == "login_needed"


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login", "/admin/nothing", "/admin/sites/none", "/admin/static/style.css"]
)
def test_every_response_forbids_foreign_and_inline_code(operator, path):
    headers = operator.get(path).headers
    assert headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_pages_hold_no_inline_script_style_or_handler(operator, busy, runtime):
    make_crawl(runtime, state="running")
    for path in (
        "/admin/",
        "/admin/sites/lantern",
        "/admin/health",
        f"/admin/conversations/{busy.conversation_id}",
    ):
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", operator.get(path).text), path


def test_pages_are_kept_by_no_cache_and_versioned_files_for_good(operator):
    assert operator.get("/admin/").headers["Cache-Control"] == "no-store"
    style = re.search(r'href="([^"]+style\.css\?v=\w+)"', operator.get("/admin/").text)[1]
    assert "immutable" in operator.get(style).headers["Cache-Control"]
    assert "immutable" not in operator.get("/admin/static/style.css").headers["Cache-Control"]


def test_an_unknown_address_gets_a_page_with_a_way_back(operator):
    for path in (
        "/admin/nothing",
        "/admin/sites/none",
        "/admin/conversations/none",
        "/admin/sites/none/crawls/1",
    ):
        answer = operator.get(path)
        assert answer.status_code == 404
        assert 'href="/admin/"' in answer.text


def test_a_database_that_does_not_answer_is_said_so(operator, runtime):
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("DROP TABLE operators")
    answer = operator.get("/admin/")
    assert answer.status_code == 503
    assert "database does not answer" in answer.text


def test_a_page_of_the_table_is_in_the_menu_once(operator):
    menu = re.search(r'<ul class="menu">(.*?)</ul>', operator.get("/admin/new-site").text, re.S)[1]
    assert re.findall(r">(\w+)</a>", menu) == [
        "Overview",
        "Conversations",
        "Gaps",
        "Sites",
        "Playground",
        "Quality",
        "Health",
        "Settings",
    ]
    assert re.findall(r'aria-current="true">(\w+)<', menu) == ["Sites"]
