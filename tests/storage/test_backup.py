"""A backup brings everything back, from either database into either, or changes nothing at all."""

import io
import json
import shutil
import zipfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from server.backup.reading import open_backup, restore
from server.backup.shape import DERIVED, LEFT_OUT, write_backup
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.domain.contact import Channel
from server.domain.curated import CuratedAnswer
from server.domain.site import Site
from server.storage.content.content import ContentStore
from server.storage.content.reader import PageRecord
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.curated import CuratedStore
from server.storage.conversations.feedback import FeedbackStore
from server.storage.crawls.runs import CrawlStore
from server.storage.database import Database
from server.storage.delivery.contact import ContactStore
from server.storage.errors import BadBackup
from server.storage.people.api_keys import ApiKeyStore, Scope
from server.storage.people.audit import AuditLog
from server.storage.people.identities import IdentityStore
from server.storage.people.operators import OperatorStore
from server.storage.people.passkeys import PasskeyStore
from server.storage.schema import metadata
from server.storage.sites.sites import SiteStore
from tests.crawl_runs import begin_crawl
from tests.crawler.files import bzip2_bomb

WORDS = 'Umlaute äöü, 漢字, emoji 🏮, quote " and \\ and\nnew line'


@contextmanager
def opened(url):
    database = Database(url)
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def make_database(migrated_sqlite, new_migrated_postgresql, tmp_path):
    """Makes a database of a kind, with all tables and no rows."""
    made = []

    def make(kind):
        if kind == "sqlite":
            database = Database(f"sqlite:///{shutil.copyfile(migrated_sqlite, tmp_path / f'{len(made)}.db')}")
        else:
            database = Database(new_migrated_postgresql())
        made.append(database)
        return database

    yield make
    for database in made:
        database.close()


def fill(database):
    """Something in most tables, with every type of column."""
    SiteStore(database).create(
        Site("shop", "Shop", WORDS, ("https://shop.example/",), options={"a": [1, None]})
    )
    content = ContentStore(database, "shop")
    record = PageRecord("https://shop.example/d", "Delivery", "en", "h", "", "", 0, datetime.now(UTC))
    content.put_page(record, [Chunk("c1", record.url, "Delivery", ("A", "B"), WORDS, 0, "en")], [])
    content.go_live()
    talk = ConversationStore(database)
    id = talk.start("shop", "visitor")
    citation = Citation(1, record.url, "Delivery", "two days", record.url)
    for number in range(3):
        answer = Answer(
            Outcome.ANSWERED, WORDS, (citation,), timings_ms={"write": 1.5}, trace={"x": {"y": 1}}
        )
        at = datetime.now(UTC) - timedelta(days=number)
        talk.add(Message(f"m{number}", id, "shop", at, "How long?", "how long", "en", answer))
    FeedbackStore(database).put("m1", "visitor", False, "no")
    ContactStore(database).add("shop", "visitor", "v@x.example", "Call me", id, [Channel.EMAIL])
    CuratedStore(database).save(
        CuratedAnswer("shop", ("Open?",), "At nine.", valid_until=datetime.now(UTC).date()), "a"
    )
    operators = OperatorStore(database)
    owner = operators.create("ada@example.com", "hash")
    operators.set_second_factor(owner, "sealed", 7, ["one", "two"])
    PasskeyStore(database).add(owner, "credential", "handle", "public-key", "Laptop")
    assert IdentityStore(database).link("https://login.example", "subject", owner)
    operators.setup_token()
    ApiKeyStore(database).create("k", [Scope.ASK], "ada@example.com", site_id="shop")
    AuditLog(database).add("ada@example.com", "did something", "shop", {"n": 1})
    crawls = CrawlStore(database)
    crawls.finish(begin_crawl(crawls, "shop"), "done", "fine")


def state(database, but=(LEFT_OUT - DERIVED) | {"audit"}):
    """Every row of every table, what the triggers keep included, in an order of its own."""
    found = {}
    with database.connect() as connection:
        for table in metadata.sorted_tables:
            if table.name not in but:
                rows = connection.execute(select(table)).all()
                found[table.name] = sorted(repr(tuple(map(plain, row))) for row in rows)
    return found


def plain(value):
    return round(value, 6) if isinstance(value, float) else value


def backed_up(database, **options):
    out = io.BytesIO()
    write_backup(database, out, "1.2.3", **options)
    return out.getvalue()


def bring(database, data):
    with open_backup(io.BytesIO(data)) as backup:
        backup.check(10**12)
        restore(database, backup)
        return backup.manifest


@pytest.mark.parametrize("source", ["sqlite", "postgresql"])
@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_a_backup_brings_everything_back_in_either_database(make_database, source, target):
    old, new = make_database(source), make_database(target)
    fill(old)
    data = backed_up(old)
    SiteStore(new).create(Site("stale", "Stale", "", ("https://stale.example/",)))
    OperatorStore(new).create("eve@example.com", "hash")
    bring(new, data)
    assert state(new) == state(old)
    # What is added next gets a number of its own.
    assert OperatorStore(new).create("ben@example.com", "hash") > 1
    AuditLog(new).add("ben@example.com", "did more")
    assert bring(old, backed_up(new)).summary["operators"] == 2
    but = LEFT_OUT - DERIVED | {"audit"}
    assert state(old, but) == state(new, but)
    assert [one.action for one in AuditLog(old).chain()] == ["did something"], "its own history stays"


