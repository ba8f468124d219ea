import time

import pytest

from admin.people.passwords import hash_password, verify
from admin.people.sessions import safe_next
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app


def test_an_operator_logs_in_with_the_address_in_any_case(client, operator_id):
    answer = log_in(client, email="  Ada@Example.com ")
    assert (answer.status_code, answer.location) == (302, "/admin/")
    assert EMAIL in client.get("/admin/").text


@pytest.mark.parametrize(
    ("email", "password"),
    [(EMAIL, "not her words"), ("nobody@example.com", PASSWORD), (EMAIL, PASSWORD + " ")],
)
def test_a_wrong_password_and_an_unknown_address_get_the_same_words(client, operator_id, email, password):
    answer = log_in(client, password, email)
    assert answer.status_code == 422
    assert "E-mail or password is wrong. Check both and try again." in answer.text
    assert password not in answer.text
    assert client.get("/admin/").status_code == 302


def test_an_unknown_address_takes_as_long_as_a_wrong_password(full_hashes):
    """By processor time, which other programs of the machine do not change."""
    known = hash_password(PASSWORD)

    def fastest(stored):
        verify("wrong", stored)
        times = []
        for _ in range(5):
            started = time.process_time()
            verify("wrong", stored)
            times.append(time.process_time() - started)
        return min(times)

    assert 0.4 < fastest(None) / fastest(known) < 2.5


def test_empty_fields_are_named(client, operator_id):
    answer = log_in(client, "", "")
    assert answer.status_code == 422
    assert "Write the e-mail address of your account." in answer.text
    assert "Write your password." in answer.text


def test_guessing_from_one_address_is_slowed_down(make_runtime, password_hash):
    runtime = make_runtime(login_limit="3/minute")
    runtime.people.operators.create(EMAIL, password_hash)
    app = make_app(runtime)
    for number in range(3):
        assert log_in(Browser(app), "wrong", f"somebody-{number}@example.com").status_code == 422
    answer = log_in(Browser(app))
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert "Too many attempts. Try again in" in answer.text


def test_a_login_starts_a_session_that_nobody_planted(app, operator_id):
    victim = Browser(app)
    victim.get("/admin/login")
    planted = victim.http.get_cookie("docent_operator", path="/admin").value
    log_in(victim)
    attacker = Browser(app)
    attacker.http.set_cookie("docent_operator", planted, path="/admin")
    assert victim.get("/admin/").status_code == 200
    assert attacker.get("/admin/").status_code == 302


def test_a_new_login_ends_the_session_before_it(app, operator):
    old = operator.http.get_cookie("docent_operator", path="/admin").value
    token_page = operator.get("/admin/new-site")
    assert token_page.status_code == 200
    token = token_page.text.split('name="csrf_token" value="')[1].split('"')[0]
    operator.http.post("/admin/login", data={"email": EMAIL, "password": PASSWORD, "csrf_token": token})
    thief = Browser(app)
    thief.http.set_cookie("docent_operator", old, path="/admin")
    assert operator.get("/admin/").status_code == 200
    assert thief.get("/admin/").status_code == 302


def test_logging_out_ends_the_session_for_a_copied_cookie_too(app, operator):
    copied = operator.http.get_cookie("docent_operator", path="/admin").value
    answer = operator.send("/admin/", {}, action="/admin/logout")
    assert answer.location == "/admin/login"
    assert operator.get("/admin/").status_code == 302
    thief = Browser(app)
    thief.http.set_cookie("docent_operator", copied, path="/admin")
    assert thief.get("/admin/").status_code == 302


def test_a_session_ends_with_its_hours(make_runtime, password_hash):
    runtime = make_runtime(session_hours=0.5 / 3600)
    runtime.people.operators.create(EMAIL, password_hash)
    browser = Browser(make_app(runtime))
    assert log_in(browser).status_code == 302
    ended = time.monotonic() + 10
    while browser.get("/admin/").status_code == 200:
        assert time.monotonic() < ended, "the session outlives its hours"


def test_a_forged_cookie_opens_nothing(app, operator_id):
    forger = Browser(app)
    forger.http.set_cookie("docent_operator", "eyJvcGVyYXRvcl9zZXNzaW9uIjoiMSJ9.x.y", path="/admin")
    assert forger.get("/admin/").status_code == 302


def test_an_operator_comes_back_to_the_page_that_asked_for_the_login(client, operator_id):
    asked = client.get("/admin/conversations?outcome=refused&days=7")
    assert asked.location == "/admin/login?next=/admin/conversations?outcome%3Drefused%26days%3D7"
    answer = client.send(
        asked.location, {"email": EMAIL, "password": PASSWORD, "next": "/admin/health"}, "/admin/login"
    )
    assert answer.location == "/admin/health"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/admin/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/admin/../evil",
        "/admin/%2e%2E/evil",
        "/adminevil",
        "/admin/\nSet-Cookie: a=b",
        "http:///admin/",
        "/api/v1/chat",
        "http://[",
        " /admin/",
        "",
        None,
    ],
)
def test_the_way_back_never_leads_out_of_the_dashboard(app, target):
    with app.test_request_context():
        assert safe_next(target) == "/admin/"


def test_an_outdated_hash_is_renewed_at_the_next_login(full_hashes, client, runtime, operator_id):
    from argon2 import PasswordHasher

    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    runtime.people.operators.set_password(operator_id, weak)
    assert log_in(client).status_code == 302
    stored = runtime.people.operators.get(operator_id).password_hash
    assert stored != weak
    assert verify(PASSWORD, stored)


def test_a_damaged_hash_opens_nothing():
    assert not verify(PASSWORD, "no hash at all")
    assert hash_password(PASSWORD) != hash_password(PASSWORD)


def test_the_login_tells_how_to_make_the_first_account(client):
    assert "setup link" in client.get("/admin/login").text
