"""Damaged, full, missing: one line that says what to do, and nothing lost."""

import os
import time
from contextlib import ExitStack, closing
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import event, text

from server.domain.question import Turn
from server.domain.site import Site
from server.storage.conversations.conversations import ConversationStore
from server.storage.conversations.history import DiskHistory, RedisHistory
from server.storage.database import Database
from server.storage.engines import _WaitForRestart
from server.storage.errors import StorageError, StorageUnavailable
from server.storage.shared_cache import DiskSharedCache, OptionalCache, RedisSharedCache
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore
from tests.server_fixtures import missing
from tests.servers import MissingProgram, free_port, postgresql, redis_server

SHOP = Site("shop", "Shop", "The Shop", ("https://shop.example/",))


@pytest.fixture
def path(migrated_sqlite, tmp_path):
    """A migrated SQLite file with one site, closed."""
    path = tmp_path / "docent.db"
    path.write_bytes(migrated_sqlite.read_bytes())
    database = Database(f"sqlite:///{path}")
    SiteStore(database).create(SHOP)
    database.close()
    return path


@pytest.fixture
def sqlite(path):
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


def said_in_one_line(caught, *parts):
    message = str(caught.value)
    assert "\n" not in message
    assert [part for part in parts if part not in message] == []


def test_a_file_that_is_no_database_is_named(path):
    path.write_bytes(b"This is a letter to my aunt. " * 500)
    with pytest.raises(StorageError) as caught:
        Database(f"sqlite:///{path}")
    said_in_one_line(caught, str(path), "is not a SQLite database, or is damaged: restore it from a backup")


def test_a_damaged_file_is_named_when_the_damage_is_met(path):
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StorageError) as caught:
        SiteStore(Database(f"sqlite:///{path}")).all()
    said_in_one_line(caught, str(path), "is damaged", "restore it from a backup")


@pytest.fixture(scope="module")
def small_postgresql():
    """The address of a PostgreSQL server that takes four connections, three of them from superusers only."""
    with ExitStack() as stack:
        try:
            address = stack.enter_context(postgresql(connections=4))
        except MissingProgram as error:
            missing(error)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE ROLE plain LOGIN")
        yield address


def connected(address):
    """PostgreSQL gives the place of a closed connection free a moment later."""
    end = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(address)
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


@pytest.mark.parametrize(("user", "others"), [("docent", 4), ("plain", 1)])
def test_a_postgresql_without_a_free_connection_says_what_to_raise(small_postgresql, user, others):
    with ExitStack() as stack:
        for _ in range(others):
            stack.enter_context(connected(small_postgresql))
        with pytest.raises(StorageUnavailable) as caught:
            Database(small_postgresql.replace("docent@", f"{user}@"))
    said_in_one_line(caught, "has no connection left: raise its max_connections")


def test_a_database_without_tables_asks_for_migrations(tmp_path):
    with pytest.raises(StorageError) as caught:
        SiteStore(Database(f"sqlite:///{tmp_path}/new.db")).all()
    said_in_one_line(caught, "has no tables yet: run the migrations")


def test_a_full_disk_loses_nothing_that_was_stored(sqlite):
    store = ConversationStore(sqlite)
    id = store.start("shop", "v")

    def fill(connection, _record, _proxy):
        connection.execute("PRAGMA max_page_count = 1")  # SQLite's own limit: no page more than there are

    event.listen(sqlite._engine, "checkout", fill)

    def fill_up():
        for _ in range(10_000):
            store.start("shop", "v" * 2000)

    with pytest.raises(StorageError) as caught:
        fill_up()
    said_in_one_line(caught, "cannot grow, the disk is full: free some space; what was stored before is safe")
    event.remove(sqlite._engine, "checkout", fill)
    with sqlite.connect() as connection:
        connection.execute(text("PRAGMA max_page_count = 1000000"))
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    assert store.belongs(id, "shop", "v")
    assert store.belongs(store.start("shop", "w"), "shop", "w")


