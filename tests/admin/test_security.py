"""Hostile text, hostile requests: the dashboard shows them, and does nothing of what they want."""

import csv
import io
import re
import time
from datetime import UTC, datetime, timedelta
from statistics import median
from uuid import uuid4

import pyotp
import pytest

from crawler.journal import JournalEntry
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.domain.contact import Channel
from server.domain.curated import CuratedAnswer
from server.domain.roles import Role
from server.domain.site import Site
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.conversations.feedback import FeedbackStore
from server.storage.crawls.journal import CrawlJournal
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in, make_app
from tests.admin.routes import PUBLIC, VALUES, rules
from tests.admin.tabs import opened
from tests.crawl_runs import begin_crawl

HOSTILE = [
    "<script>window.pwned = 1; alert(1)</script>",
    '"><img src=x onerror="window.pwned = 1; alert(1)">',
    "'><svg onload='window.pwned=1;alert(1)'>",
    "</textarea></title></style></script><script>window.pwned=1</script>",
    "<a href='javascript:window.pwned=1'>click</a>",
    "[click](javascript:window.pwned=1) ![x](x onerror=alert(1)) <iframe srcdoc='<script>parent.pwned=1</script>'>",
    "{{ 7 * 7 }}{% raw %}{% endraw %}${7*7}#{7*7}",
    "</code></pre><style>*{display:none}</style><base href=https://evil.example/><meta http-equiv=refresh content=0>",
    '=HYPERLINK("https://evil.example")\u202etxt\u0000\ud83c',
    "<form action=https://evil.example><input name=password></form>",
]
ALL = " ".join(HOSTILE)
LINK = "javascript:window.pwned=1//"


@pytest.fixture
def trapped(runtime, site, operator_id):
    """Everything that a visitor, a page or another system can write, is hostile."""
    runtime.stores.sites.create(
        Site("trap", ALL[:300], ALL[:300], ("https://trap.example/",), ("https://o.example",))
    )
    content = ContentStore(runtime.database, "trap")
    for number, text in enumerate(HOSTILE):
        url = f"https://trap.example/{number}?q={'%3Cscript%3E'}\"'><script>window.pwned=1</script>"
        record = PageRecord(url, text, "en", f"{number}", "", "", 0, datetime.now(UTC))
        content.put_page(record, [Chunk(f"t-{number}", url, text, (text, ALL), ALL, 0, "en", ALL)], [])
    content.go_live()
    crawl_id = begin_crawl(runtime.stores.crawls, "trap")
    rows = [
        JournalEntry(
            f"https://trap.example/{number}\"'><script>window.pwned=1</script>",
            1,
            found_on=LINK,
            state="error",
            reason=text,
        )
        for number, text in enumerate(HOSTILE)
    ]
    CrawlJournal(runtime.database, crawl_id).write(rows)
    runtime.stores.crawls.finish(crawl_id, "failed", ALL)
    conversation_id = runtime.dialogue.conversations.start("trap", ALL[:60])
    messages = [ask(runtime, conversation_id, text) for text in HOSTILE]
    FeedbackStore(runtime.database).put(messages[0], ALL[:60], False, ALL)
    contact = runtime.delivery.contact.add(
        "trap", ALL[:60], f"{HOSTILE[1]}@x.example", ALL, conversation_id, list(Channel)
    )
    runtime.stores.curated.save(CuratedAnswer("trap", tuple(HOSTILE), ALL, (LINK,)), ALL)
    runtime.stores.incidents.record("trap", "crawl_failed", ALL, {ALL: ALL})
    runtime.people.audit.add(ALL, ALL, ALL, {ALL: [ALL, {ALL: ALL}]})
    runtime.people.sessions.start(1, timedelta(hours=1), ALL[:90], ALL)
    key, _ = runtime.people.api_keys.create(ALL, [], ALL)
    runtime.people.links.invite(f"{HOSTILE[0]}@x.example", Role.VIEWER, ALL)
    files = [(f"{HOSTILE[0]}.md".replace("/", "_"), ALL.encode("utf-8", "replace"))]
    source = runtime.crawling.source_intake.add_files("trap", files)[0]
    return {
        "site_id": "trap", "crawl_id": crawl_id, "conversation_id": conversation_id, "request_id": contact.id,
        "id": 1, "number": 1, "source_id": source.id, "operator_id": 1, "key_id": key.id,
    }  # fmt: skip


