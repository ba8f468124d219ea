"""Single sign-on with a real provider of OpenID Connect, in a real browser."""

import re
from contextlib import contextmanager

import pytest

from server.domain.roles import Role
from server.storage.people.operators import LinkKind
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.people.test_recent import age
from tests.admin.tabs import EXPECTED, SIZES, opened
from tests.admin.test_look import RULES, check, check_layout
from tests.server_fixtures import missing
from tests.servers import MissingProgram, free_port, openid_provider, web_server

ADDRESS = "/admin/login/sso/callback"
SIGN_ON = "Log in with Example"


@pytest.fixture(scope="module")
def provider():
    """(issuer, port that the dashboard has to have)."""
    port = free_port()
    try:
        with openid_provider(f"http://localhost:{port}{ADDRESS}") as issuer:
            yield issuer, port
    except MissingProgram as error:
        missing(error)


@pytest.fixture
def open_dashboard(make_runtime, provider, tab):
    """Serves a dashboard with other settings than these; yields its runtime."""

    @contextmanager
    def serve(**settings):
        issuer, port = provider
        given = {
            "public_url": f"http://localhost:{port}",
            "oidc_issuer": issuer,
            "oidc_client_id": "docent",
            "oidc_client_secret": "a-secret",
            "oidc_label": SIGN_ON,
            **settings,
        }
        runtime = make_runtime(**given)
        with web_server(make_app(runtime), port):
            yield runtime
            tab.wait_for_load_state("networkidle")

    return serve


@pytest.fixture
def tab(browser, provider):
    expected = (*EXPECTED, "status of 403")
    with opened(browser, f"http://localhost:{provider[1]}", "desk", "light", expected=expected) as tab:
        # The pages of the provider want a typeface from elsewhere.
        tab.context.route(
            re.compile(r"^https:"), lambda route: route.fulfill(content_type="text/css", body="")
        )
        yield tab


def sign_in(tab, email, page="/admin/login"):
    tab.goto(page)
    prove(tab, email)


def prove(tab, email, *, is_first=True):
    tab.get_by_role("link", name=SIGN_ON).click()
    tab.get_by_placeholder("Enter any login").fill(email)
    tab.get_by_placeholder("and password").fill("anything")
    tab.get_by_role("button", name="Sign-in").click()
    if is_first:
        tab.get_by_role("button", name="Continue").click()
    tab.wait_for_url("http://localhost:*/admin/**")


def refusals(runtime):
    noted = [one.details for one in runtime.people.audit.recent(100) if one.action == "was refused"]
    return [details["says"] for details in noted if details["reason"] == "single sign-on"]


def actions(runtime, email):
    return [one.action for one in runtime.people.audit.recent(100, operator=email)]


def test_an_invitation_is_accepted_by_signing_in(tab, open_dashboard):
    with open_dashboard() as runtime:
        runtime.people.links.invite("Dora@example.com", Role.EDITOR, EMAIL)
        sign_in(tab, "dora@example.com", "/admin/conversations?days=7")
        assert tab.url.endswith("/admin/conversations?days=7")
        dora = runtime.people.operators.find("dora@example.com")
        assert dora.role is Role.EDITOR
        assert runtime.people.links.open() == []
        done = ["logged in", "linked an account of single sign-on", "got an account by single sign-on"]
        assert actions(runtime, dora.email) == done


def test_an_account_is_linked_by_its_verified_address_and_found_by_its_id(
    tab, open_dashboard, password_hash, provider
):
    with open_dashboard() as runtime:
        ada = runtime.people.operators.create(EMAIL, password_hash)
        sign_in(tab, EMAIL)
        assert tab.goto("/admin/").ok
        assert runtime.people.identities.use(provider[0], EMAIL) == ada
        tab.get_by_role("button", name="Account", exact=True).click()
        tab.get_by_role("button", name="Log out").click()
        tab.get_by_role("link", name=SIGN_ON).click()
        tab.wait_for_url("http://localhost:*/admin/")
        assert actions(runtime, EMAIL).count("linked an account of single sign-on") == 1


def test_nobody_gets_an_account_without_an_invitation_or_a_rule(tab, open_dashboard):
    with open_dashboard() as runtime:
        sign_in(tab, "stranger@example.com")
        assert "has no account here" in tab.locator(".notice.problem").first.inner_text()
        assert refusals(runtime) == [
            "stranger@example.com has no account here. Ask an owner for an invitation."
        ]
        assert runtime.people.operators.count() == 0
        assert tab.goto("/admin/").url.endswith("/admin/login?next=/admin/")


