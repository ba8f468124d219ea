"""The dashboard on half a year: 100,000 questions, in a real browser, on a phone and a desk, light and dark."""

import shutil

import pytest

from admin.texts import LANGUAGES
from tests import axe
from tests.admin import seeding, test_look
from tests.admin.overview.test_overview import assert_lists_agree, counted, figures_of
from tests.admin.tabs import SIZES, opened

SEEDED = {
    "seeded_overview": "/admin/?days=90",
    "seeded_overview_today": "/admin/?days=1&site=harbour",
    "seeded_conversations": "/admin/conversations?search=anchor&thumbs=down",
    "seeded_messages": "/admin/messages?site=manual",
    "seeded_site": "/admin/sites/harbour",
    "seeded_content": "/admin/sites/harbour/pages?sort=times",
    "seeded_content_page": "/admin/sites/harbour/content/page?url=https://harbour.example/anchor-delivery-0",
    "seeded_crawls": "/admin/sites/harbour/crawls",
    "seeded_health": "/admin/health?days=30",
}

# Of another language only words differ: how long they are, that they are there, and what language they are said to be.
RULES_OF_WORDS = ["button-name", "document-title", "empty-heading", "empty-table-header", "html-has-lang", "html-lang-valid",
    "image-alt", "input-button-name", "label", "label-title-only", "link-name", "page-has-heading-one", "select-name", "summary-name",
    "svg-img-alt", "valid-lang"]  # fmt: skip


@pytest.fixture(scope="session")
def seeded_database(empty_database, tmp_path_factory):
    """Made once; each test works on a copy."""
    path = tmp_path_factory.mktemp("seeded") / "seeded.sqlite3"
    shutil.copy(empty_database, path)
    return seeding.seeded_file(path)


@pytest.fixture
def make_runtime(make_runtime, seeded_database, tmp_path):
    """The tests' services, on the seeded database."""

    def make(**settings):
        shutil.copy(seeded_database, tmp_path / "seeded.sqlite3")
        return make_runtime(database_url=f"sqlite:///{tmp_path / 'seeded.sqlite3'}", **settings)

    return make


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_readable_and_reached_by_keyboard(browser, address, cookie, busy, language):
    """One load of each page; then the window changes its size and the system its colours, as seldom as can be: each
    lays the page out again."""
    sizes, wrong = ("phone", "desk") if language == "en" else ("desk", "phone"), []
    with opened(browser, address, "phone", "light", [cookie], language=language) as tab:
        axe.preload(tab)
        for name, path in {**test_look.PAGES, **SEEDED}.items():
            status = tab.goto(path.format(**vars(busy))).status
            wrong += [(name, status)] if status != (404 if name == "not_found" else 200) else []
            if language == "en":
                wrong += [(name, found) for found in _unreached(tab)]
            for size in sizes:
                _show(tab, size, "light")
                try:
                    test_look.check_layout(tab, name, size, "light")
                except AssertionError as error:
                    wrong.append((name, size, str(error)[:500]))
            axe.thin_out(tab)
            for (size, scheme), rules in test_look.RULES.items():
                if language == "en":
                    _show(tab, size, scheme)
                    wrong += [(name, size, scheme, found) for found in axe.findings(tab, rules)]
            if language != "en":
                wrong += [(name, found) for found in axe.findings(tab, RULES_OF_WORDS)]
    assert wrong == []


def _show(tab, size, scheme):
    width, height = SIZES[size]
    if tab.viewport_size != {"width": width, "height": height}:
        tab.set_viewport_size({"width": width, "height": height})
    tab.emulate_media(color_scheme=scheme)


def _unreached(tab):
    """What the first Tab does not reach, and what a keyboard cannot focus or does not show as focused."""
    tab.keyboard.press("Tab")
    first = tab.evaluate("document.activeElement.className")
    return ([] if first == "skip" or tab.evaluate(AUTOFOCUSED) else [f"first: {first}"]) + tab.evaluate(
        UNREACHED
    )


AUTOFOCUSED = "!!document.querySelector('[autofocus]')"
UNREACHED = """() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
    .filter((target) => !target.disabled && target.getClientRects().length && !target.closest("details:not([open]) > :not(summary)"))
    .filter((target) => {
        target.focus({ preventScroll: true });
        const style = getComputedStyle(target);
        return target.tabIndex < 0 || document.activeElement !== target || style.outlineStyle === "none";
    })
    .map((target) => target.outerHTML.slice(0, 160))"""


@pytest.mark.parametrize("query", ["", "?days=1", "?days=30&site=manual", "?days=90"])
def test_each_figure_is_what_its_list_counts(operator, query):
    page, figures = assert_lists_agree(operator, f"/admin/{query}")
    # Soon after midnight nobody has asked anything today.
    assert len(figures) >= 15 or (query == "?days=1" and "No questions in this period" in page)
    assert not figures or "Median time" in figures
    assert page.count('data-incidents="') >= 1 or query == "?days=1"


def test_sums_of_days_and_a_count_of_every_message_agree(operator, runtime):
    shown = figures_of(operator.get("/admin/?days=90").text)
    with runtime.database.connect() as connection:
        since = "date('now', '-89 days')"
        asked, opened_now, up, cost = connection.exec_driver_sql(
            "SELECT count(*), sum(turn = 1), sum(helpful IS 1), sum(cost) FROM messages "
            f"WHERE asked_at >= {since}"
        ).one()
    assert shown["Questions"][1] == f"{asked:,}"
    assert shown["Conversations"][1] == f"{opened_now:,}"
    assert shown["Thumbs up"][1] == f"{up:,}"
    assert shown["Cost of answers"][1] == f"{cost:.2f}"


def test_a_search_looks_through_half_a_year(operator, runtime):
    with runtime.database.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT count(*) FROM messages WHERE question LIKE '%epoxy%' OR text LIKE '%epoxy%'"
        ).scalar_one()
    assert found > 500
    assert counted(operator, "/admin/conversations?search=epoxy") == f"{found:,}"
    assert counted(operator, "/admin/conversations?search=neverwritten") == "0"


def test_an_erased_visitor_leaves_every_figure(operator, runtime):
    with runtime.database.connect() as connection:
        conversation_id = connection.exec_driver_sql(
            "SELECT conversation_id FROM messages WHERE site_id = 'harbour' ORDER BY asked_at DESC LIMIT 1"
        ).scalar_one()
    before = figures_of(operator.get("/admin/?site=harbour").text)["Questions"][1]
    operator.send(f"/admin/conversations/{conversation_id}/erase", {})
    _, figures = assert_lists_agree(operator, "/admin/?site=harbour")
    assert figures["Questions"][1] != before
