
import pytest
from tests.admin import samples_gaps
from tests.admin.tabs import opened
from tests.admin.test_look import check
P = {**samples_gaps.PAGES, "curated": "/admin/sites/lantern/answers?try=Is+the+shop+open+at+Christmas"}
@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("phone", "dark"), ("desk", "light"), ("desk", "dark")])
def test_mine(browser, address, cookie, services, site, size, scheme):
    samples_gaps.fill(services)
    with opened(browser, address, size, scheme, [cookie]) as tab:
        for name, path in P.items():
            tab.goto(path)
            check(tab, name, size, scheme)