@pytest.mark.parametrize(
    ("email", "role"),
    [
        ("eve@example.com", Role.VIEWER),
        ("chief@EXAMPLE.com", Role.OWNER),
        ("eve@sub.example.com", None),
        ("eve@other.example", None),
    ],
)
def test_rules_of_domains_and_groups_give_roles(tab, open_dashboard, email, role):
    rules = "@Example.com = viewer, admins=owner, Staff=owner"
    with open_dashboard(oidc_roles=rules) as runtime:
        sign_in(tab, email)
        found = runtime.people.operators.find(email)
        assert (found and found.role) == role


def test_an_address_that_is_not_verified_opens_nothing(tab, open_dashboard, password_hash):
    with open_dashboard() as runtime:
        runtime.people.operators.create("unverified@example.com", password_hash)
        sign_in(tab, "unverified@example.com")
        assert refusals(runtime) == [
            "The provider has not verified the e-mail address unverified@example.com."
        ]
        assert runtime.people.sessions.counts() == {}


def test_a_second_factor_of_the_account_is_asked_for(tab, open_dashboard, password_hash):
    with open_dashboard() as runtime:
        ada = runtime.people.operators.create(EMAIL, password_hash)
        sealed = runtime.configuration.seal.close("JBSWY3DPEHPK3PXP")
        runtime.people.operators.set_second_factor(ada, sealed, 0, ["abcde-fghjk"])
        sign_in(tab, EMAIL)
        assert tab.url.endswith("/admin/login/code")
        assert tab.goto("/admin/").url.endswith("next=/admin/")
        tab.goto("/admin/login/code")
        tab.get_by_label("Code").fill("abcde-fghjk")
        tab.get_by_role("button", name="Log in").click()
        tab.wait_for_url("**/admin/")


def test_somebody_who_cancels_is_told_so(tab, open_dashboard):
    with open_dashboard() as runtime:
        tab.goto("/admin/login")
        tab.get_by_role("link", name=SIGN_ON).click()
        tab.get_by_role("link", name="Cancel").click()
        tab.wait_for_url("http://localhost:*/admin/login")
        assert refusals(runtime) == ["The provider did not let you in (access_denied)."]


def test_a_wrong_client_secret_is_said(tab, open_dashboard):
    with open_dashboard(oidc_client_secret="another") as runtime:
        sign_in(tab, EMAIL)
        assert refusals(runtime) == ["The provider at 127.0.0.1 answered 401 (invalid_client)."]


def test_a_provider_in_a_private_network_is_not_asked_unless_that_is_permitted(tab, open_dashboard, provider):
    empty = {"oidc_issuer": "", "oidc_client_id": "", "oidc_client_secret": ""}
    with open_dashboard(**empty) as runtime:
        typed = {"oidc_issuer": provider[0], "oidc_client_id": "docent"}
        runtime.configuration.live.change(typed, EMAIL)
        tab.goto("/admin/login")
        tab.get_by_role("link", name=SIGN_ON).click()
        tab.get_by_text("The provider was not asked").wait_for()
        assert "127.0.0.1 is a loopback address" in refusals(runtime)[0]


def test_without_passwords_people_sign_in_and_a_link_still_opens_for_whoever_is_locked_out(
    tab, open_dashboard, password_hash
):
    with open_dashboard(password_login=False) as runtime:
        ada = runtime.people.operators.create(EMAIL, password_hash)
        tab.goto("/admin/login")
        assert tab.get_by_label("Password").count() == 0
        browser = Browser(make_app(runtime))
        form = {"email": EMAIL, "password": PASSWORD}
        answer = browser.send("/admin/login", form)
        assert (answer.status_code, answer.location) == (302, "/admin/login")
        assert browser.get("/admin/").status_code == 302
        invitation = runtime.people.links.invite("dora@example.com", Role.EDITOR, "ben@example.com")
        tab.goto(f"/admin/welcome?token={invitation}")
        assert "Log in with single sign-on" in tab.locator(".notice.problem").inner_text()
        link = runtime.people.links.reset(ada, EMAIL, Role.OWNER, "the shell")
        chosen = {"password": "another long phrase", "again": "another long phrase", "token": link}
        answer = browser.send(f"/admin/new-password?token={link}", chosen, "/admin/new-password")
        assert answer.location == "/admin/"
        assert browser.get("/admin/").status_code == 200
        assert [one.kind for one in runtime.people.links.open()] == [LinkKind.INVITE]
        sign_in(tab, "dora@example.com")
        assert runtime.people.operators.find("dora@example.com").role is Role.EDITOR


