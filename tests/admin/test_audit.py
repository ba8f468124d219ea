"""The audit log tells of every file that is taken out and of every sign-in; all of it can be taken out."""

import io
import json

import pytest

from server.domain.contact import Channel
from tests.admin.conftest import EMAIL, PASSWORD, Browser, log_in
from tests.admin.routes import PUBLIC, VALUES, rules

BACKUP = "/admin/settings/backup"


def test_every_download_leaves_an_entry(app, operator, runtime, busy):
    """Whatever a GET route sends as a file to save."""
    run = lambda endpoint: 3 if "quality" in endpoint else "x"  # noqa: E731
    values = {**VALUES, "crawl_id": busy.c9, "earlier_id": busy.c2, "run_id": run}
    files, silent = [], []
    for endpoint, path, _ in rules(app, "GET", values):
        if endpoint in PUBLIC:
            continue
        before = runtime.people.audit.verify().entries
        answer = operator.get(path)
        if "attachment" in answer.headers.get("Content-Disposition", ""):
            files.append(path)
            entry = runtime.people.audit.recent(1)[0]
            named = entry.details["file"] in answer.headers["Content-Disposition"]
            if runtime.people.audit.verify().entries != before + 1 or entry.operator != EMAIL or not named:
                silent.append(path)
    assert silent == []
    assert len(files) >= 10, files


def test_the_log_says_which_site_was_added(operator, runtime):
    operator.send("/admin/new-site", {"address": "https://lantern.example/"})
    operator.send("/admin/new-site", {"site_name": "Handbook"}, "/admin/new-site/of-sources")
    added = [(one.action, one.site_id) for one in runtime.people.audit.recent(2)]
    assert added == [("added a site without a website", "handbook"), ("added a site", "lantern-example")]


def test_a_browser_is_named_in_the_readers_language(operator, runtime):
    runtime.people.audit.add("ada@example.com", "logged in", "", {"browser": "Chrome on Linux"})
    page = operator.get("/admin/settings/audit", headers={"Accept-Language": "de"}).text
    assert "Chrome auf Linux" in page


def test_the_whole_log_comes_as_json_lines_that_verify(operator, runtime, busy):
    lines = operator.get("/admin/settings/audit.jsonl").text.splitlines()
    hashes = [json.loads(line)["hash"] for line in lines]
    assert hashes == [one.hash for one in runtime.people.audit.chain()]
    assert json.loads(lines[-1])["details"] == {"file": "docent-audit.jsonl"}
    assert runtime.people.audit.verify(hashes[-1]).has_known


def test_a_sign_in_leaves_an_entry_with_its_address(app, runtime, operator_id):
    log_in(Browser(app))
    (entry,) = runtime.people.audit.recent(1)
    assert (entry.operator, entry.action, entry.details) == (
        EMAIL,
        "logged in",
        {"address": "127.0.0.1", "browser": "Werkzeug"},
    )


def test_a_restore_on_the_dashboard_keeps_the_log_and_appends_to_it(operator, runtime, site):
    made = operator.send(BACKUP, {"make-current": PASSWORD}, buffered=True)
    assert made.mimetype == "application/zip"
    runtime.people.audit.add("ben@example.com", "did what is not in the backup")
    before = list(runtime.people.audit.chain())
    assert [one.action for one in before][-2:] == ["made a backup", "did what is not in the backup"]
    file = (io.BytesIO(made.data), "backup.zip")
    form = {"restore-current": PASSWORD, "restore-confirmation": "restore", "restore-file": file}
    sent = operator.send(BACKUP, form, f"{BACKUP}/restore")
    assert sent.status_code == 302, sent.text
    after = list(runtime.people.audit.chain())
    assert after[: len(before)] == before
    assert [one.action for one in after[len(before) :]] == ["restored a backup"]
    assert runtime.people.audit.verify().broken == ()


def test_logging_out_leaves_an_entry(app, runtime, operator_id):
    for path in ("/admin/logout", "/admin/account/sessions/{}/end"):
        browser = Browser(app)
        log_in(browser)
        here = runtime.people.sessions.of(operator_id)[0].id
        browser.send("/admin/account", {}, path.format(here))
        assert browser.get("/admin/account").status_code == 302, "logged out"
    actions = [(entry.operator, entry.action) for entry in runtime.people.audit.recent(4)]
    assert actions == [
        (EMAIL, "ended the own session"),
        (EMAIL, "logged in"),
        (EMAIL, "logged out"),
        (EMAIL, "logged in"),
    ]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/admin/sites/{site}/schedule", {"every": "sometimes"}),
        ("/admin/sites/{site}/crawl/pause", {}),
        ("/admin/sites/{site}/sources/gone/remove", {}),
        ("/admin/sites/{site}/facts/gone/remove", {}),
        ("/admin/sites/{site}/answers/99/remove", {}),
        ("/admin/messages/{message}/again", {}),
    ],
)
def test_a_form_that_changes_nothing_leaves_no_entry(operator, runtime, site, path, form):
    writer = ("lantern", "v", "v@visitor.example")
    message = runtime.delivery.contact.add(*writer, "Call me", None, [Channel.EMAIL])
    before = runtime.people.audit.verify().entries
    answer = operator.send("/admin/", form, path.format(site=site.id, message=message.id))
    assert answer.status_code == 302
    assert runtime.people.audit.verify().entries == before
