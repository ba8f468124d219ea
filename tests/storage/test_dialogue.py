"""What is counted of messages stands beside them, whoever adds, judges or erases them."""

from datetime import UTC, datetime
from io import BytesIO
from itertools import pairwise
from uuid import uuid4

import pytest
from sqlalchemy import select, text

from server.backup.reading import open_backup, restore
from server.backup.shape import write_backup
from server.domain.answer import Answer, Citation, Message, Outcome
from server.storage.conversations.conversations import TIMES_MS, ConversationStore, within
from server.storage.conversations.feedback import FeedbackStore
from server.storage.conversations.search import found_by
from server.storage.schema.conversations import cited, message_days, message_times, messages

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TRACE = {"usage": {"calls": 2, "tokens_in": 900, "tokens_out": 100, "cost": 0.0125}, "support": 0.61}


def cite(number, url="https://shop.example/delivery"):
    return Citation(number, url, "Delivery", "Two days.", url)


@pytest.fixture
def store(database, site):
    return ConversationStore(database)


def add(store, conversation_id, question="When?", text="Soon [1].", at=NOON, **answer):
    given = {"outcome": Outcome.ANSWERED, "citations": (cite(1),), "timings_ms": {"a": 100.0, "b": 20.5}}
    made = Answer(text=text, **{**given, "trace": TRACE, **answer})
    id = uuid4().hex
    store.add(Message(id, conversation_id, "shop", at, question, question, "en", made))
    return id


def rows(database, table):
    with database.connect() as connection:
        return [row._asdict() for row in connection.execute(select(table).order_by(*table.primary_key))]


def the_day(database):
    (row,) = rows(database, message_days)
    return row


def test_a_message_has_its_figures_and_its_citations(database, store):
    conversation = store.start("shop", "v")
    id = add(store, conversation, citations=(cite(1), cite(2, "https://shop.example/returns"), cite(2)))
    add(store, conversation, trace={"support": "high"}, citations=(), timings_ms={})
    first, second = rows(database, messages)
    names = ("took_ms", "within_ms", "cost", "tokens", "turn", "support", "helpful")
    assert [first[name] for name in names] == [120.5, 130, 0.0125, 1000, 1, 0.61, None]
    assert [second[name] for name in names] == [0, 0, 0, 0, 2, None, None]
    found = [(row["message_id"], row["number"], row["url"], row["at"]) for row in rows(database, cited)]
    assert found == [
        (id, 1, "https://shop.example/delivery", NOON),
        (id, 2, "https://shop.example/returns", NOON),
    ]


def test_a_thumb_stands_with_its_message(database, store):
    id = add(store, store.start("shop", "v"))
    for helpful in (True, False):
        FeedbackStore(database).put(id, "v", helpful)
        assert rows(database, messages)[0]["helpful"] is helpful
        day = the_day(database)
        assert (day["up"], day["down"]) == (int(helpful), int(not helpful))


def test_days_count_what_is_there_also_after_an_erasure(database, store):
    stays, goes = store.start("shop", "stays"), store.start("shop", "goes")
    add(store, stays)
    add(store, stays, outcome=Outcome.REFUSED, timings_ms={"a": 4000.0})
    judged = add(store, goes, outcome=Outcome.CURATED)
    FeedbackStore(database).put(judged, "goes", True)
    day = the_day(database)
    assert day["day"] == "2026-05-04"
    names = ("asked", "opened", "answered", "refused", "curated", "handoff", "up", "down", "tokens")
    assert [day[name] for name in names] == [3, 2, 1, 1, 1, 0, 1, 0, 3000]
    assert day["cost"] == pytest.approx(0.0375)
    assert len(store.erase_visitor("shop", "goes").conversations) == 1
    day = the_day(database)
    assert [day[name] for name in names] == [2, 1, 1, 1, 0, 0, 0, 0, 2000]
    times = {row["within_ms"]: row["asked"] for row in rows(database, message_times)}
    assert times == {130: 1, 4300: 1}
    assert len(rows(database, cited)) == 2


