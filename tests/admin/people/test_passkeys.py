"""Passkeys in a real browser, whose authenticators Chromium makes up: see the domain WebAuthn of its protocol."""

import base64
import json
import re
import socket
import time
from random import Random

import pytest

from server.domain.roles import Role
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.tabs import EXPECTED, opened
from tests.admin.test_look import RULES, check
from tests.servers import web_server

OTHER = "ben@example.com"


@pytest.fixture
def ports():
    """Two free ports: that of the public address, and one that is not meant."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    numbers = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return numbers


@pytest.fixture
def public_url(ports):
    return f"http://localhost:{ports[0]}"


@pytest.fixture
def runtime(make_runtime, public_url):
    return make_runtime(public_url=public_url)


@pytest.fixture
def served(app, ports):
    """The dashboard under both ports."""
    with web_server(app, ports[0]), web_server(app, ports[1]):
        yield


class Device:
    """An authenticator of a tab."""

    def __init__(self, tab, *, verifies=True):
        self.session = tab.context.new_cdp_session(tab)
        self.session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": verifies,
            "automaticPresenceSimulation": True,
        }
        made = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self.id = made["authenticatorId"]

    def credentials(self):
        return self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.id})["credentials"]

    def put(self, credential):
        self.session.send("WebAuthn.addCredential", {"authenticatorId": self.id, "credential": credential})

    def clear(self):
        self.session.send("WebAuthn.clearCredentials", {"authenticatorId": self.id})


@pytest.fixture
def tab(browser, served, public_url, operator_id):
    with opened(browser, public_url, "desk", "light", expected=(*EXPECTED, "status of 403")) as tab:
        yield tab


@pytest.fixture
def device(tab):
    return Device(tab)


def enter(tab, email=EMAIL, password=PASSWORD):
    tab.goto("/admin/login")
    tab.get_by_label("E-mail").fill(email)
    tab.get_by_label("Password").fill(password)
    tab.get_by_role("button", name="Log in", exact=True).click()


def leave(tab):
    tab.goto("/admin/account")
    tab.get_by_role("button", name="Account", exact=True).click()
    tab.get_by_role("button", name="Log out").first.click()


def add_passkey(tab, name="Laptop"):
    tab.goto("/admin/account/passkeys/new")
    tab.get_by_label("Name").fill(name)
    tab.get_by_role("button", name="Add passkey").click()


def use_passkey(tab):
    tab.goto("/admin/login")
    tab.get_by_role("button", name="Log in with a passkey").click()


@pytest.fixture(scope="module")
def registrations():
    """The one registration that `registered` has made: (credential of the device, stored passkey, recovery codes)."""
    return []


@pytest.fixture
def registered(request, device, runtime, operator_id, registrations):
    """Somebody with one passkey, who is logged out; returns the recovery codes. The first test adds the passkey
    on the pages, the others store what came of it: the pages take longer than a test."""
    if not registrations:
        tab = request.getfixturevalue("tab")
        codes = register(tab)
        leave(tab)
        registrations.append((device.credentials()[0], runtime.people.passkeys.of(operator_id)[0], codes))
    else:
        credential, made, codes = registrations[0]
        runtime.people.passkeys.add(operator_id, made.credential, made.handle, made.public_key, made.name)
        runtime.people.operators.set_recovery_codes(operator_id, codes)
        device.put(credential)
    return registrations[0][2]


def register(tab):
    """Log in with the password and add a passkey; returns the recovery codes."""
    enter(tab)
    add_passkey(tab)
    tab.get_by_role("heading", name="Your recovery codes").wait_for()
    return tab.locator("#codes").inner_text().split()


def said(tab):
    return tab.locator(".notice.problem").inner_text()


def entries(runtime, action):
    return [one for one in runtime.people.audit.recent(100) if one.action == action]


def refusals(runtime):
    """Entries of passkeys that were refused."""
    return [one for one in entries(runtime, "was refused") if one.details["reason"] == "wrong passkey"]


def test_a_passkey_is_added_under_a_name_and_logs_in_alone(tab, device, runtime, operator_id):
    register(tab)
    leave(tab)
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    tab.goto("/admin/account")
    row = tab.locator("section", has=tab.get_by_role("heading", name="Passkeys")).locator("tbody tr")
    assert "Laptop" in row.inner_text()
    assert "never" not in row.inner_text(), "its last use is shown"
    assert runtime.people.passkeys.of(operator_id)[0].sign_count > 0
    assert entries(runtime, "logged in")[0].details["how"] == "passkey"


def test_the_page_asked_for_opens_afterwards(tab, registered):
    tab.goto("/admin/conversations?days=7")
    tab.get_by_role("button", name="Log in with a passkey").click()
    tab.wait_for_url("**/admin/conversations?days=7")


def test_a_passkey_is_a_second_factor_after_the_password(tab, runtime, registered):
    enter(tab)
    tab.wait_for_url("**/admin/login/code")
    assert tab.goto("/admin/").url.endswith("/admin/login?next=/admin/"), "the password alone opens nothing"
    enter(tab)
    tab.get_by_role("button", name="Use a passkey").click()
    tab.wait_for_url("**/admin/")


def test_a_recovery_code_opens_without_the_device(tab, device, registered):
    device.clear()
    enter(tab)
    tab.get_by_label("Code").fill(registered[0])
    tab.get_by_role("button", name="Log in").click()
    tab.wait_for_url("**/admin/")


def test_after_the_password_only_an_own_passkey_counts(tab, runtime, registered, password_hash):
    """The device has a passkey of Ada's; Ben's password with it opens nobody's account."""
    ben = runtime.people.operators.create(OTHER, password_hash, Role.VIEWER)
    runtime.people.passkeys.add(ben, "AAAA", "AAAA", "AAAA", "Lost")
    enter(tab, OTHER)
    tab.wait_for_url("**/admin/login/code")
    answer = posted_elsewhere(tab, "/admin/login/code/passkey/options", allowCredentials=[])
    assert send_answer(tab, "/admin/login/code/passkey", answer).endswith("/admin/login/code")
    assert "not known here" in said(tab)
    assert refusals(runtime)[0].operator == OTHER