def test_a_restore_replaces_no_entry_of_the_audit_log(database, make_database):
    fill(other := make_database("sqlite"))
    log = AuditLog(database)
    log.add("ben@example.com", "did what is not in the backup")
    before = list(log.chain())
    bring(database, backed_up(other))
    assert list(log.chain()) == before
    log.add("ben@example.com", "restored a backup")
    assert log.verify().broken == ()


def test_a_new_installation_takes_the_audit_log_of_a_backup_over(good, make_database):
    bring(new := make_database("sqlite"), good)
    AuditLog(new).add("ada@example.com", "restored a backup")
    assert [one.action for one in AuditLog(new).chain()] == ["did something", "restored a backup"]
    assert AuditLog(new).verify().broken == ()


@pytest.mark.parametrize("how", ["without hashes", "altered"])
def test_an_audit_log_of_a_backup_is_chained_or_shown_to_be_altered(good, make_database, how):
    def change(entries, manifest):
        rows = [json.loads(line) for line in entries["tables/audit.jsonl"].splitlines()]
        for row in rows:
            if how == "altered":
                row["operator"] = "nobody@example.com"
            else:
                del row["hash"]  # as older versions wrote it
        content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        entries["tables/audit.jsonl"] = content
        noted(manifest, "audit", content)

    bring(new := make_database("sqlite"), rewritten(good, change))
    assert len(AuditLog(new).verify().broken) == (how == "altered")


def test_sessions_links_and_setup_tokens_are_left_out(database):
    fill(database)
    with zipfile.ZipFile(io.BytesIO(backed_up(database))) as archive:
        names = archive.namelist()
        assert not any("session" in name or "links" in name or "token" in name for name in names)
        assert "data/secret.key" not in names
    with open_backup(io.BytesIO(backed_up(database, secret="s" * 64))) as backup:
        assert backup.secret == "s" * 64


def test_a_backup_sees_one_moment_while_visitors_write(database, monkeypatch):
    fill(database)
    talk = ConversationStore(database)
    written = []

    from server.backup import shape

    real = shape.write_table

    def while_writing(archive, connection, table, wanted):
        note = real(archive, connection, table, wanted)
        written.append(talk.start("shop", "late"))
        return note

    monkeypatch.setattr(shape, "write_table", while_writing)
    manifest = write_backup(database, io.BytesIO(), "1")
    assert written
    assert manifest.summary["conversations"] == 1


def test_what_was_under_way_is_under_way_no_more(database):
    fill(database)
    begin_crawl(CrawlStore(database), "shop")
    bring(database, backed_up(database))
    assert CrawlStore(database).latest("shop").state == "stopped"


# --- What must be refused


