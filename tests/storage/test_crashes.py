"""kill -9 at any moment: what was acknowledged is there, what was not is not there by half."""

import signal

import pytest
from sqlalchemy import text

from server.storage.content.content import ContentStore
from server.storage.conversations.conversations import ConversationStore

ADDING = """
import sys, uuid
from datetime import UTC, datetime
from server.domain.answer import Answer, Outcome
from server.domain.answer import Message
from server.storage.conversations.conversations import ConversationStore
from server.storage.database import Database

store = ConversationStore(Database(sys.argv[1]))
while True:
    id, answer = uuid.uuid4().hex, Answer(Outcome.ANSWERED, "a")
    store.add(Message(id, sys.argv[2], "shop", datetime.now(UTC), "q", "q", "en", answer))
    print(id, flush=True)
"""

BUILDING = """
import os, signal, sys
from datetime import UTC, datetime
from sqlalchemy import event
from server.domain.chunk import Chunk
from server.storage.content.reader import PageRecord
from server.storage.content.content import ContentStore
from server.storage.database import Database

database = Database(sys.argv[1])
content = ContentStore(database, "shop")

def put(content_hash, added, removed):
    page = PageRecord("u", "Title", "en", content_hash, "", "", 0, datetime.now(UTC))
    content.put_page(page, [Chunk(id, "u", "Title", (), id, n) for n, id in enumerate(added)], removed)

put("1", ["a", "b"], [])
content.go_live()
put("2", ["c"], ["a"])

def die(connection, cursor, statement, parameters, context, executemany):
    if statement.lstrip().startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(database._engine, "after_cursor_execute", die)
put("3", ["d"], ["b"])
"""


def sound(database):
    if database.dialect == "sqlite":
        with database.connect() as connection:
            assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
            assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
    return True


def test_no_acknowledged_message_is_lost(database, database_url, site, run):
    id = ConversationStore(database).start("shop", "v")
    process = run(ADDING, database_url, id)
    acknowledged = {process.stdout.readline().strip() for _ in range(100)}
    process.send_signal(signal.SIGKILL)
    assert process.stderr.read() == ""
    acknowledged |= set(process.stdout.read().split())
    stored = {message.id for message in ConversationStore(database).get(id).messages}
    assert acknowledged <= stored
    assert len(stored - acknowledged) <= 1
    assert sound(database)


@pytest.mark.parametrize("moment", ["INSERT INTO chunks", "INSERT INTO pages"])
def test_a_page_is_put_whole_or_not_at_all(database, database_url, site, run, moment):
    process = run(BUILDING, database_url, moment)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (-signal.SIGKILL, "")
    content = ContentStore(database, "shop")
    assert content.known_pages()["u"].content_hash == "2"
    assert content.chunk_ids("u") == ["c", "b"]
    assert [chunk.id for chunk in content.live.page("u")] == ["a", "b"]
    assert content.discard_unfinished() == ["c"]
    assert content.known_pages()["u"].content_hash == "1"
    assert content.chunk_ids("u") == ["a", "b"]
    assert sound(database)


def test_the_generation_moves_whole_or_not_at_all(database, database_url, site, run):
    code = BUILDING.replace('put("3", ["d"], ["b"])', "content.go_live()")
    process = run(code, database_url, "UPDATE sites")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    content = ContentStore(database, "shop")
    assert content.live.live_generation() == 1
    assert content.go_live() == 2
    assert {chunk.id for chunk in content.live.every_chunk()} == {"b", "c"}
