"""The demo pages, the documentation and the widget on them, as a real browser shows them."""

from tests.axe import findings
from tests.servers import web_server

PAGES = ["/demo/shop", "/demo/shop/inline", "/demo/shop/full", "/demo/shop/modal", "/demo/shop/look"]
PAGES += ["/demo/shop/script", "/docs/accessibility.html"]
RULES = {"light": [], "dark": ["color-contrast"]}
"""The other rules do not depend on colours."""


def test_axe_finds_nothing_on_the_demo_and_the_docs(browser, app):
    """One load of each page; then the window changes its size and the system its colours."""
    found = []
    with web_server(app) as address:
        tab = browser.new_page(viewport={"width": 390, "height": 900})
        for path in PAGES:
            tab.goto(address + path)
            tab.wait_for_load_state("networkidle")
            for width in (390, 1280):
                tab.set_viewport_size({"width": width, "height": 900})
                for scheme, rules in RULES.items():
                    tab.emulate_media(color_scheme=scheme)
                    found += [f"{path} {width} {scheme}: {one}" for one in findings(tab, rules)]
                    if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
                        found.append(f"{path} {width} {scheme} scrolls sideways")
        tab.close()
    assert found == []