def test_a_passkey_is_added_and_removed_after_a_recent_proof_only(tab, device, runtime, registered):
    """The proof may be a passkey; a password is not needed."""
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    forget_proof(runtime)
    tab.goto("/admin/account/passkeys/new")
    tab.get_by_role("heading", name="Confirm it is you").wait_for()
    tab.get_by_role("button", name="Use a passkey").click()
    tab.get_by_role("heading", name="Add a passkey").wait_for()
    forget_proof(runtime)
    tab.get_by_label("Name").fill("Second")
    tab.get_by_role("button", name="Add passkey").click()
    assert "confirm that it is you" in tab.get_by_role("alert").inner_text()
    tab.goto("/admin/account")
    tab.locator("summary", has_text="Remove").click()
    tab.get_by_role("button", name="Remove for good: Laptop").click()
    tab.get_by_role("heading", name="Confirm it is you").wait_for()
    tab.get_by_label("Your password").fill(PASSWORD)
    tab.get_by_role("button", name="Continue").click()
    tab.get_by_text("The passkey is removed").wait_for()


def test_a_passkey_is_the_second_factor_that_an_owner_requires(tab, device, runtime):
    runtime.configuration.live.change({"require_second_factor": "1"}, EMAIL)
    enter(tab)
    tab.wait_for_url("**/admin/account/second-factor")
    tab.get_by_role("link", name="add a passkey").click()
    tab.get_by_label("Name").fill("Laptop")
    tab.get_by_role("button", name="Add passkey").click()
    tab.get_by_role("link", name="I have kept them").click()
    assert tab.goto("/admin/sites").ok
    assert tab.url.endswith("/admin/sites")


def test_a_removed_passkey_is_no_proof(tab, runtime, operator_id, registered):
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    forget_proof(runtime)
    tab.goto("/admin/account/passkeys/new")
    token = tab.locator("[name=csrf_token]").first.input_value()
    answer = posted_elsewhere(tab, "/admin/account/confirm/passkey/options")
    runtime.people.passkeys.remove(operator_id, runtime.people.passkeys.of(operator_id)[0].id)
    fields = {"csrf_token": token, "confirm-credential": answer}
    sent = tab.request.post("/admin/account/confirm", form=fields)
    assert (sent.status, "not known here" in sent.text()) == (403, True)


def forget_proof(runtime):
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("UPDATE operator_sessions SET confirmed_at = NULL")


def test_a_device_holds_one_passkey_of_an_account(tab, device, runtime, operator_id, registered):
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    add_passkey(tab, "Again")
    assert "has a passkey of your account already" in tab.get_by_role("alert").inner_text()
    assert len(runtime.people.passkeys.of(operator_id)) == 1


def test_a_removed_passkey_is_refused(tab, runtime, operator_id, registered):
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    tab.goto("/admin/account")
    tab.locator("summary", has_text="Remove").click()
    tab.get_by_role("button", name="Remove for good: Laptop").click()
    tab.get_by_text("The passkey is removed").wait_for()
    assert runtime.people.operators.recovery_codes_left(operator_id) == 0, "codes of nothing open nothing"
    leave(tab)
    use_passkey(tab)
    tab.locator(".notice.problem").wait_for()
    assert "not known here" in said(tab)
    assert refusals(runtime)[0].details["says"].startswith("This passkey")
    enter(tab)
    tab.wait_for_url("**/admin/")


