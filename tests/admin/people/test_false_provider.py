"""A provider that is wrong, hostile, huge or slow logs nobody in: each time with a reason, and an entry in the
audit log."""

import base64
import hashlib
import hmac
import json
import time
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest

from server.domain.roles import Role
from server.guards import openid
from tests.admin.conftest import EMAIL, Browser, make_app
from tests.admin.people.false_provider import ANOTHER_KEY, KEY, FalseProvider, public, signed

REDIRECT = "http://localhost:8000/admin/login/sso/callback"


@pytest.fixture
def provider():
    made = FalseProvider()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def runtime(make_runtime, provider, password_hash):
    runtime = make_runtime(
        public_url="http://localhost:8000",
        private_hosts="127.0.0.1",
        oidc_issuer=provider.issuer,
        oidc_client_id="docent",
        oidc_client_secret="a secret/with: signs",
    )
    runtime.people.operators.create(EMAIL, password_hash)
    return runtime


def begin(browser, provider, **query):
    """Start to sign in; returns what the browser is sent to the provider with."""
    answer = browser.http.get("/admin/login/sso", query_string={"next": "/admin/health", **query})
    asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.location).query).items()}
    provider.nonce = asked["nonce"]
    return asked


def come_back(browser, state, **query):
    query = {"code": "c0de", "state": state, **query}
    return browser.http.get("/admin/login/sso/callback", query_string=query)


def attempt(browser, provider):
    return come_back(browser, begin(browser, provider)["state"])


def refusals(runtime):
    noted = [one.details for one in runtime.people.audit.recent(100) if one.action == "was refused"]
    return [details["says"] for details in noted if details["reason"] == "single sign-on"]


