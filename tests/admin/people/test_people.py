"""People of the dashboard: invitations, roles, passwords, sessions, the second factor."""

import re
from time import time

import pyotp
import pytest

from admin.people.passwords import hash_password
from server.domain.roles import Role
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in

NEW = "twelve new letters"


def form_at(browser, page, fields, action=None, **options):
    return browser.send(page, fields, action, **options)


@pytest.fixture
def colleague(runtime, password_hash):
    """Somebody else, an editor."""
    return runtime.people.operators.create("ben@example.com", password_hash, Role.EDITOR)


def invite(operator, email="cleo@example.com", role="viewer"):
    answer = operator.send(
        "/admin/settings/people", {"email": email, "role": role}, "/admin/settings/people/invite"
    )
    return re.search(r"/admin/welcome#token=[\w-]+", answer.text)[0]


def opened(browser, link):
    """The page behind a link, as link.js opens it."""
    path, token = link.split("#token=")
    return browser.send(path, {"token": token})


def test_every_page_of_the_settings_opens(operator, busy):
    for path in (
        "/admin/settings", "/admin/settings/models", "/admin/settings/budgets", "/admin/settings/privacy",
        "/admin/settings/mail", "/admin/settings/webhooks", "/admin/settings/api-keys", "/admin/settings/people",
        "/admin/settings/people/1", "/admin/settings/audit", "/admin/settings/audit.csv", "/admin/settings/backup",
        "/admin/account", "/admin/account/second-factor",
    ):  # fmt: skip
        answer = operator.get(path)
        assert answer.status_code == 200, (path, answer.text[:2000])
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.text), path


def test_an_invitation_makes_an_account_with_its_role_once(app, operator, runtime):
    link = invite(operator)
    guest = Browser(app)
    answer = guest.send(link, {"password": NEW, "again": NEW}, "/admin/welcome")
    assert answer.status_code == 403, "the token is missing"
    token = link.split("=")[1]
    fields = {"token": token, "password": NEW, "again": NEW}
    assert guest.send(link, fields, "/admin/welcome").location == "/admin/"
    found = runtime.people.operators.find("cleo@example.com")
    assert found.role is Role.VIEWER
    assert guest.get("/admin/").status_code == 200
    other = Browser(app)
    assert opened(other, link).status_code == 403
    actions = [change.action for change in runtime.people.audit.recent(9)]
    assert actions == ["was refused", "logged in", "accepted an invitation", "was refused", "invited"]


def test_roles_are_in_the_readers_language(app, operator, runtime, password_hash):
    guest = Browser(app)
    guest.http.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    assert "als Betrachter eingeladen" in opened(guest, invite(operator)).text
    runtime.people.operators.create("vera@example.com", password_hash, Role.VIEWER)
    log_in(guest, email="vera@example.com")
    assert "Ihre Rolle ist Betrachter, nötig ist die Rolle Inhaber." in guest.get("/admin/settings").text


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"email": "", "role": "viewer"}, "Write the e-mail address"),
        ({"email": "no address", "role": "viewer"}, "Write a whole e-mail address"),
        ({"email": "x@example.com", "role": "emperor"}, "Not a valid choice"),
        ({"email": EMAIL, "role": "viewer"}, "has an account already"),
    ],
)
def test_a_wrong_invitation_says_what_is_wrong(operator, runtime, fields, says):
    answer = operator.send("/admin/settings/people", fields, "/admin/settings/people/invite")
    assert answer.status_code == 422
    assert says in answer.text
    assert runtime.people.links.open() == []


def test_a_withdrawn_invitation_opens_nothing(app, operator, runtime):
    link = invite(operator)
    id = runtime.people.links.open()[0].id
    operator.send("/admin/settings/people", {}, f"/admin/settings/people/links/{id}/withdraw")
    assert opened(Browser(app), link).status_code == 403


def test_a_new_password_by_link_ends_every_session(app, operator, runtime, colleague):
    ben = Browser(app)
    log_in(ben, email="ben@example.com")
    answer = operator.send("/admin/settings/people", {}, f"/admin/settings/people/{colleague}/reset")
    link = re.search(r"/admin/new-password#token=[\w-]+", answer.text)[0]
    assert ben.get("/admin/").status_code == 200, "until the link is used nothing changes"
    fields = {"token": link.split("=")[1], "password": NEW, "again": NEW}
    other = Browser(app)
    assert other.send(link, fields, "/admin/new-password").status_code == 302
    assert other.get("/admin/").status_code == 200
    assert ben.get("/admin/").status_code == 302
    assert other.send("/admin/account", fields, "/admin/new-password").status_code == 403


