"""Sensitive forms ask for the password or a code again when the last proof is too old."""

import re
from datetime import timedelta
from time import time

import pyotp
import pytest
from sqlalchemy import update

from admin.people.attempts import CODES
from server.domain.roles import Role
from server.storage.columns import now
from server.storage.schema.people import operator_sessions
from tests.admin.conftest import EMAIL, PASSWORD
from tests.admin.routes import digest, rules, token_of
from tests.admin.tabs import opened
from tests.admin.test_look import check

NEW = "quiet lanterns by the harbour"
AREAS = (
    "/admin/settings",
    "/admin/account/second-factor",
    "/admin/account/recovery-codes",
    "/admin/account/password",
)
"""Where people, keys, webhooks, mail, models, backups, the password and the second factor are changed."""
ASKING = (
    "/admin/settings/backup",
    "/admin/account/password",
    "/admin/account/recovery-codes",
    "/admin/account/second-factor/off",
)
"""Forms that have a field for the password."""


@pytest.fixture
def stale(operator, runtime):
    """The browser of somebody who logged in an hour ago, or whose cookie was copied."""
    age(runtime)
    return operator


def age(runtime, minutes=60):
    with runtime.database.begin() as connection:
        connection.execute(update(operator_sessions).values(confirmed_at=now() - timedelta(minutes=minutes)))


def form_of(answer):
    """(address, fields) of the form on a page that asks for the password."""
    form = re.search(r'<form method="post" action="(?!/admin/logout)([^"]+)".*?</form>', answer.text, re.S)
    hidden = re.findall(r'<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', form[0])
    return form[1], dict(hidden)


def test_every_form_of_the_guarded_areas_refuses_a_stale_session(app, runtime, busy, stale):
    token = token_of(stale)
    before, asked = digest(runtime), 0
    for _, path, _ in rules(app, "POST"):
        if not path.startswith(AREAS):
            continue
        data = {"csrf_token": token, "email": "x@example.com", "role": "owner", "name": "k", "scopes": "ask"}
        data |= {
            "kinds": "gap.opened",
            "url": "https://x.example/",
            "smtp_url": "",
            "restore-confirmation": "x",
        }
        answer = stale.http.post(path, data=data)
        if path.startswith(ASKING):
            assert answer.status_code == 422, path
        else:
            assert (answer.status_code, "Confirm it is you" in answer.text) == (403, True), path
            asked += 1
        assert digest(runtime) == before, path
    assert asked > 20


def test_a_copied_owner_session_makes_no_link_and_no_second_factor(app, runtime, stale, operator_id):
    token = token_of(stale)
    answer = stale.http.post(f"/admin/settings/people/{operator_id}/reset", data={"csrf_token": token})
    assert "new-password" not in answer.text
    assert runtime.people.links.open() == []
    assert "otpauth" not in stale.get("/admin/account/second-factor").text


def test_what_was_typed_is_done_once_the_password_is_right(runtime, stale):
    page, invite = "/admin/settings/people", "/admin/settings/people/invite"
    asked = stale.send(page, {"email": 'c"leo@example.com', "role": "editor"}, invite)
    address, fields = form_of(asked)
    assert fields["role"] == "editor"
    wrong = stale.http.post(address, data={**fields, "confirm-password": "no"})
    assert (wrong.status_code, runtime.people.links.open()) == (403, [])
    assert "This is not your password." in wrong.text
    fields["email"] = "cleo@example.com"
    assert stale.http.post(address, data={**fields, "confirm-password": PASSWORD}).status_code == 200
    assert [(one.email, one.role) for one in runtime.people.links.open()] == [
        ("cleo@example.com", Role.EDITOR)
    ]
    again = stale.send(page, {"email": "dora@example.com", "role": "viewer"}, invite)
    assert again.status_code == 200, "asked twice within a minute"


def test_a_code_confirms_once_and_the_rate_is_limited(runtime, stale, operator_id):
    secret = pyotp.random_base32()
    runtime.people.operators.set_second_factor(operator_id, runtime.configuration.seal.close(secret), 0, [])
    code = pyotp.TOTP(secret).at(int(time()))
    for status in (200, 403):
        age(runtime)
        address, fields = form_of(
            stale.send("/admin/settings", {"email": "x@example.com", "role": "viewer"},
                       "/admin/settings/people/invite")
        )  # fmt: skip
        assert stale.http.post(address, data={**fields, "confirm-code": code}).status_code == status