def test_a_disk_that_refuses_writes_is_named(path, run):
    code = """
import resource, signal, sys
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database
from server.storage.engines import _WaitForRestart
from server.storage.errors import StorageError, StorageUnavailable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = ConversationStore(Database(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    while True:
        store.start("shop", "v" * 5000)
except StorageError as error:
    print(error)
"""
    output, errors = run(code, f"sqlite:///{path}").communicate(timeout=60)
    assert errors == ""
    assert len(output.splitlines()) == 1
    assert str(path) in output
    assert "free" in output
    database = Database(f"sqlite:///{path}")
    assert SiteStore(database).get("shop") == SHOP
    database.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError) as caught:
        Database(f"sqlite:///{tmp_path}/file/docent.db")
    said_in_one_line(caught, f"{tmp_path}/file cannot be made", "choose another DATA_DIR")


def test_a_path_that_is_a_folder_is_named(tmp_path):
    (tmp_path / "docent.db").mkdir()
    with pytest.raises(StorageError) as caught:
        Database(f"sqlite:///{tmp_path}/docent.db")
    said_in_one_line(caught, "docent.db cannot be opened: check that its folder exists")


def test_an_unreachable_postgresql_is_named_without_its_password():
    port = free_port()
    began = time.monotonic()
    with pytest.raises(StorageError) as caught:
        Database(f"postgresql://docent:secret-word@127.0.0.1:{port}/shop")
    assert time.monotonic() - began < 20
    said_in_one_line(
        caught, f"shop at 127.0.0.1:{port} cannot be reached", "check DATABASE_URL and that the server runs"
    )
    assert "secret-word" not in str(caught.value)


def test_an_unknown_postgresql_database_is_named(postgresql_server):
    with pytest.raises(StorageError) as caught:
        Database(postgresql_server.replace("/postgres", "/nowhere"))
    said_in_one_line(caught, "nowhere", "does not exist", "check DATABASE_URL")


def test_a_postgresql_that_came_back_is_used_again(new_postgresql):
    database = Database(url := new_postgresql())
    database.migrate()
    SiteStore(database).create(SHOP)
    with database.connect() as one, database.connect() as other:
        pid = other.execute(text("SELECT pg_backend_pid()")).scalar_one()
        one.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
    assert [SiteStore(database).get("shop") for _ in range(4)] == [SHOP] * 4
    with database.connect() as one, database.connect() as other:
        assert one.execute(text("SELECT 1")).scalar_one() == other.execute(text("SELECT 1")).scalar_one()
        with database.begin() as writer:
            writer.execute(text("SELECT 1"))
    others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()"
    with closing(Database(url)) as killer, killer.connect() as connection:
        connection.execute(text(f"{others} AND pid <> pg_backend_pid()"))
    with database.begin() as writer, database.connect() as one, database.connect() as other:
        assert [some.execute(text("SELECT 1")).scalar_one() for some in (writer, one, other)] == [1] * 3
    with pytest.raises(StorageError) as caught, database.begin() as connection:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    said_in_one_line(caught, "the PostgreSQL database")
    SiteStore(database).update(SHOP)
    database.close()


def test_an_error_of_our_own_sql_stays_visible(database):
    with pytest.raises(Exception, match="syntax") as caught, database.connect() as connection:
        connection.execute(text("SELEKT 1"))
    assert "SELEKT" in str(caught.value)


def test_an_incident_is_never_worth_an_error(path, caplog):
    database = Database(f"sqlite:///{path}")
    database.close()
    path.write_bytes(b"no database at all " * 500)
    IncidentStore(database).record("shop", "timeout", "the model took 30 s")
    assert "the model took 30 s" in caplog.text


@pytest.mark.parametrize(
    "use",
    [lambda folder: DiskHistory(folder, 3, 5).turns("c"), lambda folder: DiskSharedCache(folder).get("k")],
)
def test_a_damaged_cache_folder_may_be_deleted(tmp_path, use):
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "cache.db").write_bytes(b"no database at all " * 500)
    with pytest.raises(StorageError) as caught:
        use(folder)
    said_in_one_line(caught, str(folder), "is damaged: delete it", "only short-lived values are lost")


def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError) as caught:
        DiskSharedCache(tmp_path / "file" / "cache")
    said_in_one_line(caught, f"{tmp_path}/file/cache cannot be used", "check that this user may write to it")


