"""An erased visitor leaves no word in any file of the data folder, nor in any row of PostgreSQL."""

from datetime import timedelta
from io import BytesIO
from threading import Event

import psycopg
import pytest

from server.api.visitor.streams import EventLog, StreamCopies
from server.backup.reading import open_backup, restore
from server.backup.shape import write_backup
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.contact import Channel
from server.domain.events import EventKind
from server.domain.question import Turn
from server.domain.site import Site
from server.quality.questions import Wanted, questions_of_visitors
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.columns import now
from server.storage.conversations.erasure import SCRUBBED_FOR, Purge, visitor_hash
from server.storage.conversations.history import erase_visitor

SECRET = "Zanzibarflummox quadrille"
QUESTION = f"Where is the {SECRET} that I bought?"
COMMENT = f"No {SECRET} was mentioned."
WRITTEN = f"Please send the {SECRET} to my mother."
EMAIL = "zanzibarflummox@example.com"


@pytest.fixture(params=["sqlite", "postgresql"])
def runtime(request, tmp_path):
    is_postgresql = request.param == "postgresql"
    address = request.getfixturevalue("new_migrated_postgresql")() if is_postgresql else ""
    opened = open_runtime(Settings.of(data_dir=tmp_path / "data", database_url=address))
    opened.stores.sites.create(Site("shop", "Shop", "Shop", ("https://shop.example/",), generation=1))
    opened.delivery.webhooks.add("https://hooks.example/", "sealed", list(EventKind), None)
    yield opened
    opened.close()


def say_everything(runtime, visitor="ada"):
    """Say the secret in every way in which a visitor can; returns the message's id."""
    dialogue, delivery = runtime.dialogue, runtime.delivery
    conversation = dialogue.conversations.start("shop", visitor)
    citation = Citation(1, "https://shop.example/a", "A", "words", "https://shop.example/a")
    for number, outcome in enumerate((Outcome.ANSWERED, Outcome.REFUSED)):
        answer = Answer(outcome, f"You asked about {SECRET}.", (citation,), trace={"query": QUESTION})
        message = Message(
            f"{visitor}{number}", conversation, "shop", now(), QUESTION, f"{QUESTION} (shop)", "en", answer
        )
        dialogue.conversations.add(message)
    dialogue.feedback.put(f"{visitor}1", visitor, False, COMMENT)
    data = {"message": f"{visitor}1", "comment": COMMENT}
    delivery.events.emit(EventKind.ANSWER_NEGATIVE, "shop", data, f"answer.negative:{visitor}1")
    delivery.contact.add("shop", visitor, EMAIL, WRITTEN, conversation, [Channel.EMAIL])
    delivery.contact.add("shop", visitor, EMAIL, WRITTEN, None, [Channel.EMAIL])
    runtime.engine.history.add(conversation, Turn(QUESTION, "An answer."))
    log = EventLog(f"{visitor}1", f"shop:{visitor}", {"message": QUESTION})
    log.add("delta", {"text": QUESTION})
    log.finish()
    copies = StreamCopies(lambda: runtime.shared.cache)
    copies.put(log)
    assert copies.drain(10)
    runtime.gap_work.look()
    site = runtime.stores.sites.get("shop")
    cases = questions_of_visitors(runtime.database, site, Wanted(refused="unknown"), runtime.settings)
    assert cases
    testset = runtime.quality.testsets.create("shop", "Asked", "conversations", cases)
    run = runtime.quality.runs.queue("shop", testset.id, "Asked", {}, 10)
    row = {"id": cases[0].case_id, "question": QUESTION, "run": "direct"}
    report = {"rows": [row, {**row, "id": "other", "question": "What else?"}], "runs": [{"name": "direct"}]}
    runtime.quality.runs.keep_report(run.id, report, [(0, cases[0].case_id, {"question": QUESTION})])
    runtime.stores.playground_runs.start("shop", "Another", {"history": [[QUESTION, "No."]]}, 1, "op@x.com")
    return run.id


def erase(runtime, visitor="ada"):
    dialogue, engine = runtime.dialogue, runtime.engine
    return erase_visitor(dialogue.conversations, engine.history, runtime.shared.cache, "shop", visitor)


def purge_of(runtime):
    cache = runtime.configuration.folder.path / "cache"
    return Purge(runtime.database, [cache / "history", cache / "shared"])