def test_a_signature_for_another_origin_is_refused(tab, runtime, ports, registered):
    tab.goto(f"http://localhost:{ports[1]}/admin/login")
    tab.get_by_role("button", name="Log in with a passkey").click()
    tab.locator(".notice.problem").wait_for()
    assert f'Unexpected client data origin "http://localhost:{ports[1]}"' in said(tab)
    assert refusals(runtime)
    tab.goto(f"http://127.0.0.1:{ports[0]}/admin/login")
    tab.get_by_role("button", name="Log in with a passkey").click()
    assert "only under the address" in tab.get_by_role("alert").inner_text(), "refused by the browser"


def test_an_old_answer_is_refused(tab, registered):
    """Even from somebody who copied the cookie of the moment and the answer of the device."""
    tab.goto("/admin/login")
    answer = posted_elsewhere(tab, "/admin/login/passkey/options")
    copied = tab.context.cookies()
    token = tab.locator("[name=csrf_token]").first.input_value()
    assert send_answer(tab, "/admin/login/passkey", answer).endswith("/admin/")
    tab.goto("about:blank")  # nothing under way sets a cookie any more
    tab.context.clear_cookies()
    tab.context.add_cookies(copied)
    tab.goto("/admin/login")
    assert send_answer(tab, "/admin/login/passkey", answer, token).endswith("/admin/login")
    assert "already used" in said(tab)
    assert send_answer(tab, "/admin/login/passkey", answer).endswith("/admin/login")
    assert "took too long" in said(tab), "a challenge is forgotten with its first answer"


def test_a_copied_passkey_with_a_lower_count_is_refused(tab, device, runtime, registered):
    copy = device.credentials()[0]
    for _ in range(3):
        use_passkey(tab)
        tab.wait_for_url("**/admin/")
        leave(tab)
    device.clear()
    device.put(copy)
    use_passkey(tab)
    tab.locator(".notice.problem").wait_for()
    assert "may have been copied" in said(tab)
    assert refusals(runtime)[0].operator == EMAIL


def test_without_a_check_of_the_user_a_passkey_is_only_a_second_factor(tab, device, registered):
    credential = device.credentials()[0]
    device.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": device.id})
    Device(tab, verifies=False).put(credential)
    tab.goto("/admin/login")
    answer = posted_elsewhere(tab, "/admin/login/passkey/options", userVerification="discouraged")
    assert send_answer(tab, "/admin/login/passkey", answer).endswith("/admin/login")
    assert "user was not verified" in said(tab)


def test_a_challenge_of_one_purpose_is_not_for_another(tab, registered):
    enter(tab)
    tab.wait_for_url("**/admin/login/code")
    answer = posted_elsewhere(tab, "/admin/login/code/passkey/options")
    assert send_answer(tab, "/admin/login/passkey", answer).endswith("/admin/login")
    assert "took too long" in said(tab)


def test_a_forged_answer_is_refused_whatever_it_is(tab, app, runtime, registered):
    """Each byte of a right answer matters; nothing that is sent instead breaks the server."""
    tab.goto("/admin/login")
    right = json.loads(posted_elsewhere(tab, "/admin/login/passkey/options"))
    browser, chance = Browser(app), Random(7)
    form = {"csrf_token": token_of(browser, "/admin/login")}
    for number in range(400):
        form["credential"] = json.dumps(altered(right, chance)) if number % 4 else noise(chance)
        expect(runtime, browser, right, "sign-in")
        answer = browser.http.post("/admin/login/passkey", data=form)
        assert (answer.status_code, answer.location) == (302, "/admin/login"), form["credential"]
    form["credential"] = json.dumps(right)
    expect(runtime, browser, right, "sign-in")
    assert browser.http.post("/admin/login/passkey", data=form).location == "/admin/"


def test_a_forged_registration_breaks_nothing(tab, device, app, runtime, operator_id):
    enter(tab)
    tab.goto("/admin/account/passkeys/new")
    fields = {"name": "Laptop"}
    right = json.loads(posted_elsewhere(tab, "/admin/account/passkeys/options", fields, create=True))
    browser, chance = Browser(app), Random(7)
    log_in(browser)
    for number in range(200):
        form = {"csrf_token": token_of(browser, "/admin/account"), "name": "x"}
        form["credential"] = json.dumps(altered(right, chance)) if number % 4 else noise(chance)
        expect(runtime, browser, right, "register")
        assert browser.http.post("/admin/account/passkeys", data=form).status_code in (200, 302)


def expect(runtime, browser, answer, purpose):
    """Make the browser one that was asked for this answer a moment ago."""
    data = answer["response"]["clientDataJSON"]
    challenge = json.loads(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)))["challenge"]
    with browser.http.session_transaction(path="/admin/") as session:
        session["passkey_challenge"] = [purpose, challenge, "AAAA", time.time() + 300]
    runtime.shared.cache.delete(f"passkey-challenge:{challenge}")


