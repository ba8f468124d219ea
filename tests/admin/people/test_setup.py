import pytest

from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.tabs import opened

FIELDS = {"email": EMAIL, "password": PASSWORD, "again": PASSWORD}


def send(browser, token, **changed):
    return browser.send("/admin/setup", {**FIELDS, "token": token, **changed})


def test_the_setup_link_makes_the_first_operator_and_logs_in(client, runtime):
    answer = send(client, runtime.people.operators.setup_token())
    assert answer.location == "/admin/start"
    assert EMAIL in client.get("/admin/").text
    assert runtime.people.operators.find(EMAIL).password_hash.startswith("$argon2id$")


def test_the_link_works_once(app, client, runtime):
    token = runtime.people.operators.setup_token()
    send(client, token)
    other = Browser(app)
    assert other.get("/admin/setup").location == "/admin/login"
    page = other.get("/admin/login").text
    csrf = page.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
    taken = {**FIELDS, "email": "eve@example.com", "token": token, "csrf_token": csrf}
    assert other.http.post("/admin/setup", data=taken).location == "/admin/login"
    assert runtime.people.operators.count() == 1


def test_a_wrong_or_older_link_says_where_to_get_a_new_one(client, runtime):
    older = runtime.people.operators.setup_token()
    runtime.people.operators.setup_token()
    answer = send(client, older)
    assert answer.status_code == 403
    assert "make run" in answer.text
    assert runtime.people.operators.count() == 0


def test_without_a_code_nothing_is_made(client, runtime):
    assert 'name="token"' in client.get("/admin/setup").text
    answer = send(client, "")
    assert (answer.status_code, "Write the code of the setup link." in answer.text) == (422, True)
    assert runtime.people.operators.count() == 0


def test_somebody_who_mistypes_the_password_is_not_asked_for_a_code(client, runtime):
    token = runtime.people.operators.setup_token()
    answer = send(client, token, again="something else")
    assert answer.status_code == 422
    assert "Setup code" not in answer.text
    assert f'name="token" value="{token}"' in answer.text


def test_the_link_is_kept_for_its_owner_only_and_goes_when_it_is_used(client, runtime):
    folder = runtime.configuration.folder
    folder.setup_link.write_text("an older one, readable by all")
    folder.setup_link.chmod(0o644)
    token = runtime.people.operators.setup_token()
    folder.keep_setup_link(f"https://chat.example.com/admin/setup#token={token}")
    assert folder.setup_link.stat().st_mode & 0o777 == 0o600
    assert send(client, token).status_code == 302
    assert not folder.setup_link.exists()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"email": ""}, "Write your e-mail address"),
        ({"email": "ada"}, "Write a whole e-mail address"),
        ({"email": "ada@exa mple.com"}, "Write a whole e-mail address"),
        ({"password": "short", "again": "short"}, "15 to 256 characters"),
        ({"password": "x" * 300, "again": "x" * 300}, "15 to 256 characters"),
        ({"again": "something else entirely"}, "The two passwords differ"),
    ],
)
def test_bad_input_says_what_to_do_and_leaves_the_link_valid(client, runtime, changed, says):
    token = runtime.people.operators.setup_token()
    answer = send(client, token, **changed)
    assert answer.status_code == 422
    assert says in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert PASSWORD not in answer.text
    assert send(client, token).status_code == 302


def test_guessing_tokens_is_slowed_down(make_runtime):
    runtime = make_runtime(login_limit="2/minute")
    token = runtime.people.operators.setup_token()
    browser = Browser(make_app(runtime))
    for _ in range(2):
        assert send(browser, "guess").status_code == 403
    page = browser.get("/admin/setup").text
    csrf = page.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
    answer = browser.http.post("/admin/setup", data={**FIELDS, "token": token, "csrf_token": csrf})
    assert answer.status_code == 429
    assert "Try again in" in answer.text
    assert runtime.people.operators.count() == 0


def test_the_account_of_the_setup_can_log_in_later(app, client, runtime):
    send(client, runtime.people.operators.setup_token())
    assert log_in(Browser(app)).location == "/admin/"


def test_a_link_that_is_pasted_while_its_page_is_open_fills_in_the_code(browser, address, runtime):
    token = runtime.people.operators.setup_token()
    with opened(browser, address, "desk", "light") as tab:
        tab.goto("/admin/setup")
        tab.goto(f"/admin/setup#token={token}")
        assert tab.locator("[name=token]").input_value() == token
