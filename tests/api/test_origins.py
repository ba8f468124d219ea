from dataclasses import replace

import pytest

from tests.api.conftest import SHOP, SHOP_ORIGIN, new_visitor

EVIL = "https://evil.example"


@pytest.mark.parametrize("origin", [SHOP_ORIGIN, "https://blog.example"])
def test_listed_origins_may_ask(client, origin):
    visitor = new_visitor(client, origin)
    response = visitor.ask()
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == origin
    assert "Origin" in response.headers["Vary"]


@pytest.mark.parametrize(
    "origin",
    [EVIL, "http://shop.example", "https://shop.example.evil.example", "null", "https://other.example"],
)
def test_other_origins_are_refused_with_what_to_add_where(client, origin):
    response = client.post("/api/v1/visitors", json={"site": "shop"}, headers={"Origin": origin})
    error = response.json["error"]
    assert (response.status_code, error["code"]) == (403, "origin_not_allowed")
    assert origin in error["message"]
    assert "dashboard" in error["message"]


def test_a_refused_page_can_read_why(client):
    response = client.get("/api/v1/sites/shop/widget", headers={"Origin": EVIL})
    assert response.status_code == 403
    assert response.headers["Access-Control-Allow-Origin"] == EVIL


@pytest.mark.parametrize(
    ("base", "origin"),
    [("http://localhost", "http://localhost"), ("https://chat.example:8443", "https://chat.example:8443")],
)
def test_pages_of_the_server_itself_may_ask(make_app, base, origin):
    client = make_app(allowed_hosts="chat.example").test_client()
    response = client.post(
        "/api/v1/visitors", json={"site": "shop"}, headers={"Origin": origin}, base_url=base
    )
    assert response.status_code == 200


def test_the_public_address_may_ask_however_the_request_arrived(make_app):
    client = make_app(public_url="https://chat.example", allowed_hosts="10.0.0.7").test_client()
    response = client.post(
        "/api/v1/visitors",
        json={"site": "shop"},
        headers={"Origin": "https://chat.example"},
        base_url="http://10.0.0.7:8000",
    )
    assert response.status_code == 200


def test_a_token_does_not_work_on_another_page(client):
    stolen = new_visitor(client, SHOP_ORIGIN)
    stolen.origin = "https://blog.example"
    response = stolen.ask()
    assert (response.status_code, response.json["error"]["code"]) == (401, "token_invalid")


def test_an_origin_taken_off_the_list_may_no_longer_ask(client, runtime):
    visitor = new_visitor(client, "https://blog.example")
    runtime.stores.sites.update(replace(SHOP, origins=()))
    assert visitor.ask().json["error"]["code"] == "origin_not_allowed"


def test_upper_case_and_default_ports_in_the_list_do_not_matter(client, runtime):
    runtime.stores.sites.update(replace(SHOP, origins=("HTTPS://News.Example:443",)))
    assert new_visitor(client, "https://news.example").ask().status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/v1/chat", "/api/v1/visitors", "/api/v1/visitors/me", "/api/v1/sites/shop/widget"]
)
def test_a_browser_that_asks_first_is_told_what_it_may_send(client, path):
    asked = {"Origin": SHOP_ORIGIN, "Access-Control-Request-Method": "POST"}
    response = client.options(path, headers=asked)
    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN
    assert "Authorization" in response.headers["Access-Control-Allow-Headers"]
    assert "Last-Event-ID" in response.headers["Access-Control-Allow-Headers"]
    assert "DELETE" in response.headers["Access-Control-Allow-Methods"]
    assert int(response.headers["Access-Control-Max-Age"]) > 0
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_a_browser_on_an_unknown_page_is_told_nothing(client):
    response = client.options(
        "/api/v1/chat", headers={"Origin": EVIL, "Access-Control-Request-Method": "POST"}
    )
    assert not [name for name, _ in response.headers if name.startswith("Access-Control-")]


def test_errors_can_be_read_by_the_page_that_caused_them(client):
    response = client.post("/api/v1/chat", json={"message": "?"}, headers={"Origin": SHOP_ORIGIN})
    assert response.status_code == 401
    assert response.headers["Access-Control-Allow-Origin"] == SHOP_ORIGIN
    assert "Retry-After" in response.headers["Access-Control-Expose-Headers"]
