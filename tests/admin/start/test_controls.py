"""The pages of the first steps, of sites and of crawls show at most seven controls before something is unfolded."""

from tests.admin.tabs import opened
from tests.admin.test_look import PAGES

MOST = 7
NAMES = [
    name
    for name in PAGES
    if name.startswith(("start_", "site", "crawl")) or name in ("scope", "embed_check", "dry_run", "widget")
]
# Lists, searches and links in sentences aside.
CONTROLS = """() => [...document.querySelectorAll("main :is(button, a.button, input:not([type=hidden]), select, textarea)")]
    .filter((one) => one.checkVisibility() && !one.closest("table, .counts, [role=search]"))
    .map((one) => one.id || one.textContent.trim())"""


def test_no_page_shows_more_than_seven_controls_at_once(browser, address, cookie, busy):
    with opened(browser, address, "desk", "light", [cookie], ("status of", "Failed to load")) as tab:
        many = {}
        for name in NAMES:
            tab.goto(PAGES[name].format(**vars(busy)))
            if len(shown := tab.evaluate(CONTROLS)) > MOST:
                many[name] = shown
    assert many == {}
