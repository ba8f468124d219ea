"""People who were given some sites: nothing of another site is shown, counted or changed, on any route."""

import re
from html import unescape

import pytest

from admin.visible import OWN, SITE_OF
from server.domain.roles import Role
from server.storage.content.sources import source_id
from tests.admin import routes, samples_playground, samples_sites
from tests.admin.conftest import Browser, log_in
from tests.admin.overview.test_overview import figures_of
from tests.admin.routes import PUBLIC, digest, rules, token_of

LIMITED = (Role.VIEWER, Role.EDITOR)
FOREIGN = re.compile(
    r"lantern|atlas|glow|parcel|warranty|lamp[ -]care|returns|radios|vera@|islands|الجزر", re.IGNORECASE
)
"""Words of the other sites of the fixture `busy`, whose pages, questions and people are about lamps."""
TYPED = re.compile(r'placeholder="[^"]*"|value="parcel"|[?&;](?:search|next)=[^"&]*')
"""Examples in empty fields, and what was asked for itself."""
FILTERS = (
    "?site=lantern",
    "?days=90",
    "?search=parcel",
    "?status=all",
    "?run=sample-run",
    "?kind=timeout",
    "?show=",
)
KEPT = ("operator_sessions", "audit")


def leaks(answer, path=""):
    """Words of another site that the answer holds."""
    return FOREIGN.findall(TYPED.sub("", answer.text.replace(path, "") if path else answer.text))[:3]


@pytest.fixture
def foreign(runtime, busy):
    """Real ids of objects of the site lantern, as they stand in addresses."""
    return {
        **routes.VALUES,
        "conversation_id": busy.conversation_id,
        "request_id": busy.message_id,
        "reply_id": runtime.delivery.replies.of([busy.message_id])[busy.message_id][0][0].id,
        "gap_id": "warranty",
        "source_id": source_id("file", "guide.md"),
        "fact_id": "hours",
        "crawl_id": busy.c2,
        "earlier_id": busy.c1,
        "run_id": run_of,
    }


@pytest.fixture
def browser_of(app, runtime, password_hash):
    """A browser in which somebody who was given these sites is logged in."""

    def make(role, *sites):
        email = f"{role.value}-{'-'.join(sites)}@example.com"
        runtime.people.operators.create(email, password_hash, role, frozenset(sites) if sites else None)
        browser = Browser(app)
        assert log_in(browser, email=email).status_code == 302
        return browser

    return make


def run_of(endpoint):
    """The run of that site that an address of this kind can name."""
    if "dry_run" in endpoint:
        return samples_sites.RUN
    return 3 if "quality" in endpoint else samples_playground.RUN


@pytest.mark.parametrize("role", LIMITED)
def test_nothing_of_another_site_is_shown_or_changed(app, runtime, busy, foreign, browser_of, role):
    """Every route with objects of the site lantern, walked by somebody who was given the site docs."""
    browser = browser_of(role, "docs")
    token = token_of(browser)
    before, refused, wrong = digest(runtime, KEPT), 0, []
    for method in ("GET", "POST"):
        for endpoint, path, names in rules(app, method, foreign):
            if endpoint in PUBLIC or path.startswith("/admin/account") or endpoint == "admin.missing":
                continue
            data = {"csrf_token": token, "site": "lantern", "question": "How?", "run": samples_playground.RUN}
            answer = browser.http.open(path, method=method, data=data if method == "POST" else None)
            names_object = bool(names) and not path.startswith("/admin/settings")
            expected = (404, 403) if names_object else (200, 403, 422, 302)
            if names_object and answer.status_code == 404:
                refused += 1
            if answer.status_code not in expected or leaks(answer, path):
                wrong.append((method, path, answer.status_code, leaks(answer, path)))
            if digest(runtime, KEPT) != before:
                wrong.append((method, path, "changed a table"))
                before = digest(runtime, KEPT)
    assert wrong == []
    assert refused > (40 if role is Role.VIEWER else 110)


