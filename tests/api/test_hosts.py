"""The server answers under its own hosts only, and tells browsers to come by https where it serves https."""

import re

import pytest

from server.api.routes import ROUTES

HERE = ["localhost", "localhost:8000", "127.0.0.1:9000", "[::1]:8000"]
FOREIGN = [
    "evil.example",
    "chat.example.evil.example",
    "evil.example:8000",
    "192.0.2.7",
    "localhost.evil.example",
]


def status(client, host, path="/api/openapi.json"):
    return client.get(path, headers={"Host": host}).status_code


@pytest.mark.parametrize(
    ("settings", "allowed", "refused"),
    [
        ({}, HERE, FOREIGN),
        ({"public_url": "https://chat.example"}, [*HERE, "chat.example", "CHAT.example:443"], FOREIGN),
        ({"host": "0.0.0.0"}, [*HERE, "192.0.2.7:8000", "[2001:db8::7]"], ["evil.example"]),
        ({"host": "10.0.0.7"}, [*HERE, "10.0.0.7:8000"], FOREIGN),
        ({"allowed_hosts": "a.example, .b.example"}, [*HERE, "a.example", "x.b.example"], [*FOREIGN, "xb.example"]),
        ({"allowed_hosts": "*"}, [*HERE, "evil.example"], []),
    ],
)  # fmt: skip
def test_a_foreign_host_gets_400_and_the_own_hosts_an_answer(make_app, settings, allowed, refused):
    client = make_app(**settings).test_client()
    assert {host: status(client, host) for host in allowed} == dict.fromkeys(allowed, 200)
    assert {host: status(client, host) for host in refused} == dict.fromkeys(refused, 400)


def test_a_foreign_host_with_its_own_origin_gets_no_token(client):
    evil = {"Host": "evil.example", "Origin": "http://evil.example"}
    answer = client.post("/api/v1/visitors", json={"site": "shop"}, headers=evil)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "host_not_allowed")
    assert "ALLOWED_HOSTS" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/", "/docs/", "/admin/login", "/widget/embed.js", "/demo/shop", "/admin/static/x"]
)
def test_no_address_answers_a_foreign_host(client, path):
    assert status(client, "evil.example", path) == 400


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_ask_by_any_address(client, path):
    assert status(client, "10.1.2.3:8000", path) in (200, 503)


def test_where_https_serves_browsers_come_by_https(make_app):
    secure = make_app(public_url="https://chat.example").test_client()
    for path in ("/docs/", "/healthz", "/admin/login", "/nothing"):
        assert secure.get(path).headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "Strict-Transport-Security" not in make_app(port=8001).test_client().get("/docs/").headers


def test_uploads_are_served_at_their_own_address_and_nothing_else_is(make_app):
    app = make_app(public_url="https://chat.example", uploads_url="https://files.example")
    client = app.test_client()
    moved = client.get("/sources/shop/x", headers={"Host": "chat.example"})
    assert (moved.status_code, moved.location) == (302, "https://files.example/sources/shop/x")
    assert status(client, "files.example", "/docs/docs.css") == 200
    assert status(client, "files.example", "/healthz") == 200
    for path in (
        "/",
        "/admin/login",
        "/docs/",
        "/api/openapi.json",
        "/widget/embed.js",
        "/demo/shop",
        "/sources/no/x",
    ):
        assert status(client, "files.example", path) == 404, path
    assert status(client, "evil.example", "/sources/shop/x") == 400


OPEN = {
    ("POST", "/api/v1/visitors"): "gives the token, bound to the calling origin",
    ("GET", "/api/v1/sites/<site_id>/widget"): "the look, for origins of the site",
    ("GET", "/api/openapi.json"): "the description",
    ("GET", "/healthz"): "a probe",
    ("GET", "/readyz"): "a probe",
}


def test_every_other_address_of_the_api_needs_a_token_or_a_key(client):
    seen = 0
    for route in ROUTES:
        if (route.method, route.path) in OPEN:
            continue
        seen += 1
        path = re.sub(r"<[^>]+>", "1", route.path)
        answer = client.open(path, method=route.method, json={} if route.method != "GET" else None)
        assert answer.status_code == 401, (route.method, route.path, answer.status_code)
    assert seen > 10
