import pytest
from tests.admin.samples_people import PAGES
from tests.admin.tabs import opened
from tests.admin.test_look import check

@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("phone", "dark"), ("desk", "light"), ("desk", "dark")])
def test_mine(browser, address, cookie, busy, size, scheme):
    with opened(browser, address, size, scheme, [cookie]) as tab:
        wrong = []
        for name, path in {**PAGES, "health": "/admin/health"}.items():
            tab.goto(path.format(**vars(busy)))
            try:
                check(tab, name, size, scheme)
            except AssertionError as error:
                wrong.append((name, str(error)[:600]))
                import os
                tab.screenshot(path=os.environ["DOCENT_SCREENSHOTS"] + f"/{name}-{size}-{scheme}.png", full_page=True)
        assert not wrong, wrong