def test_the_same_addresses_open_for_somebody_who_was_given_the_site(app, busy, foreign, browser_of):
    """So the walk above is not refused for another reason."""
    browser, opened = browser_of(Role.EDITOR, "lantern"), 0
    for endpoint, path, names in rules(app, "GET", foreign):
        if names and endpoint not in PUBLIC and not path.startswith("/admin/settings"):
            opened += browser.get(path).status_code == 200
    assert opened > 30


@pytest.mark.parametrize("role", LIMITED)
def test_filters_of_lists_find_nothing_of_another_site(app, runtime, busy, browser_of, role):
    browser, wrong = browser_of(role, "docs"), []
    for endpoint, path, names in rules(app, "GET"):
        for query in FILTERS if endpoint not in PUBLIC and not names else ():
            answer = browser.get(path + query)
            if answer.status_code not in (200, 302, 403, 404) or leaks(answer):
                wrong.append((path + query, answer.status_code, leaks(answer)))
    assert wrong == []


def test_ids_in_queries_and_forms_open_nothing_of_another_site(runtime, busy, browser_of):
    browser = browser_of(Role.EDITOR, "docs")
    asked = runtime.dialogue.conversations.get(busy.conversation_id).messages[0].id
    for query in (f"run={samples_playground.RUN}", f"message={asked}"):
        answer = browser.get(f"/admin/playground?{query}")
        assert answer.status_code == 404
        assert leaks(answer) == []
    for query in (f"message={asked}", "gap=warranty"):
        answer = browser.get(f"/admin/sites/docs/answers/new?{query}")
        assert answer.status_code == 200
        assert leaks(answer) == []
    before = digest(runtime, KEPT)
    sent = browser.send("/admin/playground", {"site": "lantern", "question": "How long?"})
    assert sent.status_code == 422
    assert browser.get(f"/admin/sites/docs/dry-runs/{samples_sites.RUN}").status_code == 404
    assert digest(runtime, KEPT) == before


@pytest.mark.parametrize("days", [1, 7, 90])
def test_the_overview_counts_what_it_counts_for_that_site_alone(busy, browser_of, days):
    owner, limited = browser_of(Role.OWNER), browser_of(Role.VIEWER, "lantern")
    alone = owner.get(f"/admin/?days={days}&site=lantern").text
    everything = owner.get(f"/admin/?days={days}").text
    mine = limited.get(f"/admin/?days={days}").text
    values = {label: figure[1:] for label, figure in figures_of(mine).items()}
    assert values == {label: figure[1:] for label, figure in figures_of(alone).items()}
    assert incidents(mine) == incidents(alone) != incidents(everything)


def incidents(text):
    return re.findall(r'data-incidents="(\w+)"[^>]*>\s*([^<]+)', text)


def test_several_sites_are_counted_together(busy, browser_of):
    owner, limited = browser_of(Role.OWNER), browser_of(Role.VIEWER, "lantern", "docs", "atlas", "none")
    assert figures_of(limited.get("/admin/?days=90").text) == figures_of(owner.get("/admin/?days=90").text)


def test_files_hold_the_given_sites_only(busy, browser_of):
    limited = browser_of(Role.VIEWER, "docs")
    assert limited.get("/admin/conversations.jsonl").text == ""
    assert len(limited.get("/admin/conversations.csv").text.splitlines()) == 1
    assert browser_of(Role.VIEWER, "lantern").get("/admin/conversations.jsonl").text.count("\n") > 5


def test_health_names_no_other_site(runtime, busy, browser_of):
    shown = browser_of(Role.VIEWER, "docs").get("/admin/health").text
    assert "It crawls another site" in shown or "Crawls are waiting" in shown or "Nothing is waiting" in shown
    assert "docs.example was not found" in shown
    assert "Jobs in the queue" not in shown
    assert "gpt-4o-mini sent no word" not in shown


def test_somebody_without_any_site_sees_an_empty_dashboard(busy, app, browser_of, runtime, password_hash):
    browser = browser_of(Role.EDITOR, "gone")
    for endpoint, path, names in rules(app, "GET"):
        if endpoint not in PUBLIC and not names:
            assert leaks(browser.get(path)) == [], path