def test_a_change_of_role_logs_out_at_once(app, operator, runtime, colleague):
    ben = Browser(app)
    log_in(ben, email="ben@example.com")
    operator.send("/admin/settings/people", {"role": "viewer"}, f"/admin/settings/people/{colleague}/role")
    assert runtime.people.operators.get(colleague).role is Role.VIEWER
    assert ben.get("/admin/").status_code == 302


def test_who_changes_a_role_stays_with_the_people(app, operator, runtime, operator_id, colleague):
    ben, page = Browser(app), "/admin/settings/people"
    log_in(ben, email="ben@example.com")
    same = operator.send(page, {"role": "editor"}, f"{page}/{colleague}/role", follow_redirects=True)
    assert "Nothing was changed." in same.text
    assert ben.get("/admin/").status_code == 200
    assert operator.send(page, {"role": "owner"}, f"{page}/{colleague}/role").location == page
    own = operator.send(page, {"role": "viewer"}, f"{page}/{operator_id}/role", follow_redirects=True)
    assert own.request.path == "/admin/", "the settings are closed to a viewer"
    assert "Your role was changed. You are logged out everywhere else." in own.text


def test_the_last_owner_stays_one(operator, runtime, operator_id, colleague):
    page, own = "/admin/settings/people", f"/admin/settings/people/{operator_id}"
    answer = operator.send(page, {"role": "viewer"}, f"{own}/role")
    assert answer.status_code == 302
    assert "only owner" in operator.get(answer.location).text
    operator.send(page, {}, f"{own}/remove")
    assert runtime.people.operators.get(operator_id).role is Role.OWNER
    runtime.people.operators.set_role(colleague, Role.OWNER)
    operator.send(page, {"role": "viewer"}, f"{own}/role")
    assert runtime.people.operators.get(operator_id).role is Role.VIEWER
    assert operator.get("/admin/").status_code == 200, "the own session is renewed"
    assert operator.get("/admin/settings").status_code == 403


def test_a_removed_operator_is_out_at_once(app, operator, runtime, colleague):
    ben = Browser(app)
    log_in(ben, email="ben@example.com")
    operator.send("/admin/settings/people", {}, f"/admin/settings/people/{colleague}/remove")
    assert runtime.people.operators.get(colleague) is None
    assert ben.get("/admin/").status_code == 302
    assert operator.get(f"/admin/settings/people/{colleague}").status_code == 404


def test_sessions_are_listed_and_ended_one_by_one(app, operator, runtime, operator_id):
    phone = Browser(app)
    agent = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/120 Mobile Safari/537.36"
    log_in(phone, headers={"User-Agent": agent})
    page = operator.get("/admin/account")
    assert "Chrome on Android" in page.text
    assert "This one" in page.text
    theirs = next(one for one in runtime.people.sessions.of(operator_id) if "Android" in one.browser)
    operator.send("/admin/account", {}, f"/admin/account/sessions/{theirs.id}/end")
    assert phone.get("/admin/").status_code == 302
    assert operator.get("/admin/").status_code == 200


def test_a_session_of_somebody_else_is_not_ended_from_the_own_account(app, operator, runtime, colleague):
    ben = Browser(app)
    log_in(ben, email="ben@example.com")
    [theirs] = runtime.people.sessions.of(colleague)
    operator.send("/admin/account", {}, f"/admin/account/sessions/{theirs.id}/end")
    assert ben.get("/admin/").status_code == 200


def test_the_own_password_is_changed_and_others_are_logged_out(app, operator):
    other = Browser(app)
    log_in(other)
    before = operator.http.get_cookie("docent_operator", path="/admin").value
    fields = {"current": PASSWORD, "new": NEW, "again": NEW}
    assert operator.send("/admin/account", fields, "/admin/account/password").status_code == 302
    assert operator.http.get_cookie("docent_operator", path="/admin").value != before
    assert operator.get("/admin/").status_code == 200
    assert other.get("/admin/").status_code == 302
    thief = Browser(app)
    thief.http.set_cookie("docent_operator", before, path="/admin")
    assert thief.get("/admin/").status_code == 302
    assert log_in(Browser(app)).status_code == 422
    assert log_in(Browser(app), NEW).status_code == 302


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"current": "wrong", "new": NEW, "again": NEW}, "This is not your password"),
        ({"current": PASSWORD, "new": "short", "again": "short"}, "15 to 256 characters"),
        ({"current": PASSWORD, "new": NEW, "again": "other"}, "two passwords differ"),
        ({"current": "", "new": NEW, "again": NEW}, "Write your password"),
    ],
)
def test_a_wrong_change_of_the_password_changes_nothing(app, operator, fields, says):
    answer = operator.send("/admin/account", fields, "/admin/account/password")
    assert answer.status_code == 422
    assert says in answer.text
    assert log_in(Browser(app)).status_code == 302


