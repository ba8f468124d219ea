"""The audit log cannot be changed through the database, and shows when somebody got around that."""

import json
from datetime import datetime
from threading import Thread

import pytest
from alembic import command
from sqlalchemy import select, text, update
from sqlalchemy.exc import DatabaseError

from server.__main__ import main
from server.storage import upgrade
from server.storage.database import Database
from server.storage.people.audit import AuditLog, entry_hash
from server.storage.schema.people import audit

HOSTILE = 'quote " \\ \0 \ud83c \u202e\n漢字'


@pytest.fixture
def log(database):
    made = AuditLog(database)
    for number in range(6):
        made.add("ada@example.com", f"did {HOSTILE}", "shop", {"n": number, HOSTILE: [1.5, None, HOSTILE]})
    return made


REFUSED = (
    "UPDATE audit SET operator = 'nobody' WHERE id = 3",
    "UPDATE audit SET hash = ''",
    "DELETE FROM audit WHERE id = 3",
    "DELETE FROM audit",
    "INSERT INTO audit (id, at, operator, site_id, action, details, hash) "
    "VALUES (3, '2026-01-01', 'x', '', 'x', '{}', '') ON CONFLICT (id) DO UPDATE SET operator = 'nobody'",
)
ONLY = {
    "sqlite": (
        "INSERT OR REPLACE INTO audit (id, at, operator, site_id, action, details, hash) "
        "VALUES (3, '2026-01-01', 'x', '', 'x', '{}', '')",
        "REPLACE INTO audit (id, at, operator, site_id, action, details) "
        "VALUES (3, '2026-01-01', 'x', '', 'x', '{}')",
    ),
    "postgresql": ("TRUNCATE audit", "TRUNCATE audit, api_keys CASCADE"),
}


def test_the_database_refuses_to_change_or_remove_an_entry(database, log):
    before = list(log.chain())
    for statement in (*REFUSED, *ONLY[database.dialect]):
        with pytest.raises(DatabaseError, match="append-only"), database.begin() as connection:
            connection.execute(text(statement))
    assert list(log.chain()) == before
    assert log.verify().broken == ()


def without_triggers(connection):
    """What somebody does who owns the database."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL session_replication_role = replica"))
    else:
        for name in ("update", "delete", "replace"):
            connection.execute(text(f"DROP TRIGGER audit_no_{name}"))


TAMPERED = {
    "a changed text": ("UPDATE audit SET operator = 'nobody' WHERE id = 3", [3]),
    "changed details": ("""UPDATE audit SET details = '{"n": 7}' WHERE id = 3""", [3]),
    "a changed moment": ("UPDATE audit SET at = '2020-01-01 00:00:00' WHERE id = 3", [3]),
    "a removed entry": ("DELETE FROM audit WHERE id = 3", [4]),
    "the first ones removed": ("DELETE FROM audit WHERE id < 3", [3]),
    "two that changed places": ("UPDATE audit SET id = 9 - id WHERE id IN (4, 5)", None),
    "another hash": ("UPDATE audit SET hash = 'abc' WHERE id = 3", [3, 4]),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_it_says_where_it_was_tampered_with(database, log, how):
    statement, expected = TAMPERED[how]
    with database.begin() as connection:
        without_triggers(connection)
        for one in statement.split(";"):
            if "9 - id" in one:  # over a free number, for ids are unique
                for step in ("id = 99 WHERE id = 4", "id = 4 WHERE id = 5", "id = 5 WHERE id = 99"):
                    connection.execute(text(f"UPDATE audit SET {step}"))
            else:
                connection.execute(text(one))
    broken = [one.id for one in log.verify().broken]
    assert broken == expected if expected else broken[:2] == [4, 5]


def test_what_was_cut_off_the_end_is_missed_by_who_kept_a_hash(database, log):
    known = log.verify().head
    assert log.verify(known).has_known
    with database.begin() as connection:
        without_triggers(connection)
        connection.execute(text("DELETE FROM audit WHERE id > 4"))
    found = log.verify(known)
    assert (found.broken, found.has_known) == ((), False)


def test_entries_of_many_threads_and_connections_make_one_chain(database, database_url):
    other = Database(database_url)
    logs = [AuditLog(database), AuditLog(other)]
    threads = [
        Thread(target=lambda log=log: [log.add("a", "did", "", {"n": n}) for n in range(10)])
        for log in logs * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = logs[0].verify()
    assert (found.entries, found.broken) == (60, ())
    other.close()


def test_an_exported_line_can_be_checked_by_itself(log):
    previous = ""
    for line in [one.to_json() for one in log.chain()]:
        entry = json.loads(line)
        entry["at"] = datetime.fromisoformat(entry["at"])
        assert entry["hash"] == entry_hash(previous, entry)
        previous = entry["hash"]


def test_entries_of_before_the_chain_are_chained(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/old.db")
    with database.begin() as connection:
        command.upgrade(upgrade.configuration(connection), "0106")
        for id in (3, 7):
            connection.execute(
                text(
                    "INSERT INTO audit (id, at, operator, site_id, action, details) VALUES (:id, :at, 'a', '', 'did', :d)"
                ),
                {"id": id, "at": "2026-01-01 10:00:00.000000", "d": '{"x":"é"}'},
            )
    database.migrate()
    log = AuditLog(database)
    log.add("b", "did more")
    assert [one.id for one in log.chain()] == [3, 7, 8]
    assert log.verify().broken == ()
    database.close()


def test_the_command_says_whether_it_is_whole(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    database = Database(f"sqlite:///{tmp_path}/docent.sqlite3")
    database.migrate()
    log = AuditLog(database)
    log.add("ada@example.com", "did something")
    log.add("ada@example.com", "did more", "shop", {"n": 1})
    head = log.verify().head
    assert main(["audit", "verify", "--known", head]) == 0
    assert f"whole: 2 entries, the newest with the hash {head}" in capsys.readouterr().out
    assert main(["audit", "export"]) == 0
    assert [json.loads(line)["action"] for line in capsys.readouterr().out.splitlines()] == [
        "did something",
        "did more",
    ]
    with database.begin() as connection:
        without_triggers(connection)
        connection.execute(update(audit).where(audit.c.id == 1).values(operator="eve@example.com"))
        assert (
            connection.execute(select(audit.c.operator).order_by(audit.c.id)).first()[0] == "eve@example.com"
        )
    assert main(["audit", "verify"]) == 1
    assert "Entry 1 of" in capsys.readouterr().out
    assert main(["audit", "verify", "--known", "0" * 64]) == 1
    assert "No entry has the hash 000" in capsys.readouterr().out
    database.close()