def ask(runtime, conversation_id, text):
    citation = Citation(1, LINK, ALL, ALL, LINK)
    answer = Answer(
        Outcome.REFUSED, ALL, (citation,), (ALL,), ((LINK, ALL),), ALL[:40], "direct", ALL[:40], {"write": 1.0},
        {"candidates": [{"chunk": ALL, "score": 0.5}], ALL: ALL, "incidents": [{"kind": ALL, "message": ALL}]},
    )  # fmt: skip
    message = Message(uuid4().hex, conversation_id, "trap", datetime.now(UTC), text, ALL, "en", answer)
    runtime.dialogue.conversations.add(message)
    return message.id


WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""


def test_hostile_text_runs_nothing_on_any_page(browser, address, cookie, app, trapped):
    """No dialog, no script, no violation of the policy, no link or form that leads to a script or elsewhere."""
    said = []
    with opened(browser, address, "desk", "light", [cookie], expected=("status of 4",)) as tab:
        tab.context.add_init_script(WATCH)
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        asked = []
        tab.on("request", lambda request: asked.append(request.url))
        shown = 0
        for endpoint, path, _ in rules(app, "GET", {**VALUES, **trapped}):
            if endpoint in PUBLIC or path.endswith((".csv", ".jsonl", "/progress")) or "preview" in path:
                continue
            answer = tab.goto(path)
            if answer is None or answer.status != 200 or "text/html" not in answer.headers["content-type"]:
                continue
            shown += 1
            assert tab.evaluate("window.pwned") is None, path
            assert tab.evaluate("window.violations") == [], path
            assert (
                tab.evaluate(
                    """[...document.querySelectorAll("a[href], form[action], [src], base, iframe")].filter((e) =>
                    /^\\s*(javascript|data|vbscript):/i.test(e.href ?? e.action ?? e.src ?? "") || e.tagName === "BASE"
                    || (e.tagName === "FORM" && new URL(e.action).origin !== location.origin)
                    || (e.tagName === "BUTTON" && /evil/.test(e.formAction))).map((e) => e.outerHTML.slice(0, 200))"""
                )
                == []
            ), path
        assert shown > 25
    assert said == []
    assert not [url for url in asked if not url.startswith((address, "blob:"))], (
        "nothing is fetched elsewhere"
    )


def test_hostile_text_is_escaped_on_every_page_and_in_every_file(operator, app, trapped):
    for endpoint, path, _ in rules(app, "GET", {**VALUES, **trapped}):
        if endpoint in PUBLIC:
            continue
        answer = operator.get(path)
        if answer.mimetype == "text/html":
            assert "<script>window" not in answer.text, path
            assert not re.search(r"<(img|svg|a|iframe)[^>]*\b(on\w+|srcdoc)=", answer.text), path
            assert "<svg onload" not in answer.text, path
            assert "<style>*{" not in answer.text, path
            assert "7 * 7" in answer.text or "49" not in re.findall(r">\s*(49)\s*\$", answer.text), path
        elif answer.mimetype == "text/csv":
            cells = [cell for row in csv.reader(io.StringIO(answer.text, newline="")) for cell in row]
            assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))], path


# --- Requests


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example"])
def test_a_forged_host_leads_nowhere_else(app, client, runtime, operator_id, host):
    answer = client.get("/admin/", headers={"Host": host})
    assert answer.status_code == 302
    assert answer.location.startswith("/admin/login")
    assert host not in client.get("/admin/login", headers={"Host": host}).text


def test_links_in_invitations_name_the_public_address_and_not_the_forged_host(make_runtime, password_hash):
    runtime = make_runtime(public_url="http://chat.example.com")
    runtime.people.operators.create(EMAIL, password_hash)
    browser = Browser(make_app(runtime))
    log_in(browser)
    answer = browser.send(
        "/admin/settings/people",
        {"email": "x@example.com", "role": "viewer"},
        "/admin/settings/people/invite",
        headers={"X-Forwarded-Host": "evil.example"},
    )
    assert "http://chat.example.com/admin/welcome#token=" in answer.text
    assert "evil.example" not in answer.text


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/admin/../../evil",
        "javascript:alert(1)",
    ],
)
def test_no_login_leads_out_of_the_dashboard(client, runtime, operator_id, target):
    page = client.http.get("/admin/login", query_string={"next": target})
    assert 'name="next" type="hidden" value="/admin/"' in page.text
    answer = client.send("/admin/login", {"email": EMAIL, "password": PASSWORD, "next": target})
    assert answer.location == "/admin/"
    assert client.http.get("/admin/login", query_string={"next": target}).location == "/admin/"


