"""Docent below a path of a website's host, in a real browser behind the real nginx and the real Caddy."""

from urllib.parse import urlsplit

import pytest

from tests.deploy.conftest import EMAIL, NAME, PASSWORD, caddy, nginx, serving
from tests.servers import free_port

PATH = "/help/docent"


@pytest.fixture(scope="module", params=[nginx, caddy], ids=lambda each: each.__name__)
def address(request, certificate, tmp_path_factory):
    """Where Docent is, from outside."""
    folder, ports = tmp_path_factory.mktemp(request.param.__name__), (free_port(), free_port())
    public = f"https://{NAME}:{ports[1]}{PATH}"
    with serving(folder, public) as docent, request.param(docent, certificate, folder, PATH, ports):
        yield public


@pytest.fixture
def tab(address, launch_browser):
    """A tab. Nothing that it loads may fail or be outside of the path."""
    asked, wrong = [], []

    def note(response):
        asked.append(response.url)
        is_ours = urlsplit(response.url).path.startswith(f"{PATH}/")
        if response.url.startswith("https:") and (response.status >= 400 or not is_ours):
            wrong.append((response.status, response.url))

    chromium = launch_browser(f"--host-resolver-rules=MAP {NAME} 127.0.0.1", "--ignore-certificate-errors")
    context = chromium.new_context(ignore_https_errors=True)
    context.set_default_timeout(15_000)
    opened = context.new_page()
    opened.on("response", note)
    opened.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else 0)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    yield opened
    chromium.close()
    assert wrong == []
    assert asked


def test_a_visitor_asks_on_the_demo_page(tab, address):
    tab.goto(f"{address}/")
    tab.wait_for_url(f"{address}/demo/shop")
    tab.locator("textarea[part=input]").fill("How long is delivery?")
    tab.keyboard.press("Enter")
    tab.get_by_text("word9").first.wait_for()
    others = tab.locator("nav a").evaluate_all("links => links.map((link) => link.href)")
    assert len(others) == 6
    for other in others:
        assert other.startswith(f"{address}/demo/shop")
        tab.goto(other)


def test_the_documentation_is_read(tab, address):
    tab.goto(f"{address}/docs/")
    tab.locator("a[rel=next]").click()
    tab.wait_for_url(f"{address}/docs/*.html")  # until it has loaded, its style too
    width = tab.evaluate("getComputedStyle(document.querySelector('.columns')).display")
    assert width == "grid", "its style is loaded"
    tab.get_by_role("link", name="Demo", exact=True).click()
    tab.wait_for_url(f"{address}/demo/shop")


def test_an_owner_works_on_the_dashboard(tab, address):
    tab.goto(f"{address}/admin/sites")
    assert tab.url == f"{address}/admin/login?next={PATH}/admin/sites"
    tab.fill("[name=email]", EMAIL)
    tab.fill("[name=password]", PASSWORD)
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{address}/admin/sites")
    (cookie,) = tab.context.cookies()
    assert (cookie["path"], cookie["name"].startswith("__Secure-")) == (f"{PATH}/admin", True)
    tab.goto(f"{address}/admin/sites/shop")
    assert f'src="{address}/widget/embed.js"' in tab.locator("#tag").inner_text()
    tab.get_by_text("Allowed websites", exact=True).click()
    tab.locator("[name=origins]").fill("https://blog.example\nhttps://more.example")
    tab.get_by_role("button", name="Save websites").click()
    tab.wait_for_url(f"{address}/admin/sites/shop")
    tab.get_by_role("link", name="Widget", exact=True).click()
    tab.frame_locator("iframe").locator("site-chat").first.wait_for(state="attached")
    for entry in tab.locator("nav a").evaluate_all("links => links.map((link) => link.href)"):
        assert entry.startswith(f"{address}/"), entry
        tab.goto(entry)
    tab.get_by_role("button", name="Account", exact=True).click()
    tab.get_by_role("button", name="Log out").first.click()
    tab.wait_for_url(f"{address}/admin/login")