def test_what_is_right_logs_in_by_the_code_flow_with_pkce(app, runtime, provider):
    browser = Browser(app)
    asked = begin(browser, provider)
    answer = come_back(browser, asked["state"], iss=provider.issuer)
    assert answer.location == "/admin/health"
    assert browser.get("/admin/").status_code == 200
    assert asked["redirect_uri"] == REDIRECT
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    form = next(form for path, form in provider.asked if path == "/token")
    digest = hashlib.sha256(form["code_verifier"][0].encode()).digest()
    assert asked["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert form["redirect_uri"] == [REDIRECT]
    assert "client_secret" not in form, "it is in the header"
    assert refusals(runtime) == []


def test_a_provider_that_says_it_did_not_ask_again_confirms_nothing(app, runtime, provider):
    def confirm(**claims):
        provider.claims = claims
        browser = Browser(app)
        asked = begin(browser, provider, again="1")
        assert (asked["prompt"], asked["max_age"]) == ("login", "0")
        return come_back(browser, asked["state"]).location

    assert confirm(auth_time=int(time.time()) - 3600) == "/admin/login"
    assert refusals(runtime) == ["The provider did not ask who you are. Log out there, and try again."]
    assert confirm(auth_time=int(time.time())) == "/admin/health"
    assert confirm() == "/admin/health", "some providers do not say when they asked"
    provider.claims = {"auth_time": int(time.time()) - 3600}
    assert attempt(Browser(app), provider).location == "/admin/health", "a login may be an older one's"


def test_a_provider_that_takes_the_secret_in_the_form_gets_it_there(app, provider):
    provider.discovery = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert attempt(Browser(app), provider).location == "/admin/health"
    form = next(form for path, form in provider.asked if path == "/token")
    assert form["client_secret"] == ["a secret/with: signs"]


def unsigned(claims):
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return ".".join(part_of(json.dumps(part).encode()) for part in parts) + "."


def signed_with_the_public_key(claims):
    """What a verifier takes that lets the token choose between keys and shared secrets."""
    header = {"alg": "HS256", "kid": "k1"}
    message = ".".join(part_of(json.dumps(part).encode()) for part in (header, claims))
    secret = json.dumps(public(KEY)).encode()
    return f"{message}.{part_of(hmac.new(secret, message.encode(), hashlib.sha256).digest())}"


def part_of(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


WRONG_TOKENS = {
    "wrong signature": (
        {"sign": lambda claims: signed(claims, ANOTHER_KEY)},
        "is not signed with one of its keys",
    ),
    "unknown key": ({"sign": lambda claims: signed(claims, kid="k2")}, "is not signed with one of its keys"),
    "alg none": ({"sign": unsigned}, "is signed with 'none', which is not accepted"),
    "public key as secret": ({"sign": signed_with_the_public_key}, "is signed with 'HS256'"),
    "no token": ({"sign": lambda claims: "nothing"}, "sent no ID token"),
    "own key in the header": (
        {"sign": lambda claims: signed(claims, ANOTHER_KEY, jwk=public(ANOTHER_KEY))},
        "is not signed with one of its keys",
    ),
    "wrong audience": ({"claims": {"aud": "another"}}, "is meant for another client"),
    "another authorized party": (
        {"claims": {"aud": ["docent", "x"], "azp": "x"}},
        "is meant for another client",
    ),
    "wrong issuer": ({"claims": {"iss": "https://evil.example"}}, "is not right"),
    "expired": ({"claims": {"exp": 1_700_000_000}}, "has expired"),
    "no expiry": ({"claims": {"exp": None}}, "is not right"),
    "of the future": ({"claims": {"iat": time.time() + 7200}}, "is not right"),
    "wrong nonce": ({"claims": {"nonce": "another"}}, "belongs to another sign-in"),
    "no nonce": ({"claims": {"nonce": None}}, "belongs to another sign-in"),
    "empty subject": ({"claims": {"sub": ""}}, "does not say who it is about"),
    "unverified mail": ({"claims": {"email_verified": False}}, "has not verified the e-mail address"),
    "verified in words": ({"claims": {"email_verified": "yes"}}, "has not verified the e-mail address"),
    "verified unsaid": ({"claims": {"email_verified": None}}, "has not verified the e-mail address"),
    "no mail": ({"claims": {"email": ["ada@example.com"]}}, "does not say an e-mail address"),
    "another person's mail": (
        {"claims": {"email": None}, "documents": {"/me": {"sub": "sub-2", "email": EMAIL}}},
        "are about different people",
    ),
    "another issuer": ({"discovery": {"issuer": "https://evil.example"}}, "which is not the issuer"),
    "no keys": ({"documents": {"/jwks": {"keys": []}}}, "keys cannot be read"),
    "keys of nonsense": ({"documents": {"/jwks": {"keys": ["a", {"kty": 7}]}}}, "keys cannot be read"),
    "no JSON": ({"documents": {"/token": b"<html>"}}, "answered 200 (no JSON object)"),
    "deep JSON": ({"documents": {"/jwks": b"[" * 200_000}}, "answered 200 (no JSON object)"),
    "huge": ({"documents": {"/jwks": b" " * 600_000}}, "answered more than 500,000 bytes"),
    "no token address": ({"discovery": {"token_endpoint": 7}}, "does not say its token_endpoint"),
    "an address that is none": ({"discovery": {"token_endpoint": "file:///etc/passwd"}}, "without https"),
    "a metadata address": (
        {"discovery": {"token_endpoint": "http://169.254.169.254/latest"}},
        "a link-local or metadata address",
    ),
}


@pytest.mark.parametrize("case", WRONG_TOKENS)
def test_what_is_wrong_is_refused_and_noted(app, runtime, provider, case):
    changes, reason = WRONG_TOKENS[case]
    browser = Browser(app)
    state = begin(browser, provider)["state"]
    for name, value in changes.items():
        setattr(provider, name, value)
    assert come_back(browser, state).location == "/admin/login"
    assert reason in browser.get("/admin/login").text.replace("&#39;", "'")
    assert [reason in said for said in refusals(runtime)] == [True]
    assert browser.get("/admin/").status_code == 302
    assert runtime.people.sessions.counts() == {}
    assert runtime.people.identities.use(provider.issuer, "sub-1") is None


def test_redirects_are_not_followed(app, runtime, provider):
    def lead_away(handler):
        handler.send_response(302)
        handler.send_header("Location", f"{provider.issuer}/elsewhere")
        handler.end_headers()

    provider.documents["/jwks"] = lead_away
    attempt(Browser(app), provider)
    assert "answered 302" in refusals(runtime)[0]
    assert "/elsewhere" not in [path for path, _ in provider.asked]


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/jwks"])
def test_a_slow_answer_is_cut_off(app, runtime, provider, monkeypatch, path):
    monkeypatch.setattr(openid, "TIMEOUT_S", 1.0)

    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return
            time.sleep(0.1)

    browser = Browser(app)
    state = begin(browser, provider)["state"]
    provider.documents[path] = drip
    started = time.monotonic()
    assert come_back(browser, state).location == "/admin/login"
    assert time.monotonic() - started < 8
    assert refusals(runtime) == ["The provider at 127.0.0.1 did not answer within 1 s."]


def test_a_provider_that_is_away_is_said(app, runtime, provider):
    secret = {"oidc_client_secret": "another"}
    runtime.configuration.live.change({"oidc_issuer": "http://127.0.0.1:9", **secret}, EMAIL)
    browser = Browser(app)
    assert browser.get("/admin/login/sso").location == "/admin/login"
    assert refusals(runtime) == ["The provider at 127.0.0.1 cannot be reached."]
    runtime.configuration.live.change({"oidc_issuer": "https://nowhere.invalid", **secret}, EMAIL)
    assert browser.get("/admin/login/sso").location == "/admin/login"
    assert "nowhere.invalid was not found" in refusals(runtime)[0]


@pytest.mark.parametrize("state", ["", "another"])
def test_an_answer_that_this_browser_did_not_ask_for_is_refused(app, runtime, provider, state):
    browser = Browser(app)
    begin(browser, provider)
    assert come_back(browser, state).location == "/admin/login"
    assert refusals(runtime) == ["The provider answered another sign-in than this one. Log in again."]
    stranger = Browser(app)
    assert come_back(stranger, begin(browser, provider)["state"]).location == "/admin/login"
    assert "started in another browser" in refusals(runtime)[0]
    assert "/token" not in [path for path, _ in provider.asked], "no code was sent anywhere"


def test_an_answer_is_taken_once(app, runtime, provider):
    browser, thief = Browser(app), Browser(app)
    state = begin(browser, provider)["state"]
    copied = browser.http.get_cookie("docent_operator", path="/admin").value
    assert come_back(browser, state).location == "/admin/health"
    thief.http.set_cookie("docent_operator", copied, path="/admin")
    assert come_back(thief, state).location == "/admin/login"
    assert refusals(runtime) == ["This sign-in was already used. Log in again."]


def test_an_answer_of_another_provider_is_refused(app, runtime, provider):
    browser = Browser(app)
    state = begin(browser, provider)["state"]
    come_back(browser, state, iss="https://evil.example")
    assert refusals(runtime) == ["The answer comes from another provider."]


def test_an_address_that_the_provider_gave_to_somebody_else_does_not_open_the_account(app, runtime, provider):
    assert attempt(Browser(app), provider).location == "/admin/health"
    provider.claims = {"sub": "sub-2"}
    assert attempt(Browser(app), provider).location == "/admin/login"
    assert "belongs to somebody else at the provider" in refusals(runtime)[0]


def test_a_linked_account_is_found_although_the_address_changed(app, runtime, provider):
    assert attempt(Browser(app), provider).location == "/admin/health"
    provider.claims = {"email": "ada.new@example.com"}
    assert attempt(Browser(app), provider).location == "/admin/health"
    assert runtime.people.operators.count() == 1


def test_a_removed_account_opens_nothing(app, runtime, provider, password_hash):
    runtime.people.operators.create("owner@example.com", password_hash)
    assert attempt(Browser(app), provider).location == "/admin/health"
    runtime.people.operators.remove(runtime.people.operators.find(EMAIL).id)
    assert attempt(Browser(app), provider).location == "/admin/login"
    assert "has no account here" in refusals(runtime)[0]


def test_an_expired_invitation_is_none(app, runtime, provider, monkeypatch):
    runtime.people.links.invite("dora@example.com", Role.EDITOR, EMAIL)
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("UPDATE operator_links SET ends_at = '2020-01-01 00:00:00'")
    provider.claims = {"email": "dora@example.com"}
    assert attempt(Browser(app), provider).location == "/admin/login"
    assert "has no account here" in refusals(runtime)[0]


def test_tries_are_rate_limited_before_anything_is_asked_or_noted(make_runtime, provider):
    runtime = make_runtime(
        login_limit="3/minute",
        private_hosts="127.0.0.1",
        oidc_issuer=provider.issuer,
        oidc_client_id="docent",
    )
    browser = Browser(make_app(runtime))
    for _ in range(9):
        come_back(browser, "x")
        browser.get("/admin/login/sso")
    assert len(provider.asked) + len(refusals(runtime)) == 3


def test_what_leads_back_never_leads_elsewhere(app, provider):
    browser = Browser(app)
    answer = browser.http.get("/admin/login/sso", query_string={"next": "//evil.example/"})
    asked = parse_qs(urlsplit(answer.location).query)
    provider.nonce = asked["nonce"][0]
    assert come_back(browser, asked["state"][0]).location == "/admin/"


def test_answers_of_nonsense_never_break_the_server(app, runtime, provider):
    """Structure-aware: each document of the provider with parts replaced, cut or turned to noise."""
    chance = Random(11)
    runtime.configuration.live.change({"login_limit": "100000/minute", "oidc_roles": "a=viewer"}, EMAIL)
    for _ in range(300):
        browser = Browser(app)
        provider.documents, provider.claims = {}, {}
        state = begin(browser, provider)["state"]
        path = chance.choice(["/.well-known/openid-configuration", "/token", "/jwks", "/me", "claims"])
        if path == "claims":
            provider.claims = altered(
                {"sub": "", "aud": "", "email": "", "groups": "", "azp": "", "exp": 1}, chance
            )
        else:
            provider.claims = {"email": None} if path == "/me" else {}
            document = altered(provider.right(path), chance)
            text = json.dumps(document).encode()
            provider.documents[path] = (
                text[: chance.randrange(len(text))] if chance.random() < 0.2 else document
            )
        assert come_back(browser, state).status_code == 302, (path, provider.documents, provider.claims)


def altered(document, chance):
    odd = [None, 0, -1, 1e400, "", "é" * 500, [], [[]], {}, {"a": 1}, True, "http://[", "http://127.0.0.1:1/"]
    name = chance.choice(list(document))
    return {**document, name: chance.choice(odd)}
