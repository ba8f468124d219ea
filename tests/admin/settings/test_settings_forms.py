"""Webhooks, API keys, the audit log and backups on the dashboard: what works, and what is answered to bad input."""

import io
import re
import zipfile

import pytest

from server.backup.shape import write_backup
from server.domain.events import EventKind
from server.storage.people.api_keys import Scope
from tests.admin.conftest import PASSWORD, Browser, log_in

HOOKS, KEYS = "/admin/settings/webhooks", "/admin/settings/api-keys"
GOOD_HOOK = {"url": "https://tools.example.com/docent", "kinds": ["crawl.failed"], "site": ""}
GOOD_KEY = {"name": "Report", "scopes": ["read"], "site": "", "days": "30"}


def secret_of(page):
    return re.search(r'id="secret">([^<]+)<', page.text)[1]


def test_a_webhook_is_added_with_a_secret_that_is_shown_once(operator, runtime, site):
    shown = operator.send(HOOKS, GOOD_HOOK)
    secret = secret_of(shown)
    [hook] = runtime.delivery.webhooks.all()
    assert runtime.configuration.seal.open(hook.secret) == secret
    assert hook.kinds == {EventKind.CRAWL_FAILED}
    page = f"{HOOKS}/{hook.id}"
    assert secret not in operator.get(page).text
    assert secret not in operator.get("/admin/settings/audit").text
    assert secret_of(operator.send(page, {}, f"{page}/secret")) != secret
    operator.send(page, {}, f"{page}/off")
    assert not runtime.delivery.webhooks.get(hook.id).on
    operator.send(page, {**GOOD_HOOK, "kinds": ["gap.opened", "budget.spent"], "site": "lantern"})
    assert runtime.delivery.webhooks.get(hook.id).site_id == "lantern"
    operator.send(page, {}, f"{page}/test")
    [(event, delivery)] = runtime.delivery.events.sent(5)
    assert (event.kind, delivery.state) == (EventKind.TEST, "waiting")
    assert "On its way" in operator.get(page).text
    operator.send(page, {}, f"{page}/events/{event.id}/again")
    operator.send(page, {}, f"{page}/remove")
    assert runtime.delivery.webhooks.all() == []
    assert operator.get(page).status_code == 404


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"url": ""}, "Write the address"),
        ({"url": "ftp://x.example/"}, "http:// or https://"),
        ({"url": "javascript:alert(1)"}, "Write an address"),
        ({"url": "https://user:pw@x.example/"}, "Leave out the user name"),
        ({"kinds": []}, "Choose at least one event"),
        ({"kinds": ["everything"]}, "a valid choice"),
        ({"site": "nowhere"}, "Not a valid choice"),
    ],
)
def test_a_wrong_webhook_is_refused_beside_the_field(operator, runtime, fields, says):
    answer = operator.send(HOOKS, {**GOOD_HOOK, **fields})
    assert answer.status_code == 422
    assert says in answer.text
    assert runtime.delivery.webhooks.all() == []


def test_an_event_of_another_webhook_is_not_sent_again_from_here(operator, runtime):
    one, other = (runtime.delivery.webhooks.add("https://x.example/", "s", [], None) for _ in "ab")
    event = runtime.delivery.events.test(one)
    page = f"{HOOKS}/{other}"
    assert operator.send(page, {}, f"{page}/events/{event}/again").status_code == 404


def test_a_key_is_made_and_shown_once_then_revoked_then_removed(operator, runtime, site):
    secret = secret_of(operator.send(KEYS, {**GOOD_KEY, "site": "lantern"}))
    key = runtime.people.api_keys.find(secret)
    assert (key.scopes, key.site_id, key.name) == (frozenset({Scope.READ}), "lantern", "Report")
    assert key.ends_at is not None
    page = operator.get(KEYS).text
    assert secret not in page
    assert key.shown in page
    operator.send(KEYS, {}, f"{KEYS}/{key.id}/revoke")
    assert not runtime.people.api_keys.find(secret).on
    operator.send(KEYS, {}, f"{KEYS}/{key.id}/revoke")
    assert runtime.people.api_keys.all() == []
    assert operator.send(KEYS, {}, f"{KEYS}/{key.id}/revoke").status_code == 404


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": " "}, "Write what the key is for"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"scopes": []}, "Choose at least one"),
        ({"scopes": ["root"]}, "a valid choice"),
        ({"days": "99999"}, "Not a valid choice"),
        ({"site": "nowhere"}, "Not a valid choice"),
    ],
)
def test_a_wrong_key_is_refused_beside_the_field(operator, runtime, fields, says):
    answer = operator.send(KEYS, {**GOOD_KEY, **fields})
    assert answer.status_code == 422
    assert says in answer.text
    assert runtime.people.api_keys.all() == []