def test_a_full_disk_fails_a_cache_in_one_line(tmp_path, run):
    code = """
import resource, signal, sys
from server.storage.engines import _WaitForRestart
from server.storage.errors import StorageError, StorageUnavailable
from server.storage.shared_cache import DiskSharedCache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cache = DiskSharedCache(sys.argv[1])
cache.set("first", "kept", 600)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    for number in range(10_000):
        cache.set(str(number), "x" * 5000, 600)
except StorageError as error:
    print(error)
print(cache.get("first"))
"""
    output, errors = run(code, str(tmp_path / "cache")).communicate(timeout=60)
    assert errors == ""
    assert str(tmp_path / "cache") in output.splitlines()[0]
    assert output.splitlines()[1:] == ["kept"]


def test_an_unreachable_redis_is_named_soon_and_without_its_password():
    port = free_port()
    address = f"redis://:secret-word@127.0.0.1:{port}/0"
    began = time.monotonic()
    for use in (
        lambda: RedisHistory(address, 3, 5).turns("c"),
        lambda: RedisHistory(address, 3, 5).add("c", Turn("q", "a")),
        lambda: RedisSharedCache(address).set("k", "v", 5),
    ):
        with pytest.raises(StorageError) as caught:
            use()
        said_in_one_line(
            caught, f"Redis at 127.0.0.1:{port} does not answer", "check REDIS_URL and that the server runs"
        )
        assert "secret-word" not in str(caught.value)
    assert time.monotonic() - began < 10


def test_a_redis_that_came_back_is_used_again():
    with redis_server() as address:
        history = RedisHistory(address, 3, 5)
        history.add("c", Turn("q", "a"))
    with pytest.raises(StorageError):
        history.turns("c")
    history.close()


def test_a_redis_that_does_not_answer_is_left_alone_for_a_moment():
    """Otherwise each visitor would wait for it several times."""
    with redis_server() as address:
        cache = RedisSharedCache(address)
        cache.set("k", "v", 60)
    with pytest.raises(StorageUnavailable):
        cache.get("k")
    with pytest.raises(StorageUnavailable, match="did not answer a moment ago"):
        cache.get("k")


def test_values_that_can_be_missed_are_not_found_while_redis_is_away(caplog):
    cache = OptionalCache(RedisSharedCache(f"redis://127.0.0.1:{free_port()}/0"))
    cache.set("k", "v", 60)
    cache.delete("k")
    assert (cache.get("k"), cache.add("k", "v", 60)) == (None, False)
    assert "served without the shared cache" in caplog.text


def test_whoever_needs_a_connection_waits_while_postgresql_restarts(monkeypatch):
    """tests/replicas does it with a real server."""
    answers = []

    def connect():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    postgresql = SimpleNamespace(connect=connect, loaded_dbapi=psycopg)
    monkeypatch.setattr("server.storage.engines.RESTART_S", 1.0)
    away = [psycopg.OperationalError("connection refused")] * 99
    opening = _WaitForRestart()
    answers[:] = [*away]
    with pytest.raises(psycopg.OperationalError):
        opening(postgresql, None, (), {})
    assert len(answers) == 98, "a server that never answered is not waited for"
    answers[:] = ["first", *away[:3], "second", *away]
    assert [opening(postgresql, None, (), {}) for _ in range(2)] == ["first", "second"]
    with pytest.raises(psycopg.OperationalError):
        opening(postgresql, None, (), {})
    left = len(answers)
    with pytest.raises(psycopg.OperationalError):
        opening(postgresql, None, (), {})
    assert len(answers) == left - 1, "a server that stays away fails every further try at once"


@pytest.mark.parametrize(
    "address", ["localhost:6379", "redis://:secret/word@host:6379/0", "redis://:secret@host:99999"]
)
def test_a_redis_address_that_cannot_work_is_refused(address):
    with pytest.raises(StorageError) as caught:
        RedisSharedCache(address)
    said_in_one_line(caught, "REDIS_URL is not an address", "write redis://host:6379/0")
    assert "secret" not in str(caught.value)