def test_an_owner_sets_it_up_on_the_dashboard(browser, tab, open_dashboard, password_hash, provider):
    empty = {"oidc_issuer": "", "oidc_client_id": "", "oidc_client_secret": ""}
    with open_dashboard(**empty, private_hosts="127.0.0.1") as runtime:
        runtime.people.operators.create(EMAIL, password_hash)
        tab.goto("/admin/login")
        assert tab.get_by_role("link", name=SIGN_ON).count() == 0
        tab.get_by_label("E-mail").fill(EMAIL)
        tab.get_by_label("Password").fill(PASSWORD)
        tab.get_by_role("button", name="Log in", exact=True).click()
        tab.goto("/admin/settings/sign-on")
        assert tab.locator("#callback").inner_text() == f"http://localhost:{provider[1]}{ADDRESS}"
        tab.get_by_label("Issuer").fill(provider[0])
        tab.get_by_role("button", name="Save").click()
        assert "Client id must be set" in tab.locator("[role=alert]").inner_text()
        tab.get_by_label("Issuer").fill(provider[0] + "/elsewhere")
        tab.get_by_label("Client id").fill("docent")
        tab.get_by_role("button", name="Test the provider").click()
        assert "answered 404" in tab.locator("#oidc_issuer-error").inner_text()
        tab.get_by_label("Issuer").fill(provider[0])
        tab.get_by_role("button", name="Test the provider").click()
        tab.get_by_text("The provider answers.").wait_for()
        tab.get_by_label("Client secret", exact=True).fill("a-secret")
        tab.get_by_role("button", name="Save").click()
        tab.get_by_text("Saved.").wait_for()
        cookies = tab.context.cookies()
        for size, scheme in RULES:
            with opened(browser, f"http://localhost:{provider[1]}", size, scheme, cookies) as shown:
                for name, path in LOOKED_AT.items():
                    shown.goto(path)
                    check(shown, name, size, scheme)
                    shown.context.clear_cookies()
        tab.get_by_role("button", name="Account", exact=True).click()
        tab.get_by_role("button", name="Log out").click()
        sign_in(tab, EMAIL)
        assert actions(runtime, EMAIL)[0] == "logged in"
        runtime.configuration.live.change({"password_login": "0"}, EMAIL)
        with opened(browser, f"http://localhost:{provider[1]}", "desk", "light") as shown:
            shown.goto("/admin/login")
            check_layout(shown, "login_sign_on_alone", "desk", "light")


LOOKED_AT = {"settings_sign_on": "/admin/settings/sign-on", "login_sign_on": "/admin/login"}


def test_an_account_of_single_sign_on_has_no_password_that_anybody_knows(tab, open_dashboard):
    with open_dashboard() as runtime:
        runtime.people.links.invite("dora@example.com", Role.EDITOR, EMAIL)
        sign_in(tab, "dora@example.com")
        for password in ("", "no operator has this password", "dora@example.com"):
            assert log_in(Browser(make_app(runtime)), password, "dora@example.com").status_code == 422


def test_who_has_no_password_confirms_at_the_provider_who_it_is(tab, open_dashboard):
    def make_key():
        tab.goto("/admin/settings/api-keys")
        tab.get_by_label("What it is for").fill("Reports")
        tab.get_by_role("checkbox").first.check()
        tab.get_by_role("button", name="Create key").click()

    with open_dashboard() as runtime:
        runtime.people.links.invite("eva@example.com", Role.OWNER, EMAIL)
        sign_in(tab, "eva@example.com")
        age(runtime)
        make_key()
        for size, scheme in (*RULES, ("phone", "dark"), ("desk", "light")):
            width, height = SIZES[size]
            tab.set_viewport_size({"width": width, "height": height})
            tab.emulate_media(color_scheme=scheme)
            (check if (size, scheme) in RULES else check_layout)(tab, "confirm_sign_on", size, scheme)
        assert runtime.people.api_keys.all() == []
        prove(tab, "eva@example.com", is_first=False)
        assert tab.url.endswith("/admin/settings/api-keys")
        make_key()
        assert [key.name for key in runtime.people.api_keys.all()] == ["Reports"]
