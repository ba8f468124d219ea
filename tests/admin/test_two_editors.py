"""Two operators who have the same form open."""

import re
from html import unescape

import pytest
from bs4 import BeautifulSoup

from server.domain.curated import CuratedAnswer
from tests.admin.samples_content import ROOT

PAGES = {
    "/admin/sites/lantern/answers/{answer}": ("text", "Yes, on Mondays.", "Yes, every day."),
    "/admin/sites/lantern/settings": ("instructions", "Be brief.", "Be kind."),
    "/admin/sites/lantern/widget": ("greeting", "Hello!", "Welcome!"),
    "/admin/sites/lantern/scope": ("exclude", "/tag/*", "/old/*"),
    f"/admin/sites/lantern/content/edit?url={ROOT}returns": ("text", "Return it.", "Keep it."),
}


@pytest.fixture
def answer(runtime, site):
    made = CuratedAnswer.checked("lantern", ["Do you deliver?"], "Yes.", [], "", ("", ""))
    return runtime.stores.curated.save(made, "op@x.com").id


def form_of(browser, page, name):
    """(address, values) of the form with the field, as a browser would send it."""
    shown = BeautifulSoup(browser.get(page).text, "html.parser")
    form = next(one for one in shown.main.select("form[method=post]") if one.select(f"[name={name}]"))
    values = {one["name"]: one.text for one in form.select("textarea")}
    for one in form.select("input[name]"):
        if one.get("type") not in ("checkbox", "radio") or one.has_attr("checked"):
            values[one["name"]] = one.get("value", "y")
    for one in form.select("select"):
        chosen = one.select_one("[selected]") or one.option
        values[one["name"]] = chosen["value"]
    return form.get("action") or page, values


def notice(answer):
    found = re.search('class="notice problem"[^>]*>(.*?)</p>', answer.text, re.S)
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize("page", PAGES)
def test_who_saves_later_is_told_what_was_saved_meanwhile(operator, answer, page):
    name, first, second = PAGES[page]
    page = page.format(answer=answer)
    action, opened = form_of(operator, page, name)
    assert operator.http.post(action, data=opened | {name: first}).status_code == 302
    late = operator.http.post(action, data=opened | {name: second})
    assert late.status_code == 409
    assert "This was changed while you were editing it" in notice(late)
    assert f"“{first}”" in notice(late)
    assert form_of(operator, page, name)[1][name].strip() == first
    again = BeautifulSoup(late.text, "html.parser").select_one("main [name=opened]")["value"]
    saved = operator.http.post(action, data=opened | {name: second, "opened": again})
    assert saved.status_code == 302
    assert form_of(operator, page, name)[1][name].strip() == second


def test_a_form_that_is_sent_twice_is_saved(operator, answer):
    action, opened = form_of(operator, "/admin/sites/lantern/settings", "instructions")
    sent = [operator.http.post(action, data=opened | {"instructions": "Be brief."}) for _ in range(2)]
    assert [one.status_code for one in sent] == [302, 302]
