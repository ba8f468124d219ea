"""The demo pages, the documentation and the widget on them, as a real browser shows them."""

import pytest

from tests.axe import findings
from tests.servers import web_server

PAGES = ["/demo/shop", "/demo/shop/inline", "/demo/shop/full", "/demo/shop/modal", "/demo/shop/look"]
PAGES += ["/demo/shop/script", "/docs/accessibility.html"]


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")]
)
def test_axe_finds_nothing_on_the_demo_and_the_docs(browser, app, width, scheme):
    found = []
    with web_server(app) as address:
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for path in PAGES:
            tab.goto(address + path)
            tab.wait_for_load_state("networkidle")
            found += [f"{path}: {one}" for one in findings(tab)]
            if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{path} scrolls sideways")
        tab.close()
    assert found == []
