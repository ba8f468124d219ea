import re
from dataclasses import replace

import pytest

from server.api.assets.widget_files import WidgetFiles
from server.api.docs.demo import PAGES
from tests.api.conftest import OTHER, SHOP


def test_the_start_page_leads_to_the_first_site(client, runtime):
    response = client.get("/")
    assert response.status_code == 302
    assert response.headers["Location"] == f"/demo/{runtime.stores.sites.all()[0].id}"


def test_without_a_site_the_start_page_says_how_to_add_one(client, runtime):
    for site in (SHOP, OTHER):
        runtime.stores.sites.delete(site.id)
    response = client.get("/")
    assert response.status_code == 200
    assert "python -m server crawl" in response.text
    assert "/admin/" in response.text


def test_the_demo_page_carries_the_widget_of_its_site(client):
    page = client.get("/demo/shop").text
    assert 'src="/widget/embed.js"' in page
    assert 'data-site="shop"' in page
    assert "Lantern" in page
    assert "__" not in page.replace("__proto__", "")


def test_a_title_is_text_whatever_it_holds(client, runtime):
    runtime.stores.sites.update(replace(SHOP, title='<script>alert(1)</script>" onload="x'))
    page = client.get("/demo/shop").text
    assert "<script>alert" not in page
    assert '" onload="x' not in page
    assert "&lt;script&gt;alert(1)" in page


def test_scripts_and_styles_of_a_demo_page_come_from_this_server_only(client):
    response = client.get("/demo/shop")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy
    files = WidgetFiles().current().files
    for name in ("frame", *PAGES):
        source = files[f"demo/{name}.html"].body.decode()
        assert "<style" not in source
        assert " style=" not in source


@pytest.mark.parametrize("name", PAGES)
def test_each_form_has_a_page_that_leads_to_the_others(client, name):
    response = client.get("/demo/shop" if name == "index" else f"/demo/shop/{name}")
    assert response.status_code == 200
    assert 'data-site="shop"' in response.text or '<site-chat site="shop"' in response.text
    assert not re.search(r"__[A-Z_]+__", response.text)
    for address in re.findall(r'(?:href|src)="(/[^"]*)"', response.text):
        assert client.get(address).status_code in (200, 302), address


def test_a_demo_page_that_does_not_exist_names_those_that_do(client):
    response = client.get("/demo/shop/nothing")
    assert response.status_code == 404
    assert "modal" in response.text


def test_a_demo_of_no_site_is_a_404_page(client):
    response = client.get("/demo/nowhere")
    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "nowhere" in response.text
