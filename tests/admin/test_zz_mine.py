import pytest
from tests.admin import samples_content
from tests.admin.tabs import opened
from tests.admin.test_look import check
PAGES={**samples_content.PAGES,"content":"/admin/sites/lantern/pages","crawl":"/admin/sites/lantern/crawls/1","crawl_running":"/admin/sites/atlas/crawls/4"}
@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("desk", "dark"), ("desk","light"),("phone","dark")])
def test_mine(browser, address, cookie, busy, size, scheme):
    bad=[]
    with opened(browser, address, size, scheme, [cookie]) as tab:
        for name, path in PAGES.items():
            r=tab.goto(path)
            try:
                assert r.status==200,(name,r.status)
                check(tab, name, size, scheme)
            except AssertionError as e:
                bad.append((name,str(e)[:600]))
    assert not bad, "\n".join(map(str,bad))
