"""Every role against every route: what it may not, it cannot, and nothing is changed by trying."""

import pytest

from admin.people.sessions import log_in as start_session
from admin.table import PAGES
from server.domain.roles import Role
from server.storage.content.sources import source_id
from tests.admin.conftest import Browser, log_in
from tests.admin.routes import PUBLIC, VALUES, digest, rules, token_of

ROLE_OF = {f"admin.{route.endpoint}": route.role for page in PAGES for route in page.routes}
OWN_ACCOUNT = "/admin/account"
EMAILS = {role: f"{role.value}@example.com" for role in Role}

OWNERS = (
    "/settings",
    "/sites/<site_id>/remove",
    "/sites/<site_id>/export",
    "/sites/<site_id>/start/model",
    "/new-site/import",
)


@pytest.fixture
def people(runtime, password_hash):
    return {role: runtime.people.operators.create(EMAILS[role], password_hash, role) for role in Role}


@pytest.fixture
def browser_of(app, people):
    """A browser in which somebody of this role is logged in."""

    def make(role):
        browser = Browser(app)
        assert log_in(browser, email=EMAILS[role]).status_code == 302
        return browser

    return make


def test_the_roles_of_the_routes_are_as_people_are_told():
    """Not read from the code that is tested: owners alone have settings, models, people, and sites that go, are
    exported or are imported; viewers send no form but those of their own account."""
    for page in PAGES:
        for route in page.routes:
            name = f"{route.method} {route.rule}"
            if page.public:
                continue
            if route.rule.startswith(OWNERS):
                assert route.role is Role.OWNER, name
            elif route.method == "POST" and not route.rule.startswith("/account"):
                assert route.role is Role.EDITOR, name
            else:
                assert route.role in (Role.VIEWER, Role.EDITOR), name


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_what_a_role_may_not_it_cannot_and_nothing_changes(app, runtime, busy, browser_of, role):
    browser = browser_of(role)
    token = token_of(browser)
    before = digest(runtime)
    refused = 0
    for method in ("GET", "POST"):
        for endpoint, path, _ in rules(app, method):
            if endpoint in PUBLIC or role.may(ROLE_OF[endpoint]):
                continue
            data = {
                "csrf_token": token,
                "role": "owner",
                "email": "x@example.com",
                "url": "https://x.example/",
            }
            answer = browser.http.open(path, method=method, data=data if method == "POST" else None)
            assert answer.status_code == 403, (method, path)
            refused += 1
    assert refused > 20
    assert digest(runtime) == before


@pytest.mark.parametrize("role", list(Role))
def test_a_role_opens_every_page_that_it_may(app, runtime, busy, browser_of, role):
    browser = browser_of(role)
    opened = 0
    for endpoint, path, _ in rules(app, "GET"):
        if endpoint in PUBLIC or not role.may(ROLE_OF[endpoint]):
            continue
        status = browser.get(path).status_code
        assert status in (200, 302, 404), (path, status)
        opened += status == 200
    assert opened > 20


def test_no_get_changes_anything_even_for_an_owner(app, runtime, busy, browser_of):
    browser = browser_of(Role.OWNER)
    kept = ("operator_sessions", "audit")  # what was exported is noted
    before, changing = digest(runtime, kept), []
    for endpoint, path, _ in rules(app, "GET"):
        if endpoint not in PUBLIC:
            browser.get(path)
            if (after := digest(runtime, kept)) != before:
                changing.append(path)
                before = after
    assert changing == []


def test_forms_without_a_token_or_without_a_login_change_nothing(app, runtime, busy, browser_of):
    owner, stranger = browser_of(Role.OWNER), Browser(app)
    before = digest(runtime)
    for endpoint, path, _ in rules(app, "POST"):
        assert owner.http.post(path, data={}).status_code == 400, path
        if endpoint not in PUBLIC:
            assert stranger.http.post(path, data={}).status_code == 302, path
    assert digest(runtime) == before


def test_pages_hide_what_would_be_refused(app, runtime, busy, browser_of):
    """No page of a viewer has a form that sends anything, but the one to log out and the own account."""
    browser, offering = browser_of(Role.VIEWER), []
    for endpoint, path, _ in rules(app, "GET"):
        if endpoint in PUBLIC or not Role.VIEWER.may(ROLE_OF[endpoint]) or path.startswith(OWN_ACCOUNT):
            continue
        shown = browser.get(path)
        if shown.status_code == 200 and shown.mimetype == "text/html":
            opening = [part.split(">")[0] for part in shown.text.split("<form")[1:]]
            sent = [one for one in opening if 'method="post"' in one and "/admin/logout" not in one]
            offering += [f"{path}: {one.strip()[:90]}" for one in sent]
    assert offering == [], "\n".join(offering)


def test_the_menu_shows_settings_to_owners_only(busy, browser_of):
    for role in Role:
        assert ("/admin/settings" in browser_of(role).get("/admin/").text) is (role is Role.OWNER)


def test_an_object_of_another_site_is_not_found(app, runtime, busy, browser_of):
    """Under the address of the site docs stand objects of the shop: none is shown, none is changed."""
    browser = browser_of(Role.OWNER)
    token = token_of(browser)
    # Real ids of the shop; the other site has none of them.
    real = {"source_id": source_id("file", "guide.md"), "crawl_id": 1, "earlier_id": 2}
    values = {**VALUES, **real, "site_id": "docs"}
    kept = ("operator_sessions", "audit")
    before = digest(runtime, kept)
    looked = 0
    for method in ("GET", "POST"):
        for _, path, names in rules(app, method, values):
            if "site_id" not in names or len(names) == 1:
                continue
            answer = browser.http.open(
                path, method=method, data={"csrf_token": token} if method == "POST" else None
            )
            # What is gone already needs no removal: that form leads back to the list.
            assert answer.status_code in ((404,) if method == "GET" else (404, 302)), (method, path)
            looked += 1
    assert looked > 15
    assert digest(runtime, kept) == before


def test_ids_that_open_something_cannot_be_guessed(app, runtime, busy, people):
    """Sessions, links, keys, conversations, messages: 128 random bits or more; never a number in a row."""
    with app.test_request_context():
        start_session(people[Role.OWNER])
    ids = [one.id for one in runtime.people.sessions.of(people[Role.OWNER])]
    ids += [runtime.people.links.invite("x@example.com", Role.VIEWER, "a")]
    ids += [runtime.people.api_keys.create("k", [], "a")[1].removeprefix("docent_")]
    ids += [busy.conversation_id, busy.message_id, runtime.dialogue.conversations.start("lantern", "v")]
    ids += [runtime.delivery.webhooks.add("https://x.example/", "s", [], None)]
    assert all(len(id) >= 32 for id in ids), ids
    assert len({id[:8] for id in ids}) == len(ids)