def test_a_form_that_leads_back_leads_nowhere_else(operator, site):
    fields = {"next": "https://evil.example/"}
    for action in ("/admin/sites/lantern/crawls", "/admin/sites/lantern/crawls/pause"):
        answer = operator.send("/admin/sites/lantern", fields, action)
        assert "evil" not in (answer.location or "")


def test_the_session_id_changes_at_login_and_at_the_second_factor(app, runtime, operator_id):
    secret = pyotp.random_base32()
    runtime.people.operators.set_second_factor(operator_id, runtime.configuration.seal.close(secret), 0, [])
    browser = Browser(app)
    browser.get("/admin/login")
    values = [cookie_of(browser)]
    log_in(browser)
    values.append(cookie_of(browser))
    browser.send("/admin/login/code", {"code": pyotp.TOTP(secret).now()})
    values.append(cookie_of(browser))
    assert len(set(values)) == 3
    for old in values[:2]:
        thief = Browser(app)
        thief.http.set_cookie("docent_operator", old, path="/admin")
        assert thief.get("/admin/").status_code == 302


def cookie_of(browser):
    return browser.http.get_cookie("docent_operator", path="/admin").value


def test_the_cookie_says_nothing_of_who_it_is(operator, operator_id):
    from base64 import urlsafe_b64decode

    payload = cookie_of(operator).split(".")[0]
    readable = urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode("utf-8", "replace")
    assert EMAIL not in readable
    assert "role" not in readable


def test_known_and_unknown_addresses_take_the_same_time(client, runtime, operator_id):
    def spent(email):
        token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', client.http.get("/admin/login").text)[1]
        times = []
        for _ in range(5):
            started = time.process_time()
            client.http.post("/admin/login", data={"email": email, "password": "wrong", "csrf_token": token})
            times.append(time.process_time() - started)
        return median(times)

    spent(EMAIL)
    assert 0.5 < spent("nobody@example.com") / spent(EMAIL) < 2.0


def test_a_wrong_password_says_the_same_with_and_without_a_second_factor(client, runtime, operator_id):
    before = log_in(client, "wrong")
    runtime.people.operators.set_second_factor(
        operator_id, runtime.configuration.seal.close("JBSWY3DPEHPK3PXP"), 0, []
    )
    after = log_in(client, "wrong")
    assert (before.status_code, after.status_code) == (422, 422)
    strip = re.compile(r'value="[^"]+"')
    assert strip.sub("", before.text) == strip.sub("", after.text)


def test_a_failure_tells_the_operator_nothing_of_the_inside(app, operator, runtime, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("password=hunter2 in /etc/secret")

    monkeypatch.setattr(runtime.stores.sites, "all", broken)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    answer = operator.get("/admin/sites")
    assert answer.status_code == 500
    for inside in ("hunter2", "Traceback", "/etc/secret", "RuntimeError"):
        assert inside not in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(operator, site, method):
    for path in ("/admin/", "/admin/settings/people", "/admin/sites/lantern/crawls"):
        assert operator.http.open(path, method=method).status_code in (404, 405)


@pytest.mark.parametrize(
    "value", ["9" * 40, "-1", "1.5", "1e9", "%00", "..%2f..%2fetc%2fpasswd", "a" * 3000, "'; --"]
)
def test_odd_ids_and_pages_are_not_found_and_break_nothing(operator, app, site, value):
    for path in (
        f"/admin/sites/{value}", f"/admin/settings/people/{value}", f"/admin/settings/webhooks/{value}",
        f"/admin/conversations/{value}", f"/admin/sites/lantern/crawls/{value}", f"/admin/gaps/{value}",
        f"/admin/sites/lantern/answers/{value}",
    ):  # fmt: skip
        assert operator.get(path).status_code == 404, path
    for query in (f"page={value}", f"days={value}", f"site={value}", f"operator={value}&action={value}"):
        for path in ("/admin/settings/audit", "/admin/conversations", "/admin/health"):
            assert operator.get(f"{path}?{query}", follow_redirects=True).status_code == 200, (path, query)