def test_only_who_sees_all_sites_adds_one(busy, runtime, browser_of):
    limited, editor = browser_of(Role.EDITOR, "docs"), browser_of(Role.EDITOR)
    assert limited.get("/admin/new-site").status_code == 403
    assert "Add a site" not in limited.get("/admin/sites").text
    assert editor.get("/admin/new-site").status_code == 200
    assert "Add a site" in editor.get("/admin/sites").text


def test_an_owner_sees_everything_even_with_a_list_and_a_change_applies_at_once(runtime, busy, browser_of):
    owner, editor = browser_of(Role.OWNER, "docs"), browser_of(Role.EDITOR, "docs")
    assert owner.get("/admin/sites/lantern").status_code == 200
    person = runtime.people.operators.find("editor-docs@example.com")
    path = f"/admin/settings/people/{person.id}"
    assert 'value="docs"' in owner.get(path).text
    assert owner.send(path, {"reach": "some"}, f"{path}/sites").status_code == 422
    assert owner.send(path, {"reach": "some", "sites": "nothing"}, f"{path}/sites").status_code == 422
    sent = owner.send(path, {"reach": "some", "sites": ["lantern", "atlas"]}, f"{path}/sites")
    assert sent.status_code == 302
    assert editor.get("/admin/sites/docs").status_code == 404
    assert editor.get("/admin/sites/lantern").status_code == 200
    (entry,) = runtime.people.audit.recent(1)
    assert entry.action == "changed the sites of a person"
    assert entry.details == {"person": person.email, "sites": "atlas, lantern", "before": "docs"}
    owner.send(path, {"reach": "all", "sites": ["lantern"]}, f"{path}/sites")
    assert editor.get("/admin/sites/docs").status_code == 200


def test_an_invitation_gives_its_sites(runtime, busy, app, browser_of):
    owner = browser_of(Role.OWNER)
    form = {"email": "new@example.com", "role": "editor", "reach": "some", "sites": "docs"}
    shown = owner.send("/admin/settings/people", form, "/admin/settings/people/invite")
    link = re.search(r"/admin/welcome#token=[\w-]+", shown.text)[0]
    assert "Invitation as Editor: Documentation of the lamp driver" in unescape(
        owner.get("/admin/settings/people").text
    )
    invited = Browser(app)
    word = "a long sentence of words"
    token = link.partition("=")[2]
    assert (
        invited.send(link, {"token": token, "password": word, "again": word}, "/admin/welcome").status_code
        == 302
    )
    assert invited.get("/admin/sites/docs").status_code == 200
    assert invited.get("/admin/sites/lantern").status_code == 404


def test_a_removed_site_is_taken_from_everybody(runtime, busy, password_hash):
    people = runtime.people
    limited = people.operators.create(
        "x@example.com", password_hash, Role.EDITOR, frozenset({"docs", "atlas"})
    )
    people.links.invite("y@example.com", Role.VIEWER, "a", frozenset({"docs"}))
    runtime.stores.sites.delete("docs")
    assert people.operators.get(limited).sites == {"atlas"}
    assert [link.sites for link in people.links.open() if link.email == "y@example.com"] == [frozenset()]


def test_people_of_before_see_all_sites(runtime, browser_of):
    """Whoever had an account before people could be given sites, and invitations of then."""
    with runtime.database.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO operators (email, password_hash, created_at, role) "
            "VALUES ('old@example.com', 'x', '2026-01-01', 'viewer')"
        )
    assert runtime.people.operators.find("old@example.com").visible_sites is None


def test_every_kind_of_object_has_its_site_looked_up(app):
    """A route with an id outside of these is closed to people who were given some sites."""
    areas = {
        rule.rule.split("/")[2]
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("admin.") and rule.arguments
    }
    assert areas - {*SITE_OF, *OWN} == {"settings", "<path:anything>"}
