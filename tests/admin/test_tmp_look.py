from dataclasses import replace
import pytest
from tests import axe
from tests.admin import test_look
from tests.admin.tabs import opened
from tests.admin.test_seeded import _show, _unreached

NAMES = [
    "overview",
    "sites",
    "site_new",
    "site",
    "site_failed",
    "site_address",
    "scope",
    "site_settings",
    "site_removal",
    "embed_check",
    "dry_run",
    "crawl",
    "crawls",
    "site_running",
    "widget",
    "start_crawl",
    "start_crawl_running",
    "start_crawl_failed",
    "start_questions",
    "start_look",
    "start_messages",
    "start_model",
]
COUNT = """() => [...document.querySelectorAll("main button, main a.button, main input:not([type=hidden]), main select, main textarea")].filter((one) => one.checkVisibility() && !one.closest("table, .counts, [role=search], details:not([open]) > :not(summary)")).length"""


def test_all(browser, address, cookie, busy, runtime):
    for id in ("lantern", "atlas", "docs"):
        runtime.stores.sites.change(id, lambda now: replace(now, options={**now.options, "first_steps": []}))
    wrong = []
    with opened(
        browser, address, "phone", "light", [cookie], expected=("status of", "Failed to load", "favicon")
    ) as tab:
        for name in NAMES:
            path = test_look.PAGES[name].format(**vars(busy))
            status = tab.goto(path).status
            if status != 200:
                wrong.append((name, status))
                continue
            wrong += [(name, found) for found in _unreached(tab)]
            print(name, "controls", tab.evaluate(COUNT), flush=True)
            for size, scheme in (("phone", "light"), ("desk", "dark")):
                _show(tab, size, scheme)
                try:
                    test_look.check_layout(tab, name, size, scheme)
                except AssertionError as error:
                    wrong.append((name, size, scheme, str(error)[:400]))
            axe.thin_out(tab)
            for (size, scheme), rules in test_look.RULES.items():
                _show(tab, size, scheme)
                wrong += [(name, size, scheme, found) for found in axe.findings(tab, rules)]
    for w in wrong:
        print(w)
