"""One database for many threads and processes: nobody sees "locked", nothing half-done is seen."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import text

from server.domain.answer import Answer, Message, Outcome
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.sites.sites import SiteStore

VISITORS = 600

ASKING = """
import multiprocessing, sys, uuid
from datetime import UTC, datetime
from sqlalchemy import select, update
from server.domain.answer import Answer, Outcome
from server.domain.answer import Message
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.schema.sites import sites

def ask(start):
    database = Database(sys.argv[1])
    store = ConversationStore(database)
    start.wait()
    for number in range(100):
        id, answer = store.start("shop", "v"), Answer(Outcome.ANSWERED, "a")
        store.add(Message(uuid.uuid4().hex, id, "shop", datetime.now(UTC), "q", "q", "en", answer))
        with database.begin() as connection:
            counted = connection.execute(select(sites.c.generation).with_for_update()).scalar_one()
            connection.execute(update(sites).values(generation=counted + 1))
    database.close()

processes = multiprocessing.get_context("fork")
start = processes.Barrier(3)
started = [processes.Process(target=ask, args=(start,)) for _ in range(3)]
for process in started:
    process.start()
for process in started:
    process.join()
sys.exit(any(process.exitcode for process in started))
"""


def message(conversation_id):
    answer = Answer(Outcome.ANSWERED, "a")
    return Message(uuid4().hex, conversation_id, "shop", datetime.now(UTC), "q", "q", "en", answer)


def count(database, table="messages"):
    with database.connect() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def test_hundreds_of_threads_write_and_read_without_an_error(database, site):
    store, sites, start = ConversationStore(database), SiteStore(database), threading.Barrier(VISITORS)

    def visit(number):
        start.wait()
        sites.get("shop")
        id = store.start("shop", f"v{number}")
        store.add(message(id))
        return len(store.get(id).messages)

    with ThreadPoolExecutor(VISITORS) as pool:
        assert list(pool.map(visit, range(VISITORS))) == [1] * VISITORS
    assert count(database) == VISITORS


def test_several_processes_write_at_once_without_an_error(database, database_url, site, run):
    process = run(ASKING, database_url)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert count(database) == SiteStore(database).get("shop").generation == 300


def test_readers_are_not_held_up_by_a_writer(database, site):
    with database.begin() as connection:
        connection.execute(text("UPDATE sites SET name = 'half done'"))
        began = time.monotonic()
        with ThreadPoolExecutor(50) as pool:
            names = list(pool.map(lambda _: SiteStore(database).get("shop").name, range(50)))
        assert time.monotonic() - began < 10
    assert set(names) == {"Shop"}
    assert SiteStore(database).get("shop").name == "half done"


def test_a_failed_transaction_leaves_nothing(database, site):
    def fail_halfway():
        with database.begin() as connection:
            connection.execute(text("UPDATE sites SET name = 'half done'"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert SiteStore(database).get("shop").name == "Shop"
    ConversationStore(database).start("shop", "v")


def test_what_a_transaction_read_stays_true_until_it_writes(database, database_url, site):
    def step(_):
        with database.begin() as connection:
            lock = " FOR UPDATE" if database.dialect == "postgresql" else ""
            generation = connection.execute(text(f"SELECT generation FROM sites{lock}")).scalar_one()
            connection.execute(text("UPDATE sites SET generation = :next"), {"next": generation + 1})

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(step, range(60)))
    other = Database(database_url)
    assert SiteStore(other).get("shop").generation == 60
    other.close()


def test_a_transaction_inside_a_transaction_is_refused_on_sqlite(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/nested.db")
    with pytest.raises(RuntimeError, match=r"begin\(\) inside begin\(\)"), database.begin(), database.begin():
        pass
    with database.begin() as connection:
        connection.execute(text("CREATE TABLE still_works (id INTEGER)"))
    database.close()


def test_a_forked_child_uses_connections_of_its_own(database_url, site, run):
    child = """
import os, sys
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from server.storage.conversations.conversations import ConversationStore
database = Database(sys.argv[1])
with database.begin():  # forked while the write lock is taken, which the child must not inherit
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if SiteStore(database).get("shop").name == "Shop" else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
pid = os.fork()
if pid == 0:
    ConversationStore(database).start("shop", "child")
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
ConversationStore(database).start("shop", "parent")
print([c.visitor_id for c in ConversationStore(database).recent("shop", 9)])
database.close()
"""
    output, errors = run(child, database_url).communicate(timeout=60)
    assert (output, errors) == ("['parent', 'child']\n", "")


def test_a_database_works_on_after_it_was_closed(database, site):
    database.close()
    assert SiteStore(database).get("shop") == site
    database.ping()


def test_the_folder_of_a_new_database_is_made(tmp_path):
    path = tmp_path / "a b" / "ü%20?#:@" / "docent.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    assert SiteStore(database).all() == []
    assert path.exists()
    database.close()


def test_a_relative_path_is_of_the_folder_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    database = Database("sqlite:///data/docent.db")
    monkeypatch.chdir("/")
    database.migrate()
    database.close()
    assert (tmp_path / "data" / "docent.db").exists()


def test_a_search_on_sqlite_knows_capitals_of_every_language(tmp_path):
    with Database(f"sqlite:///{tmp_path}/docent.db").connect() as connection:
        assert connection.execute(text("SELECT lower('ÄPFEL'), lower(NULL)")).one() == ("äpfel", None)


def test_a_new_sqlite_database_keeps_a_write_ahead_log(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/docent.db")
    with database.connect() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert settings == ["wal", 1, 1, 30_000]
    database.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "not an address that Docent knows: write sqlite:///"),
        ("", "not an address that Docent knows"),
        ("postgresql://u:p@host:port/x", "not an address that Docent knows"),
        ("postgresql://u:p@ss@host/x", "the password in DATABASE_URL has an @: write %40"),
        ("mysql://u@localhost/x", "not an address that Docent knows"),
        ("sqlite://", "not an address that Docent knows"),
        ("sqlite:///", "DATABASE_URL needs a file"),
        ("sqlite:///:memory:", "DATABASE_URL needs a file"),
    ],
)
def test_an_address_that_cannot_work_is_refused_in_one_line(url, said):
    with pytest.raises(StorageError, match=said) as caught:
        Database(url)
    assert "\n" not in str(caught.value)