def test_the_audit_log_is_filtered_and_taken_out(operator, runtime, site):
    runtime.people.audit.add("ben@example.com", "removed the answer", "lantern", {"answer": 7})
    runtime.people.audit.add("ada@example.com", "=1+1", "", {})
    page = operator.get("/admin/settings/audit?operator=ben@example.com").text
    assert "Removed the answer." in page
    assert '<td role="cell" data-label="Who">ada@example.com' not in page
    assert "No change matches these filters" in operator.get("/admin/settings/audit?action=nothing").text
    sheet = operator.get("/admin/settings/audit.csv?site=lantern").text.splitlines()
    assert len(sheet) == 2
    assert "'=1+1" in operator.get("/admin/settings/audit.csv").text


BACKUP = "/admin/settings/backup"


def test_a_backup_is_downloaded_with_the_password_only(operator, runtime, site):
    assert operator.send(BACKUP, {"make-current": "wrong"}).status_code == 422
    answer = operator.send(BACKUP, {"make-current": PASSWORD}, buffered=True)
    assert answer.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        names = archive.namelist()
    assert "manifest.json" in names
    assert "data/secret.key" not in names
    with_key = operator.send(BACKUP, {"make-current": PASSWORD, "make-secret": "y"}, buffered=True)
    assert "data/secret.key" in zipfile.ZipFile(io.BytesIO(with_key.data)).namelist()
    [change] = runtime.people.audit.recent(1)
    assert (change.action, change.details["with_key"]) == ("made a backup", True)


def restore(operator, data, **fields):
    sent = {
        "restore-file": (io.BytesIO(data), "docent.zip"), "restore-current": PASSWORD,
        "restore-confirmation": "restore", **fields,
    }  # fmt: skip
    return operator.send(BACKUP, sent, f"{BACKUP}/restore", content_type="multipart/form-data")


def taken(runtime):
    out = io.BytesIO()
    write_backup(runtime.database, out, "1")
    return out.getvalue()


def test_a_backup_is_brought_back_and_everybody_logs_in_again(app, operator, runtime, site):
    data = taken(runtime)
    runtime.people.operators.create("eve@example.com", "hash")
    answer = restore(operator, data)
    assert (answer.status_code, answer.location) == (302, "/admin/login")
    assert operator.get("/admin/").status_code == 302
    assert runtime.people.operators.find("eve@example.com") is None
    assert runtime.stores.crawls.latest("lantern").state == "waiting"
    assert [site.id for site in runtime.stores.sites.all()] == ["lantern"]
    assert runtime.people.audit.recent(1)[0].action == "restored a backup"
    assert log_in(Browser(app)).status_code == 302


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"restore-current": "wrong"}, "This is not your password"),
        ({"restore-confirmation": "yes"}, "Type the word restore"),
        ({"restore-file": (io.BytesIO(b""), "")}, "Choose the file"),
        ({"restore-file": (io.BytesIO(b"no zip"), "x.zip")}, "no backup of Docent"),
    ],
)
def test_a_restore_that_is_not_as_it_must_be_changes_nothing(operator, runtime, site, fields, says):
    data = taken(runtime)
    runtime.people.operators.create("eve@example.com", "hash")
    fresh = {
        name: (io.BytesIO(value[0].getvalue()), value[1]) if isinstance(value, tuple) else value
        for name, value in fields.items()
    }
    answer = restore(operator, data, **fresh)
    assert answer.status_code == 422
    assert says in answer.text
    assert runtime.people.operators.find("eve@example.com") is not None
    assert operator.get("/admin/").status_code == 200


@pytest.fixture
def runtime(make_runtime):
    """The mail server of these tests is on this machine."""
    return make_runtime(private_hosts="127.0.0.1")


def test_the_test_message_goes_to_oneself_only(operator, runtime):
    page = "/admin/settings/mail"
    answer = operator.send(page, {}, f"{page}/test")
    assert "Write the address of your mail server first" in answer.text
    fields = {"smtp_url": "smtp://127.0.0.1:9", "mail_from": "docent@example.com", "to": "victim@example.com"}
    answer = operator.send(page, fields, f"{page}/test")
    assert answer.status_code == 422
    assert "cannot be reached" in answer.text
    assert runtime.configuration.live.overrides == {}
