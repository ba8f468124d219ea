"""The dashboard below a path of another website's host: no address on any page leaves the path."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from admin.people.sign_on import callback_address
from server.app import BelowPath
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.people.test_recent import age
from tests.admin.routes import VALUES, rules

PATH = "/help/docent"
ADDRESS = f"https://www.example.com{PATH}"
LINKS = re.compile(r'\b(?:href|src|action|formaction|poster|data-[\w-]+|value)="(/[^"/][^"]*)"')
ANYWHERE = ("/sources/", "/docs/")
"""Paths of pages, as they are stored and as patterns of scopes name them."""


@pytest.fixture
def below(app, monkeypatch):
    monkeypatch.setattr(app, "wsgi_app", BelowPath(app.wsgi_app, PATH))
    return app


def test_every_address_on_every_page_stays_below_the_path(below, operator, busy):
    values = {**VALUES, "crawl_id": busy.c9, "earlier_id": busy.c2}
    outside, seen = set(), 0
    for endpoint, path, _ in rules(below, "GET", values):
        answer = operator.get(path)
        if answer.mimetype == "text/html":
            links = [link for link in LINKS.findall(answer.text) if not link.startswith(ANYWHERE)]
            seen += len(links)
            outside |= {(endpoint, link) for link in links if not link.startswith(f"{PATH}/")}
        elif answer.location and not answer.location.startswith((f"{PATH}/", "http")):
            outside.add((endpoint, answer.location))
    assert outside == set()
    assert seen > 1000


def test_a_proxy_may_pass_the_path_on_or_take_it_away(below, client):
    for asked in ("/admin/", f"{PATH}/admin/"):
        answer = client.get(asked)
        assert answer.location == f"{PATH}/admin/login?next={PATH}/admin/"
    assert client.get(f"{PATH}x/admin/").status_code == 404


def test_people_come_back_to_the_page_that_they_wanted(below, runtime, operator_id):
    browser = Browser(below)
    wanted = f"{PATH}/admin/sites"
    fields = {"email": EMAIL, "password": PASSWORD, "next": wanted}
    sent = browser.send(f"/admin/login?next={wanted}", fields)
    assert sent.location == wanted
    elsewhere = log_in(Browser(below))
    assert elsewhere.location == f"{PATH}/admin/"


@pytest.fixture
def own_app(make_runtime, password_hash):
    """An application of its own, because its cookie is set up once."""
    runtime = make_runtime(public_url=ADDRESS)
    runtime.people.operators.create(EMAIL, password_hash)
    app = make_app(runtime)
    app.wsgi_app = BelowPath(app.wsgi_app, PATH)
    return app


def test_the_cookie_is_for_the_path_alone(own_app):
    said = own_app.test_client().get(f"{PATH}/admin/login", base_url="https://www.example.com")
    assert f"Path={PATH}/admin" in said.headers["Set-Cookie"]
    assert said.headers["Set-Cookie"].startswith("__Secure-")


def test_links_to_people_and_for_a_provider_name_the_path_once(own_app):
    with own_app.test_request_context(f"{PATH}/admin/", environ_overrides={"SCRIPT_NAME": PATH}):
        callback = callback_address(own_app.extensions["docent"].settings)
    assert callback == f"{ADDRESS}/admin/login/sso/callback"
    owner = Browser(own_app, "https://www.example.com")
    assert log_in_below(owner).location == f"{PATH}/admin/"
    fields = {"email": "cleo@example.com", "role": "viewer"}
    people = f"{PATH}/admin/settings/people"
    assert f"{ADDRESS}/admin/welcome#token=" in owner.send(people, fields, f"{people}/invite").text


def test_whoever_confirms_at_the_provider_comes_back_to_the_page(make_runtime, password_hash):
    runtime = make_runtime(
        public_url=ADDRESS, oidc_issuer="https://login.example.com", oidc_client_id="docent"
    )
    runtime.people.operators.create(EMAIL, password_hash)
    app = make_app(runtime)
    app.wsgi_app = BelowPath(app.wsgi_app, PATH)
    owner = Browser(app, "https://www.example.com")
    log_in_below(owner)
    age(runtime)
    guarded = f"{PATH}/admin/account/second-factor"
    link = re.search(r'href="([^"]*/login/sso[?][^"]*)"', owner.get(guarded).text)[1]
    assert parse_qs(urlsplit(unescape(link)).query)["next"] == [guarded]


def log_in_below(browser):
    return browser.send(f"{PATH}/admin/login", {"email": EMAIL, "password": PASSWORD})