def test_codes_are_counted_by_person_as_at_the_login(runtime, stale, operator_id):
    """Otherwise a session that was stolen could try thousands of codes."""
    secret = pyotp.random_base32()
    runtime.people.operators.set_second_factor(operator_id, runtime.configuration.seal.close(secret), 0, [])
    for _ in range(20):
        runtime.shared.limits.hit(CODES, f"login-code:{operator_id}")
    address, fields = form_of(stale.get("/admin/account/second-factor"))
    answer = stale.http.post(address, data={**fields, "confirm-code": pyotp.TOTP(secret).at(int(time()))})
    assert answer.status_code == 403
    assert "Too many attempts" in answer.text


def test_a_page_that_needs_a_proof_opens_after_it(stale):
    asked = stale.get("/admin/account/second-factor")
    assert asked.status_code == 403
    address, fields = form_of(asked)
    answer = stale.http.post(address, data={**fields, "confirm-password": PASSWORD})
    assert answer.location == "/admin/account/second-factor"
    assert "otpauth" in stale.get(answer.location).text


def test_a_session_of_before_the_upgrade_is_asked(runtime, operator):
    with runtime.database.begin() as connection:
        connection.execute(update(operator_sessions).values(confirmed_at=None))
    assert operator.send("/admin/settings", {}, "/admin/settings/back").status_code == 403


def test_scripts_get_a_code_that_they_understand(stale):
    answer = stale.send("/admin/settings", {}, "/admin/settings/back", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "confirm_needed")


def test_the_proof_is_in_the_audit_log_and_no_secret_with_it(runtime, stale):
    address, fields = form_of(stale.send("/admin/settings", {"back": "port"}, "/admin/settings/back"))
    stale.http.post(address, data={**fields, "confirm-password": PASSWORD})
    found = [one for one in runtime.people.audit.recent(5) if one.action == "confirmed the sign-in"]
    assert [one.operator for one in found] == [EMAIL]
    assert PASSWORD not in repr(found)


def test_links_made_before_a_password_change_are_dead(runtime, operator, operator_id):
    other = runtime.people.operators.create("ben@example.com", "hash", Role.EDITOR)
    links = runtime.people.links
    dead = [
        links.reset(operator_id, EMAIL, Role.OWNER, EMAIL),
        links.invite("mallory@example.com", Role.OWNER, EMAIL),
        links.reset(other, "ben@example.com", Role.EDITOR, EMAIL),
    ]
    alive = links.invite("cleo@example.com", Role.VIEWER, "ben@example.com")
    fields = {"current": PASSWORD, "new": NEW, "again": NEW}
    operator.send("/admin/account", fields, "/admin/account/password")
    assert [links.find(secret) for secret in dead] == [None, None, None]
    assert links.find(alive) is not None
    assert "3 unused links no longer work." in operator.get("/admin/account").text


@pytest.mark.parametrize("end", ["remove", "role"])
def test_links_of_somebody_who_is_no_owner_any_more_are_dead(runtime, operator, operator_id, end):
    """Otherwise a removed owner chooses the password of another one, or comes back under another address."""
    mallory = runtime.people.operators.create("mallory@example.com", "hash", Role.OWNER)
    links = runtime.people.links
    dead = [
        links.reset(operator_id, EMAIL, Role.OWNER, "mallory@example.com"),
        links.invite("sock@example.net", Role.OWNER, "mallory@example.com"),
    ]
    alive = links.invite("cleo@example.com", Role.VIEWER, EMAIL)
    person = f"/admin/settings/people/{mallory}"
    operator.send(person, {"role": "editor"}, f"{person}/{end}")
    assert [links.find(secret) for secret in dead] == [None, None]
    assert links.find(alive) is not None


@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("desk", "dark")])
def test_the_page_that_asks_is_readable(browser, address, runtime, cookie, size, scheme):
    age(runtime)
    with opened(browser, address, size, scheme, [cookie], ("status of 403",)) as tab:
        tab.goto("/admin/account/second-factor")
        check(tab, "confirm", size, scheme)
        tab.get_by_role("button", name="Continue").click()
        check(tab, "confirm_wrong", size, scheme)
        tab.keyboard.type(PASSWORD)
        tab.keyboard.press("Enter")
        tab.get_by_role("heading", name="Turn on the second factor").wait_for()
        tab.goto("/admin/settings/sign-in")
        check(tab, "settings_signin", size, scheme)
        tab.goto("/admin/account")
        check(tab, "account", size, scheme)


def test_a_broken_referrer_does_not_break_the_question_who_it_is(stale):
    fields = {"email": "cleo@example.com", "role": "viewer", "csrf_token": token_of(stale)}
    sent = stale.http.post("/admin/settings/people/invite", data=fields, headers={"Referer": "http://[bad"})
    assert (sent.status_code, "Confirm it is you" in sent.text) == (403, True)
