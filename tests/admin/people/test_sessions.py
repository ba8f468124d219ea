"""How long sessions last, how their cookie is called, and a second factor that everybody must have."""

import re
from datetime import timedelta
from time import time

import pyotp
import pytest
from sqlalchemy import update

from server.domain.roles import Role
from server.storage.columns import now
from server.storage.schema.people import operator_sessions
from tests.admin.conftest import EMAIL, Browser, log_in, make_app
from tests.admin.routes import PUBLIC, digest, rules


def unused_for(runtime, minutes):
    with runtime.database.begin() as connection:
        connection.execute(update(operator_sessions).values(seen_at=now() - timedelta(minutes=minutes)))


def seen_at(runtime, operator_id):
    return runtime.people.sessions.of(operator_id)[0].seen_at


def listed(browser):
    """The part of the account's page that lists sessions."""
    return browser.get("/admin/account").text.split("Where you are logged in")[1].split("Recent events")[0]


def test_a_session_ends_when_it_was_not_used(runtime, operator, operator_id):
    unused_for(runtime, 29)
    assert operator.get("/admin/").status_code == 200
    assert now() - seen_at(runtime, operator_id) < timedelta(minutes=1)
    unused_for(runtime, 31)
    assert operator.get("/admin/").location == "/admin/login?next=/admin/"


def test_a_page_that_polls_does_not_keep_its_session(runtime, operator, operator_id):
    unused_for(runtime, 20)
    before = seen_at(runtime, operator_id)
    operator.get("/admin/health", headers={"Accept": "application/json"})
    assert seen_at(runtime, operator_id) == before


def test_sessions_that_were_not_used_are_not_listed(app, runtime, operator, operator_id):
    other = Browser(app)
    log_in(other, headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    assert "Firefox on Linux" in listed(operator)
    with runtime.database.begin() as connection:
        old = operator_sessions.c.browser.contains("Firefox")
        connection.execute(update(operator_sessions).where(old).values(seen_at=now() - timedelta(hours=2)))
    assert "Firefox on Linux" not in listed(operator)


def test_the_time_outs_are_changed_on_the_dashboard(runtime, operator):
    page = "/admin/settings/sign-in"
    fields = {"session_idle_minutes": "5", "confirm_minutes": "10"}
    assert operator.send(page, fields).location == page
    unused_for(runtime, 6)
    assert operator.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    ("public_url", "start"),
    [
        ("https://chat.example.com", "__Host-docent_operator="),
        ("https://example.com/docent", "__Secure-docent_operator="),
        ("http://chat.example.com", "docent_operator="),
    ],
)
def test_the_cookie_is_bound_to_the_host_where_https_serves(make_runtime, password_hash, public_url, start):
    runtime = make_runtime(public_url=public_url)
    runtime.people.operators.create(EMAIL, password_hash)
    http = make_app(runtime).test_client()
    said = http.get("/admin/login", base_url=public_url.replace("/docent", "")).headers["Set-Cookie"]
    parts = said.split("; ")
    assert parts[0].startswith(start)
    assert {"HttpOnly", "SameSite=Lax"} <= set(parts)
    assert ("Secure" in parts) is public_url.startswith("https")
    path = {"__Host-": "/", "__Secur": "/docent/admin"}.get(start[:7], "/admin")
    assert f"Path={path}" in parts
    assert "Domain" not in said


@pytest.mark.parametrize("path", ["/admin/static/mark.svg", "/admin/", "/admin/sites"])
def test_an_answer_that_changes_nothing_leaves_the_cookie_alone(operator, path):
    """It may arrive after a later one that changed the cookie, and would undo that."""
    operator.get(path)  # the first page after a login holds a new token
    answer = operator.get(path)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers


@pytest.fixture
def required(make_runtime, password_hash):
    """A Docent whose owner requires a second factor of everybody."""
    runtime = make_runtime(require_second_factor="1")
    runtime.people.operators.create(EMAIL, password_hash)
    runtime.people.operators.create("ben@example.com", password_hash, Role.EDITOR)
    return runtime


@pytest.mark.parametrize("email", [EMAIL, "ben@example.com"])
def test_without_the_second_factor_that_is_required_nothing_else_opens(required, email):
    app = make_app(required)
    browser = Browser(app)
    log_in(browser, email=email)
    shown = browser.get("/admin/account/second-factor").text
    token = re.search(r'name="csrf_token" value="([^"]+)"', shown)[1]
    before, led = digest(required), 0
    for method in ("GET", "POST"):
        for endpoint, path, _ in rules(app, method):
            if endpoint in PUBLIC or path.startswith(
                ("/admin/account/second-factor", "/admin/account/confirm", "/admin/account/passkeys")
            ):
                continue
            answer = browser.http.open(path, method=method, data={"csrf_token": token})
            assert (answer.status_code, answer.location) == (302, "/admin/account/second-factor"), path
            led += 1
    assert led > 100
    assert digest(required) == before


def test_everything_opens_once_it_is_set_up(required):
    browser = Browser(make_app(required))
    assert log_in(browser).location == "/admin/"
    page = browser.get("/admin/account/second-factor").text
    assert "An owner requires a second factor for everyone." in page
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page)[1]
    fields = {"code": pyotp.TOTP(secret).at(int(time()))}
    assert "recovery" in browser.send("/admin/account/second-factor", fields).text
    assert browser.get("/admin/").status_code == 200


def test_an_owner_turns_it_on_and_sees_who_lacks_one(runtime, operator):
    page = "/admin/settings/sign-in"
    fields = {"require_second_factor": "1", "session_idle_minutes": "30", "confirm_minutes": "10"}
    assert EMAIL in operator.get(page).text
    operator.send(page, fields)
    assert operator.get("/admin/").location == "/admin/account/second-factor"