def token_of(browser, path):
    return re.search(r'name="csrf_token"[^>]* value="([^"]+)"', browser.get(path).text)[1]


def altered(right, chance):
    copy = json.loads(json.dumps(right))
    named = [copy["response"]] * 3 + [copy]
    part = chance.choice(named)
    name = chance.choice([name for name in part if name in SIGNED])
    if part[name] and chance.random() < 0.6:
        data = bytearray(base64.urlsafe_b64decode(part[name] + "=" * (-len(part[name]) % 4)))
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        part[name] = base64.urlsafe_b64encode(data).decode().rstrip("=")
    else:
        part[name] = chance.choice([None, 7, "", [], {}, "é", "A" * 9000])
    return copy


SIGNED = {
    "id",
    "rawId",
    "clientDataJSON",
    "authenticatorData",
    "signature",
    "userHandle",
    "attestationObject",
}


def noise(chance):
    odd = ["", "null", "[]", "{}", "7", '"a"', "[" * 9000, chance.randbytes(200).decode("latin-1")]
    return chance.choice(odd)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "Passkeys need a fixed address. Set PUBLIC_URL"),
        ("http://chat.example.com", "Passkeys need https, and PUBLIC_URL is http://chat.example.com."),
        ("https://192.0.2.7", "Passkeys need a host name, and PUBLIC_URL is https://192.0.2.7."),
    ],
)
def test_an_address_that_passkeys_cannot_be_bound_to_is_said(make_runtime, password_hash, url, reason):
    runtime = make_runtime(public_url=url)
    runtime.people.operators.create(EMAIL, password_hash)
    browser = Browser(make_app(runtime))
    shown = browser.get("/admin/login").text
    assert "passkey" not in shown
    form = {"csrf_token": token_of(browser, "/admin/login")}
    answer = browser.http.post("/admin/login/passkey/options", data=form)
    assert (answer.status_code, answer.json["error"]["message"][: len(reason)]) == (422, reason)
    if not url.startswith("https"):
        log_in(browser)
        assert reason in browser.get("/admin/account").text
        assert reason in browser.get("/admin/account/passkeys/new").text


def test_an_owner_who_turns_a_second_factor_off_removes_the_passkeys_too(
    app, runtime, operator_id, password_hash
):
    ben = runtime.people.operators.create(OTHER, password_hash, Role.VIEWER)
    runtime.people.passkeys.add(ben, "AAAA", "AAAA", "AAAA", "Lost")
    browser = Browser(app)
    log_in(browser)
    page = f"/admin/settings/people/{ben}"
    assert browser.send(page, {}, f"{page}/second-factor/off").status_code == 302
    assert not runtime.people.operators.get(ben).has_second_factor


def test_its_pages_are_readable_everywhere(browser, tab, public_url, registered):
    def look(name, path, cookies=(), before=None):
        for size, scheme in RULES:
            with opened(browser, public_url, size, scheme, cookies) as shown:
                if before:
                    before(shown)
                else:
                    shown.goto(path)
                check(shown, name, size, scheme)

    look("login_passkey", "/admin/login")
    look("login_code_passkey", "", before=enter)
    use_passkey(tab)
    tab.wait_for_url("**/admin/")
    cookies = tab.context.cookies()
    look("account_passkeys", "/admin/account", cookies)
    look("passkey_new", "/admin/account/passkeys/new", cookies)


def posted_elsewhere(tab, address, fields=None, *, create=False, **changes):
    """What the device answers to the options of an address, with other options than the page would use."""
    return tab.evaluate(
        """async ([address, fields, create, changes]) => {
          const body = new FormData();
          body.set("csrf_token", document.querySelector("[name=csrf_token]").value);
          for (const [name, value] of Object.entries(fields)) body.set(name, value);
          const options = Object.assign(await (await fetch(address, { method: "POST", body })).json(), changes);
          const parse = create ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
          const asked = { publicKey: PublicKeyCredential[parse](options) };
          return JSON.stringify(await navigator.credentials[create ? "create" : "get"](asked));
        }""",
        [address, fields or {}, create, changes],
    )


def send_answer(tab, address, answer, token=None):
    """Send a form by hand; returns where it led."""
    with tab.expect_navigation():
        tab.evaluate(
            """([address, credential, token]) => {
              const form = Object.assign(document.createElement("form"), { method: "post", action: address });
              token ??= document.querySelector("[name=csrf_token]").value;
              for (const [name, value] of Object.entries({ csrf_token: token, credential }))
                form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
              document.body.append(form);
              form.submit();
            }""",
            [address, answer, token],
        )
    return tab.url