def places(runtime):
    """Files and rows that hold the secret, in any case."""
    needles = [b"zanzibarflummox", b"quadrille"]
    found = [
        path.name
        for path in runtime.configuration.folder.path.rglob("*")
        if path.is_file() and any(needle in path.read_bytes().lower() for needle in needles)
    ]
    if runtime.database.dialect == "postgresql":
        with psycopg.connect(runtime.settings.storage.database_url) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in tables.fetchall():
                held = connection.execute(f"SELECT t::text FROM {table} AS t").fetchall()
                found += [table for (row,) in held if "zanzibarflummox" in row.lower()]
    return sorted(set(found))


def test_nothing_of_an_erased_visitor_is_left_in_any_byte(runtime):
    say_everything(runtime)
    assert places(runtime)
    assert erase(runtime) == 1
    purge = purge_of(runtime)
    assert purge.step(now())
    assert places(runtime) == []


def test_what_others_said_stays(runtime):
    say_everything(runtime)
    runtime.dialogue.conversations.start("shop", "bob")
    run = say_everything(runtime, "carol")
    erase(runtime)
    rows = runtime.quality.runs.report(run)["rows"]
    assert [row["question"] for row in rows] == ["What else?"]  # the same words of two people
    assert len(runtime.dialogue.conversations.recent("shop", 10)) == 2
    assert [one.visitor_id for one in runtime.delivery.contact.recent()] == ["carol", "carol"]


def test_files_are_rewritten_for_ten_minutes_and_then_each_hour(runtime):
    purge, at = purge_of(runtime), now()
    assert purge.step(at)
    assert not purge.step(at + timedelta(minutes=5))
    runtime.dialogue.conversations.start("shop", "ada")
    erase(runtime)
    assert [purge.step(now() + timedelta(minutes=minutes)) for minutes in (1, 8, 12)] == [True, True, False]
    assert purge.step(now() + SCRUBBED_FOR + timedelta(hours=1))


def test_the_worker_does_it(runtime, monkeypatch):
    say_everything(runtime)
    erase(runtime)
    ending = Event()
    monkeypatch.setattr(Purge, "step", lambda self, at: ending.set())
    purge_of(runtime).run(ending)
    assert ending.is_set()


def test_an_erased_answer_cannot_be_resumed(runtime):
    say_everything(runtime)
    copies = StreamCopies(lambda: runtime.shared.cache)
    assert copies.last_copy("ada1")
    erase(runtime)
    assert copies.last_copy("ada1") is None


def test_a_restore_of_an_older_backup_erases_again(runtime):
    say_everything(runtime)
    say_everything(runtime, "bob")
    older, written = BytesIO(), []
    write_backup(runtime.database, older, "1")
    erase(runtime)
    later = runtime.dialogue.conversations.start("shop", "ada")
    newer = BytesIO()
    write_backup(runtime.database, newer, "1")
    for file in (older, newer):
        with open_backup(file) as backup:
            restore(runtime.database, backup)
        written.append({one.id: one.visitor_id for one in runtime.dialogue.conversations.recent("shop", 10)})
    assert sorted(written[0].values()) == ["bob"]
    assert sorted(written[1].values()) == ["ada", "bob"]  # who came back after the erasure
    assert later in written[1]


def test_the_ledger_of_a_backup_holds_where_it_is_restored(runtime):
    say_everything(runtime)
    before = BytesIO()
    write_backup(runtime.database, before, "1")
    erase(runtime)
    after = BytesIO()
    write_backup(runtime.database, after, "1")
    with runtime.database.begin() as connection:
        connection.exec_driver_sql("DELETE FROM erasures")
    for file in (after, before):
        with open_backup(file) as backup:
            restore(runtime.database, backup)
    assert runtime.dialogue.conversations.recent("shop", 10) == []


def test_the_ledger_holds_no_content(runtime):
    say_everything(runtime)
    erase(runtime)
    with runtime.database.connect() as connection:
        [(visitor, _)] = connection.exec_driver_sql("SELECT * FROM erasures").all()
    assert visitor == visitor_hash("shop", "ada")
    assert "ada" not in visitor


def test_a_run_of_the_playground_from_before_the_visitor_came_stays(runtime):
    run = runtime.stores.playground_runs.start("shop", QUESTION, {}, 1, "op@x.com")
    say_everything(runtime)
    erase(runtime)
    assert [one.id for one in runtime.stores.playground_runs.recent()] == [run.id]
