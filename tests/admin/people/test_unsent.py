"""Forms that are sent after the session expired, or with a token of an earlier login."""

import pytest

from tests.admin.conftest import EMAIL, PASSWORD
from tests.admin.people.test_sessions import unused_for
from tests.admin.tabs import opened

PAGE = "/admin/sites/lantern/answers/new"
ANSWER = "We deliver to every island.\nالتوصيل مجاني."


@pytest.fixture
def tab(browser, address, cookie, site):
    with opened(browser, address, "desk", "light", [cookie], expected=("status of 400",)) as tab:
        tab.goto(PAGE)
        tab.get_by_label("Question", exact=True).fill("Do you deliver to islands?")
        tab.get_by_label("Answer", exact=True).fill(ANSWER)
        yield tab


def written_again(tab):
    tab.get_by_text("This was not saved. What you wrote is here again").wait_for()
    return tab.get_by_label("Answer", exact=True).input_value()


def test_an_expired_form_says_so_and_leads_back_to_its_page(operator, runtime, site):
    token = operator.get(PAGE).text.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
    unused_for(runtime, 31)
    referrer = {"Referer": f"http://localhost{PAGE}"}
    answer = operator.http.post(PAGE, data={"csrf_token": token, "answer": ANSWER}, headers=referrer)
    assert answer.location == f"/admin/login?next={PAGE}&unsent=1"
    assert "You were logged out, so nothing was saved." in operator.get(answer.location).text


def test_what_was_typed_is_there_again_after_the_login(tab, runtime):
    unused_for(runtime, 31)
    tab.get_by_role("button", name="Save").click()
    tab.get_by_label("E-mail").fill(EMAIL)
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Log in").click()
    assert written_again(tab) == ANSWER
    tab.get_by_role("button", name="Save").click()
    tab.wait_for_url(lambda url: not url.endswith("/new"))
    assert [one.text.splitlines() for one in runtime.stores.curated.all("lantern")] == [ANSWER.splitlines()]
    tab.goto(PAGE)
    assert tab.get_by_label("Answer", exact=True).input_value() == "", "it was saved"


def test_what_was_typed_is_there_again_after_a_login_in_another_tab(tab):
    tab.evaluate("document.querySelector('main [name=csrf_token]').value = 'of an earlier login'")
    tab.get_by_role("button", name="Save").click()
    tab.get_by_role("link", name="Open the page again").click()
    assert written_again(tab) == ANSWER


def test_an_address_that_only_takes_forms_leads_to_the_page_above(operator, site):
    assert operator.get("/admin/sites/lantern/sources/pairs").location == "/admin/sites/lantern/sources"
    assert operator.get("/admin/account/sessions/end").location == "/admin/account"
    assert operator.get("/admin/sites/lantern/nothing").status_code == 404
