"""No page shows more than seven controls before a fold, and each page says first what it is for."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from tests.admin.routes import PUBLIC, VALUES, rules
from tests.admin.test_look import PAGES

MOST = 7
CONTROLS = "input:not([type=hidden]), select, textarea, button, a.button"
ASIDE = "table, ul, ol, dl, nav, [role=search], .pager, article, template"
"""Lists and search: as many controls as they have rows."""
EXCEPTIONS = {"admin.playground?": (40, "opened with a run, it shows what that run compared")}
"""Endpoint of a page that may show more -> how many, and why. With ? for a page whose address has a query."""


@pytest.fixture
def pages(app, operator, busy):
    """Endpoint -> the pages of the dashboard with that endpoint, as an owner sees them without JavaScript."""
    adapter = app.url_map.bind("localhost")
    known = [
        (adapter.match(path.format(**vars(busy)).split("?")[0])[0], path.format(**vars(busy)))
        for path in PAGES.values()
    ]
    guessed = [(endpoint, path) for endpoint, path, _ in rules(app, "GET", VALUES)]
    found: dict[str, list] = {}
    for endpoint, path in [*known, *guessed]:
        if (
            endpoint in PUBLIC
            or endpoint == "admin.missing"
            or (endpoint in found and (endpoint, path) in guessed)
        ):
            continue
        answer = operator.get(path)
        if answer.status_code == 200 and answer.mimetype == "text/html" and "<main" in answer.text:
            found.setdefault(endpoint + "?" * ("?" in path), []).append(
                SimpleNamespace(path=path, main=BeautifulSoup(answer.text, "html.parser").main)
            )
    assert len(found) > 50
    return found


def controls_before_a_fold(main):
    aside = {id(tag) for tag in main.select(ASIDE)}
    return [
        control
        for control in main.select(CONTROLS)
        if not control.find_parent(lambda tag: tag.name == "details" and not tag.has_attr("open"))
        and not any(id(parent) in aside for parent in control.parents)
    ]


def first_text(main):
    """The text below the heading, without messages, trails, buttons, and what is written next to the heading."""
    for aside in main.select(
        "nav, .notice, .head form, .head .button, .head .buttons, .head .badge, .head .hint, .state, .address, .facts"
    ):
        aside.decompose()
    heading = main.find(["h1", "h2"])
    for text in heading.find_all_next(string=True) if heading else []:
        if text.strip() and heading not in text.parents:
            return text.find_parent(["p", "li", "label", "h2", "dt", "summary", "div"])
    return None


def test_no_page_shows_more_than_seven_controls(pages):
    wrong = {}
    for endpoint, shown in pages.items():
        count = max(len(controls_before_a_fold(page.main)) for page in shown)
        if count > EXCEPTIONS.get(endpoint, (MOST, ""))[0]:
            wrong[endpoint] = count
    assert wrong == {}


def test_each_page_says_first_what_it_is_for(pages):
    silent = set()
    for endpoint, shown in pages.items():
        for page in shown:
            text = first_text(page.main)
            words = re.findall(r"\w+", text.get_text()) if text else []
            if (
                text is None
                or text.name != "p"
                or len(words) < 4
                or not text.get_text().rstrip().endswith((".", ":", "?"))
            ):
                silent.add(endpoint.rstrip("?"))
    assert silent == set()


def test_what_cannot_be_brought_back_takes_a_second_press(pages):
    at_once = {
        (endpoint, button.text.strip())
        for endpoint, found in pages.items()
        for page in found
        for form in page.main.select("form[action]")
        for button in form.select("button")
        if re.search("/(remove|revoke)$", button.get("formaction") or form["action"])
        and not button.find_parent("details")
    }
    # A label can be given again. The page about a site's removal wants its id.
    assert at_once == {("admin.conversation", "×"), ("admin.site_removal", "Remove it for good")}
