"""Fifty kinds of bad uploads and backups: each is refused with its reason, and nothing changes."""

import hashlib
import io
import json
import shutil
import zipfile
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from crawler.errors import BadFile, BadStart
from server.backup.reading import open_backup
from server.backup.shape import write_backup
from server.domain.events import EventKind
from server.domain.site import Site
from server.jobs.source_intake import source_folders
from server.runtime.renewal import restore_all
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.content.sources import SourceKind
from server.storage.errors import BadBackup, SourceTooLarge
from server.storage.people.api_keys import Scope
from server.storage.schema import metadata
from tests.storage.test_backup import fill, noted, rewritten


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    """(a data folder with something in most tables, a backup of it)."""
    folder = tmp_path_factory.mktemp("seeded")
    runtime = open_runtime(Settings.of(data_dir=folder))
    fill(runtime.database)
    runtime.stores.sources.put("shop", SourceKind.FILE, "a.txt", b"Lamps.", most_bytes=99)
    sealed = runtime.configuration.seal.close("s" * 32)
    runtime.delivery.webhooks.add("https://hooks.example/", sealed, [EventKind.CRAWL_FAILED], None)
    runtime.people.api_keys.create("key", [Scope.ASK], "ada")
    runtime.configuration.live.change({"relevance_floor": "0.3"}, "ada")
    runtime.stores.schedules.set("shop", "daily", datetime.now(UTC))
    backup = io.BytesIO()
    write_backup(runtime.database, backup, "1.2.3")
    runtime.close()
    return folder, backup.getvalue()


@pytest.fixture(scope="module")
def runtime(seeded, tmp_path_factory):
    """What must stay as it is."""
    folder = tmp_path_factory.mktemp("precious") / "data"
    shutil.copytree(seeded[0], folder)
    small = {"sources_file_bytes": 2000, "sources_upload_bytes": 5000, "sources_site_bytes": 6000}
    opened = open_runtime(Settings.of(data_dir=folder, **small))
    opened.stores.sites.create(Site("keep", "Keep", "Keep", ("https://keep.example/",)))
    opened.people.audit.add("eve", "was here")
    yield opened
    opened.close()


def digest(runtime):
    """Of every row of every table, and of every file of the data folder except the database's own."""
    found = hashlib.sha256()
    with runtime.database.connect() as connection:
        for table in metadata.sorted_tables:
            found.update(repr(sorted(map(repr, connection.execute(select(table)).all()))).encode())
    for place in sorted(runtime.configuration.folder.path.rglob("*")):
        if place.is_file() and "sqlite3" not in place.name:
            found.update(str(place).encode() + place.read_bytes())
    return found.hexdigest()


def row(table, **values):
    """A backup whose first row of a table says something else."""

    def change(entries, manifest):
        lines = [json.loads(line) for line in entries[f"tables/{table}.jsonl"].splitlines()]
        assert lines, f"{table} is empty"
        lines[0] |= values
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        entries[f"tables/{table}.jsonl"] = content
        noted(manifest, table, content)

    return change


def options(**values):
    return row("sites", options=values)


ROWS = [
    (
        "a folder of the server",
        row("sources", kind="folder", name="/etc"),
        "the folder /etc is not permitted",
    ),
    ("a folder by dots", row("sources", kind="folder", name="uploads/../../.."), "is not permitted"),
    ("a kind of source that is none", row("sources", kind="shell"), "kind 'shell' is unknown"),
    ("source options that are none", row("sources", options=["x"]), "options has no names and values"),
    ("a pattern that is none", row("sources", options={"include": "x"}), "include is no list of texts"),
    ("a base that is a script", row("sources", options={"base": "javascript:alert(1)"}), "base 'javascript:"),
    (
        "a digest that is a path",
        row("sources", digest="../../secret.key"),
        "digest '../../secret.key' is not valid",
    ),
    (
        "a file under another digest",
        row("source_blobs", digest="0" * 64),
        "is not the one that its digest names",
    ),
    ("a site id that is a path", row("sites", id="../shop"), "id '../shop' is not valid"),
    ("a start that is a file", row("sites", start_urls=["file:///etc/passwd"]), "cannot be crawled"),
    ("a start that is no text", row("sites", start_urls=[7]), "start_urls is no list of texts"),
    ("an origin with a path", row("sites", origins=["https://a.example/x"]), "the origin"),
    ("an origin that is any", row("sites", origins=["*"]), "the origin '*' is not valid"),
    ("site options that are none", row("sites", options=[1]), "options has no names and values"),
    ("a header with a line end", options(crawl_headers=["X: a\r\nHost: b"]), "cannot be sent as a header"),
    ("a header that is not ours to set", options(crawl_headers=["Host: internal"]), "cannot be set"),
    ("a pattern without a slash", options(scope_include=["x"]), "must start with"),
    ("a crawl without end", options(max_pages=-1), "should be greater than or equal to 1"),
    ("a contact webhook that is a file", options(contact={"webhook": "file:///x"}), "no address that starts"),
    ("a role above owner", row("operators", role="root"), "role 'root' is unknown"),
    ("an operator without an address", row("operators", email="<script>"), "email '<script>' is not valid"),
    ("a key for everything", row("api_keys", scopes=["ask", "admin"]), "scopes 'admin' is unknown"),
    ("a key with one text", row("api_keys", scopes="ask"), "scopes is no list of texts"),
    ("a webhook that is a file", row("webhooks", url="file:///etc/passwd"), "no address that starts"),
    ("an event that is none", row("webhooks", kinds=["everything"]), "kinds 'everything' is unknown"),
    ("a setting out of range", row("setting_overrides", value="7"), "RELEVANCE_FLOOR"),
    ("a setting of another kind", row("setting_overrides", value="much"), "RELEVANCE_FLOOR"),
    ("a schedule that is none", row("schedules", every="always"), "every 'always' is unknown"),
    ("an outcome that is none", row("messages", outcome="owned"), "outcome 'owned' is unknown"),
    (
        "a citation that is a script",
        row("messages", citations=[{"url": "javascript:alert(1)"}]),
        "citation leads",
    ),
    ("a page that is a script", row("pages", url="javascript:alert(1)"), "is no address of a page"),
    ("a chunk that is data", row("chunks", url="data:text/html,x"), "is no address of a page"),
    ("a delivery by another way", row("contact_deliveries", channel="pigeon"), "channel 'pigeon' is unknown"),
    ("a state that is none", row("contact_deliveries", state="lost"), "state 'lost' is unknown"),
    ("questions that are none", row("curated_answers", questions="Open?"), "questions is no list of texts"),
    ("a number that is a statement", row("operators", id="1; DROP TABLE operators"), "cannot be read"),
    ("a column that is none", row("operators", email_=1), "cannot be read"),
]


