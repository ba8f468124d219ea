"""An owner takes one site out of an installation and brings it into another one."""

import io
import zipfile

import pytest

from server.domain.roles import Role
from tests.admin.conftest import EMAIL, Browser, log_in

IMPORT = "/admin/new-site/import"


def exported(operator, **fields):
    path = "/admin/sites/lantern/export"
    return operator.send(path, fields, buffered=True)


def test_a_site_is_downloaded_and_imported_again_after_it_was_removed(operator, runtime, site):
    pages = runtime.stores.content("lantern").counts()
    assert "Export this site" in operator.get("/admin/sites/lantern").text
    made = exported(operator)
    assert made.mimetype == "application/zip"
    assert "docent-lantern-" in made.headers["Content-Disposition"]
    runtime.crawling.remove_site_now("lantern")
    sent = operator.send(IMPORT, {"file": (io.BytesIO(made.data), "site.zip")})
    assert sent.location == "/admin/sites/lantern", sent.text
    assert "Secrets are not in the file." in operator.get(sent.location).text
    assert runtime.stores.content("lantern").counts() == pages
    assert runtime.stores.crawls.latest("lantern").is_open, "its vectors are made by a crawl"
    entries = [(one.operator, one.action, one.site_id) for one in runtime.people.audit.recent(2)]
    assert entries == [(EMAIL, "imported the site", "lantern"), (EMAIL, "exported the site", "lantern")]


def test_conversations_are_in_the_file_only_if_asked_for(operator, site):
    def names(answer):
        with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
            return archive.namelist()

    assert "tables/messages.jsonl" not in names(exported(operator))
    assert "tables/messages.jsonl" in names(exported(operator, conversations="y"))


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (None, "Choose the file of a site."),
        (b"nothing", "This is no export of a site of Docent, or it was cut off"),
        ("same", "There is a site lantern here already: remove it first. Nothing was changed."),
    ],
)
def test_a_file_that_does_not_fit_is_refused(operator, runtime, site, file, says):
    body = exported(operator).data if file == "same" else file
    runtime_entries = runtime.people.audit.verify().entries
    answer = operator.send(IMPORT, {"file": (io.BytesIO(body), "site.zip")} if body else {})
    assert answer.status_code == 422
    assert says in answer.text
    assert runtime.people.audit.verify().entries == runtime_entries


@pytest.mark.parametrize("role", [Role.EDITOR, Role.VIEWER])
def test_only_an_owner_moves_sites(app, runtime, site, password_hash, role):
    runtime.people.operators.create("ben@example.com", password_hash, role)
    log_in(browser := Browser(app), email="ben@example.com")
    for path in ("/admin/sites/lantern/export", IMPORT):
        assert browser.get(path).status_code == 403
    assert "Export this site" not in browser.get("/admin/sites/lantern").text