@pytest.fixture(scope="module")
def good(migrated_sqlite, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    with opened(f"sqlite:///{path}") as database:
        fill(database)
        return backed_up(database)


@pytest.fixture
def precious(migrated_sqlite, tmp_path):
    """A database that must stay as it is."""
    path = tmp_path / "precious.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    with opened(f"sqlite:///{path}") as database:
        OperatorStore(database).create("eve@example.com", "hash")
        yield database


def rewritten(data, change=lambda entries, manifest: None, name="manifest.json"):
    """The archive with other entries or another manifest."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {each: archive.read(each) for each in archive.namelist()}
    manifest = json.loads(entries.pop(name))
    change(entries, manifest)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in entries.items():
            archive.writestr(each, content)
        if manifest is not None and manifest.get("format") != "none":
            archive.writestr(name, json.dumps(manifest))
    return out.getvalue()


def noted(manifest, table, content):
    """A manifest that says of a table what it now is."""
    import hashlib

    manifest["tables"][table] = {
        "rows": content.count(b"\n"), "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip


def tampered(entries, manifest):
    entries["tables/sites.jsonl"] = entries["tables/sites.jsonl"].replace(b"shop", b"shap")


def newer(entries, manifest):
    manifest["schema"] = "9999"


def newer_format(entries, manifest):
    manifest["format"] = 99


def no_manifest(entries, manifest):
    manifest["format"] = "none"


def traversal(entries, manifest):
    entries["../../etc/passwd"] = b"root"


def absolute(entries, manifest):
    entries["/etc/cron.d/x"] = b"* * * * * root"


def foreign_table(entries, manifest):
    entries["tables/alembic_version.jsonl"] = b"{}\n"


def sessions(entries, manifest):
    content = b'{"hash":"x"}\n'
    entries["tables/operator_sessions.jsonl"] = content
    noted(manifest, "operator_sessions", content)


def missing_table(entries, manifest):
    del entries["tables/messages.jsonl"]


def unnamed_table(entries, manifest):
    del manifest["tables"]["messages"]


def wrong_type(entries, manifest):
    content = entries["tables/operators.jsonl"].replace(b'"id":1', b'"id":"1; DROP TABLE operators"')
    entries["tables/operators.jsonl"] = content
    noted(manifest, "operators", content)


def unknown_column(entries, manifest):
    content = entries["tables/operators.jsonl"].replace(b'"email"', b'"email; --"')
    entries["tables/operators.jsonl"] = content
    noted(manifest, "operators", content)


def orphan(entries, manifest):
    content = entries["tables/sites.jsonl"].replace(b'"id":"shop"', b'"id":"else"')
    entries["tables/sites.jsonl"] = content
    noted(manifest, "sites", content)


def no_json(entries, manifest):
    content = b"[" * 100_000 + b"\n"
    entries["tables/audit.jsonl"] = content
    noted(manifest, "audit", content)


def bomb(entries, manifest):
    """Small as a file; says that it is as large as it is, so only the whole of it is too much."""
    content = b"0" * 30_000_000
    entries["tables/audit.jsonl"] = content
    noted(manifest, "audit", content)


def negative(entries, manifest):
    manifest["tables"]["audit"]["bytes"] = -1


def odd_manifest(entries, manifest):
    manifest["tables"] = ["sites"]


REFUSED = [
    (tampered, "not as it was written"), (newer, "newer version"), (newer_format, "newer version"),
    (no_manifest, "not complete"), (traversal, "it holds '../../etc/passwd'"), (absolute, "it holds '/etc/cron.d/x'"),
    (foreign_table, "it holds"), (sessions, "missing or unknown"), (missing_table, "missing or unknown"),
    (unnamed_table, "does not name"), (wrong_type, "cannot be read"), (unknown_column, "cannot be read"),
    (orphan, "do not fit together"), (no_json, "cannot be read"), (bomb, ""), (negative, "manifest cannot be read"),
    (odd_manifest, "manifest cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "says"), REFUSED, ids=[change.__name__ for change, _ in REFUSED])
def test_a_backup_that_is_not_as_it_must_be_is_refused_and_nothing_changes(good, precious, change, says):
    before = state(precious)
    with pytest.raises(BadBackup) as caught:
        bring(precious, rewritten(good, change))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert state(precious) == before


def test_a_backup_in_a_compression_that_cannot_be_limited_is_refused(precious):
    before = state(precious)
    with pytest.raises(BadBackup, match="compressed in another way"):
        bring(precious, bzip2_bomb("manifest.json"))
    assert state(precious) == before


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(good, precious, share):
    before = state(precious)
    with pytest.raises(BadBackup):
        bring(precious, good[: int(len(good) * share)])
    assert state(precious) == before


@pytest.mark.parametrize("name", ["tables/sites.jsonl", "tables/messages.jsonl", "manifest.json"])
def test_a_flipped_byte_is_noticed(good, precious, name):
    before = state(precious)
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        info = archive.getinfo(name)
    extra = int.from_bytes(good[info.header_offset + 28 : info.header_offset + 30], "little")
    damaged = bytearray(good)
    damaged[info.header_offset + 30 + len(name) + extra + info.compress_size // 2] ^= 0xFF
    with pytest.raises(BadBackup):
        bring(precious, bytes(damaged))
    assert state(precious) == before


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\x03\x04" + b"\0" * 100])
def test_what_is_no_archive_is_refused(precious, data):
    with pytest.raises(BadBackup, match="no backup of Docent"):
        bring(precious, data)


def test_more_than_the_disk_holds_is_refused_before_it_is_read(good):
    with open_backup(io.BytesIO(good)) as backup, pytest.raises(BadBackup, match="MB are free"):
        backup.check(10)


def test_an_archive_that_lies_about_its_size_is_refused(good, precious):
    """The directory says 10 bytes, the entry holds megabytes."""
    out = io.BytesIO(good)
    with zipfile.ZipFile(out) as archive:
        info = archive.getinfo("tables/sites.jsonl")
        size = info.file_size
    data = good.replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert data != good
    before = state(precious)
    with pytest.raises(BadBackup):
        bring(precious, data)
    assert state(precious) == before


def test_a_backup_of_an_older_version_gets_defaults_for_what_it_lacks(good, precious):
    def older(entries, manifest):
        manifest["schema"] = "0006"
        rows = [json.loads(line) for line in entries["tables/operators.jsonl"].splitlines()]
        for row in rows:
            for name in ("role", "totp_secret", "totp_step"):
                row.pop(name)
        content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        entries["tables/operators.jsonl"] = content
        noted(manifest, "operators", content)
        for name in ("audit", "api_keys"):
            del entries[f"tables/{name}.jsonl"]
            del manifest["tables"][name]

    bring(precious, rewritten(good, older))
    assert OperatorStore(precious).find("ada@example.com").role == "owner"
    assert AuditLog(precious).recent(10) == []


def test_every_table_stands_in_the_backup_or_is_left_out_on_purpose(good):
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        held = {name.removeprefix("tables/").removesuffix(".jsonl") for name in archive.namelist()}
    assert held - {"manifest.json"} == set(metadata.tables) - LEFT_OUT