@pytest.mark.parametrize(("change", "says"), [one[1:] for one in ROWS], ids=[one[0] for one in ROWS])
def test_a_backup_with_a_bad_row_is_refused_and_nothing_changes(seeded, runtime, change, says):
    before = digest(runtime)
    folders = source_folders(runtime.configuration.settings)
    data = io.BytesIO(rewritten(seeded[1], change))
    with pytest.raises(BadBackup) as caught, open_backup(data, folders) as backup:
        restore_all(runtime.database, runtime.configuration.folder.path, backup, lambda site: 0)
    assert says in str(caught.value)
    assert digest(runtime) == before


def zipped(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "."), body)
    return made.getvalue()


def protected():
    body = bytearray(zipped(a__txt=b"text"))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = body.index(mark) + (6 if mark == b"PK\x03\x04" else 8)
        body[at] |= 1
    return bytes(body)


UPLOADS = [
    ("a program", "tool.exe", b"MZ", "tool.exe is"),
    ("a page that runs", "page.php", b"<?php", "page.php is"),
    ("a picture with scripts", "logo.svg", b"<svg/>", "logo.svg is"),
    ("an empty file", "a.txt", b"", "a.txt is empty"),
    ("a file that is too large", "a.txt", b"x" * 2001, "larger than 2,000 bytes"),
    ("a name without letters", " / ", b"x", "give a name"),
    ("a name that is too long", "a" * 300 + ".txt", b"x", "at most 200 characters"),
    ("no archive", "a.zip", b"PK\x03\x04 no archive", "damaged or no zip archive"),
    ("an archive cut off", "a.zip", zipped(a__txt=b"text" * 99)[:-30], "damaged or no zip archive"),
    ("an archive with nothing to read", "a.zip", zipped(a__exe=b"x"), "no file in it that can be read"),
    ("an archive of archives", "a.zip", zipped(b__zip=zipped(a__txt=b"x")), "no file in it that can be read"),
    ("an archive that unpacks to too much", "a.zip", zipped(a__txt=b"0" * 6000), "more than the limit"),
    ("an archive with a password", "a.zip", protected(), "protected by a password"),
    ("an archive with a file too large", "a.zip", zipped(a__txt=b"0" * 2500), "larger than 2,000 bytes"),
    ("an archive with one good file", "a.zip", zipped(a__txt=b"good", b__txt=b""), "is empty"),
]


@pytest.mark.parametrize(
    ("name", "body", "says"), [one[1:] for one in UPLOADS], ids=[one[0] for one in UPLOADS]
)
def test_a_bad_upload_is_refused_and_nothing_changes(runtime, name, body, says):
    before = digest(runtime)
    with pytest.raises((BadFile, BadStart, SourceTooLarge)) as caught:
        runtime.crawling.source_intake.add_files("keep", [(name, body)])
    assert says in str(caught.value)
    assert digest(runtime) == before


def test_archives_of_one_upload_share_its_limit(runtime):
    before = digest(runtime)
    files = [(f"{number}.zip", zipped(**{f"a{number}__txt": b"0" * 1900})) for number in range(3)]
    with pytest.raises(BadFile, match="more than"):
        runtime.crawling.source_intake.add_files("keep", files)
    assert digest(runtime) == before


def test_the_kinds_are_fifty_and_more():
    assert len(ROWS) + len(UPLOADS) >= 50


def test_rows_give_no_permission_and_leave_the_audit_log_alone(seeded, tmp_path):
    runtime = open_runtime(Settings.of(data_dir=tmp_path))
    runtime.people.audit.add("eve", "was here")

    def change(entries, manifest):
        row("sites", allow_private=True)(entries, manifest)
        row("audit", operator="nobody", action="did nothing")(entries, manifest)

    with open_backup(io.BytesIO(rewritten(seeded[1], change))) as backup:
        restore_all(runtime.database, tmp_path, backup, lambda site: 0)
    with runtime.database.connect() as connection:
        assert [one.allow_private for one in connection.execute(select(metadata.tables["sites"]))] == [False]
    assert [entry.operator for entry in runtime.people.audit.recent(9)] == ["eve"]
    runtime.close()


def test_a_folder_that_was_stored_earlier_is_read_below_the_permitted_folders_only(runtime, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n\nNobody may read it.\n")
    with pytest.raises(BadStart, match="is not permitted: add it to SOURCES_FOLDERS"):
        runtime.crawling.source_intake.add_folder("keep", tmp_path)
