"""The API, the documentation and the demo below a path of another website's host."""

import json
import re

import pytest

PATH = "/help/docent"
HOST = "https://www.example.com"
LINKS = re.compile(r'\b(?:href|src|action)="(/[^"/][^"]*)"')


@pytest.fixture
def client(make_app):
    return make_app(public_url=f"{HOST}{PATH}").test_client()


def get(client, path):
    return client.get(path, base_url=HOST)


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/widget.html", "/demo/shop", "/demo/shop/script", "/nothing"]
)
def test_pages_link_below_the_path(client, path):
    text = get(client, PATH + path).text
    links = LINKS.findall(text)
    assert links
    assert [link for link in links if not link.startswith(f"{PATH}/")] == []
    for link in links:
        if "/admin/" not in link:
            assert get(client, link.split("#")[0]).status_code in (200, 302), link


@pytest.mark.parametrize("asked", [PATH, f"{PATH}/", "/"])
def test_the_start_leads_to_the_demo(client, asked):
    assert get(client, asked).location == f"{PATH}/demo/shop"


def test_what_machines_read_names_the_path(client):
    assert json.loads(get(client, f"{PATH}/api/openapi.json").text)["servers"] == [{"url": PATH}]
    assert f"<loc>{HOST}{PATH}/docs/</loc>" in get(client, f"{PATH}/docs/sitemap.xml").text
    assert f"{PATH}/api/openapi.json" in get(client, f"{PATH}/api/v1/nothing").json["error"]["message"]
    assert f'rel="canonical" href="{HOST}{PATH}/docs/"' in get(client, f"{PATH}/docs/").text
    assert get(client, f"{PATH}/docs").location == f"{HOST}{PATH}/docs/"


def test_probes_may_ask_without_the_path(client):
    for path in ("/healthz", f"{PATH}/healthz"):
        assert client.get(path, base_url="http://10.0.0.7").status_code == 200


def test_a_visitor_asks_through_the_path(client):
    origin = {"Origin": "https://shop.example"}
    made = client.post(f"{PATH}/api/v1/visitors", json={"site": "shop"}, headers=origin, base_url=HOST)
    assert made.status_code == 200
    headers = origin | {"Authorization": f"Bearer {made.json['token']}"}
    asked = client.post(f"{PATH}/api/v1/chat", json={"message": "How long?"}, headers=headers, base_url=HOST)
    assert asked.json["outcome"] == "answered"


def test_the_host_of_another_website_is_not_forced_to_https(client, make_app):
    """It says so itself, or has addresses that are plain http."""
    assert "Strict-Transport-Security" not in get(client, f"{PATH}/docs/").headers
    alone = make_app(public_url=HOST).test_client()
    assert "Strict-Transport-Security" in get(alone, "/docs/").headers