def enrol(operator):
    """Turns the second factor on; returns (secret, recovery codes)."""
    page = operator.get("/admin/account/second-factor").text
    secret = re.search(r'aria-label="Secret"><code>(\w+)<', page)[1]
    assert "<svg" in page
    code = pyotp.TOTP(secret).now()
    shown = operator.send("/admin/account/second-factor", {"code": code}).text
    return secret, re.search(r'id="codes">([^<]+)<', shown)[1].split()


def code_page(app):
    browser = Browser(app)
    answer = log_in(browser)
    assert answer.location == "/admin/login/code"
    return browser


def test_with_a_second_factor_the_password_alone_opens_nothing(app, operator, runtime, operator_id):
    secret, _ = enrol(operator)
    stored = runtime.people.operators.get(operator_id).totp_secret
    assert secret not in stored
    browser = code_page(app)
    assert browser.get("/admin/").status_code == 302
    wrong = browser.send("/admin/login/code", {"code": "000000"})
    assert wrong.status_code == 422
    assert browser.get("/admin/").status_code == 302
    later = pyotp.TOTP(secret).at(int(time()) + 30)
    assert browser.send("/admin/login/code", {"code": later}).location == "/admin/"
    assert browser.get("/admin/").status_code == 200


def test_a_code_opens_once(app, operator):
    secret, _ = enrol(operator)
    later = pyotp.TOTP(secret).at(int(time()) + 30)
    assert code_page(app).send("/admin/login/code", {"code": later}).status_code == 302
    assert code_page(app).send("/admin/login/code", {"code": later}).status_code == 422
    earlier = pyotp.TOTP(secret).now()
    assert code_page(app).send("/admin/login/code", {"code": earlier}).status_code == 422


def test_a_recovery_code_opens_once(app, operator, runtime, operator_id):
    _, codes = enrol(operator)
    assert len(set(codes)) == 10
    typed = codes[0].upper().replace("-", " ")
    assert code_page(app).send("/admin/login/code", {"code": typed}).status_code == 302
    assert code_page(app).send("/admin/login/code", {"code": typed}).status_code == 422
    assert runtime.people.operators.recovery_codes_left(operator_id) == 9


def test_guessing_codes_is_slowed_down(app, operator):
    enrol(operator)
    browser = code_page(app)
    answers = [browser.send("/admin/login/code", {"code": f"{n:06}"}).status_code for n in range(21)]
    assert answers[:20] == [422] * 20
    assert answers[20] == 429


def test_a_change_of_the_password_undoes_a_login_that_waits_for_its_code(app, operator, runtime, operator_id):
    secret, _ = enrol(operator)
    browser = code_page(app)
    runtime.people.operators.set_password(operator_id, hash_password(NEW))
    later = pyotp.TOTP(secret).at(int(time()) + 30)
    with pytest.raises(TypeError):  # there is no form: it leads back to the login
        browser.send("/admin/login/code", {"code": later})
    assert browser.get("/admin/login/code").location == "/admin/login"


def test_the_second_factor_is_turned_off_with_the_password_only(app, operator, runtime, operator_id):
    enrol(operator)
    page, action = "/admin/account", "/admin/account/second-factor/off"
    assert operator.send(page, {"second-current": "wrong"}, action).status_code == 422
    assert runtime.people.operators.get(operator_id).has_second_factor
    assert operator.send(page, {"second-current": PASSWORD}, action).status_code == 302
    assert log_in(Browser(app)).location == "/admin/"


def test_an_owner_turns_the_second_factor_of_somebody_off(app, operator, runtime, colleague):
    runtime.people.operators.set_second_factor(
        colleague, runtime.configuration.seal.close("JBSWY3DPEHPK3PXP"), 0, ["a"]
    )
    operator.send("/admin/settings/people", {}, f"/admin/settings/people/{colleague}/second-factor/off")
    assert not runtime.people.operators.get(colleague).has_second_factor


def test_without_the_key_that_sealed_the_secret_recovery_codes_still_open(
    app, operator, runtime, operator_id
):
    runtime.people.operators.set_second_factor(operator_id, "sealed with another key", 0, ["abcde-fghjk"])
    browser = code_page(app)
    assert browser.send("/admin/login/code", {"code": "123456"}).status_code == 422
    assert browser.send("/admin/login/code", {"code": "abcde-fghjk"}).status_code == 302