def test_a_restored_backup_has_its_sums_and_its_words(database, store):
    add(store, store.start("shop", "v"), "Parcel?")
    archive = BytesIO()
    write_backup(database, archive, "1")
    before = [rows(database, table) for table in (messages, message_days, message_times)]
    add(store, store.start("shop", "v"), "Later?")
    with open_backup(archive) as backup:
        restore(database, backup)
    assert [rows(database, table) for table in (messages, message_days, message_times)] == before
    for search, found in (("parcel", ["Parcel?"]), ("later", [])):
        with database.connect() as connection:
            wanted = select(messages.c.question).where(found_by(database.dialect, search))
            assert connection.execute(wanted).scalars().all() == found


def test_a_day_is_one_in_utc(database, store):
    conversation = store.start("shop", "v")
    add(store, conversation, at=datetime(2026, 5, 4, 23, 59, 59, 999999, tzinfo=UTC))
    add(store, conversation, at=datetime(2026, 5, 5, tzinfo=UTC))
    assert [row["day"] for row in rows(database, message_days)] == ["2026-05-04", "2026-05-05"]


def test_times_are_counted_in_steps_of_a_tenth():
    assert list(TIMES_MS) == sorted(set(TIMES_MS))
    steps = [step for step in TIMES_MS if 10 <= step < 10**6]
    assert max(later / step for step, later in pairwise(steps)) < 1.16
    assert [within(took) for took in (0, 0.2, 1, 10, 10.01, 950, 10**9)] == [0, 1, 1, 10, 11, 1000, 10**7]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("parcel", ["When does a Parcel arrive?"]),
        ("parc ARRI", ["When does a Parcel arrive?"]),
        ("café", ["Où est le café-bar ?"]),
        ("CAFE-B", ["Où est le café-bar ?"]),
        ("bar-café", []),
        ("注文", ["注文はいつ届きますか"]),
        ("文注", []),
        ("توصيل", ["توصيل الطلب إلى الجزر؟"]),
        ("refund", ["When does a Parcel arrive?"]),
        ("\" OR ) & ! '; DROP", []),
        ("arrive:", ["When does a Parcel arrive?"]),
        ("x" * 3000, []),
    ],
)
def test_words_of_questions_and_answers_are_found_in_every_language(database, store, search, found):
    conversation = store.start("shop", "v")
    add(store, conversation, "When does a Parcel arrive?", "Tomorrow, or you get a **refund** [1].")
    for question in ("Où est le café-bar ?", "注文はいつ届きますか", "توصيل الطلب إلى الجزر؟"):
        add(store, conversation, question, "?")
    wanted = select(messages.c.question).where(found_by(database.dialect, search))
    with database.connect() as connection:
        assert connection.execute(wanted).scalars().all() == found


def test_a_search_for_signs_alone_is_none(database):
    assert found_by(database.dialect, " ?! _ ") is None


def test_erased_messages_are_found_no_more(database, store):
    add(store, store.start("shop", "v"), "Parcel?")
    assert len(store.erase_visitor("shop", "v").conversations) == 1
    with database.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM message_search")).scalar_one() == 0


def test_a_complaint_counts_as_a_thumb_down_on_the_answer_before_it(database, store):
    conversation = store.start("shop", "v")
    complaint = {"outcome": Outcome.HANDOFF, "citations": (), "trace": {"mood": "complaint_answer"}}
    greeting = add(store, conversation, "Hello", citations=())
    add(store, conversation, "this is ridiculous", **complaint)
    answered = add(store, conversation)
    add(store, conversation, "your last answer was wrong", **complaint)
    add(store, conversation, "this is ridiculous", **complaint)
    given = FeedbackStore(database).of([row["id"] for row in rows(database, messages)])
    assert [(one.message_id, one.helpful, one.comment) for one in given.values()] == [
        (answered, False, "your last answer was wrong")
    ]
    assert greeting not in given
