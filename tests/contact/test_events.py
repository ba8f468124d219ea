"""Other systems are told what happens: signed, again and again until it arrives, once for each thing."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from server.contact.messages import WEBHOOK_FAILED
from server.contact.outbox import open_outbox
from server.contact.webhook import SIGNATURE, signature
from server.domain.answer import Message
from server.domain.events import EventKind
from server.jobs.upkeep import Tidying
from server.runtime.stores import WatchedIncidents
from server.settings import Settings
from server.storage.conversations.conversations import ConversationStore, Retention
from server.storage.delivery.contact import ContactStore
from server.storage.delivery.events import EventStore, WebhookStore, event_deliveries
from server.storage.errors import UnknownRecord
from server.storage.schema.conversations import conversations, messages
from server.storage.sites.incidents import IncidentStore
from server.storage.sites.sites import SiteStore
from tests.contact.conftest import SEAL, talk

SECRET = "only both sides know it"


@pytest.fixture
def office_database(database):
    return database


class Desk:
    """Everything around events on one database."""

    def __init__(self, database, **settings):
        quick = {"contact_retry_s": 0.001, "contact_tries": 3, "webhook_allow_private": True, **settings}
        self.database, self.settings = database, Settings.of(**quick)
        self.events, self.hooks = EventStore(database), WebhookStore(database)
        self.incidents = WatchedIncidents(IncidentStore(database), self.events)
        self.outbox = open_outbox(database, self.incidents, lambda: self.settings, lambda: SEAL)

    def hook(self, url, kinds=tuple(EventKind), site_id=None):
        return self.hooks.add(url, SEAL.close(SECRET), kinds, site_id)

    def send(self):
        for _ in range(50):
            self.outbox.send_next()
            if not event_deliveries(self.database).due_since():
                return


@pytest.fixture
def desk(database, make_office):
    make_office({})  # the site shop
    return Desk(database)


def told(receiver):
    return [json.loads(body) for _, _, body in receiver.requests]


def test_an_event_is_posted_and_signed(desk, receiver):
    desk.hook(receiver.address)
    desk.events.emit(EventKind.CRAWL_FAILED, "shop", {"message": "no such host"})
    desk.send()
    [(_, headers, body)] = receiver.requests
    value = json.loads(body)
    assert (value["type"], value["site"], value["data"]) == (
        "crawl.failed",
        "shop",
        {"message": "no such host"},
    )
    at = int(headers[SIGNATURE].split(",")[0].removeprefix("t="))
    assert headers[SIGNATURE] == signature(body, SECRET, at)
    assert headers["X-Docent-Id"] == value["id"]


def test_only_who_wants_an_event_gets_it(desk, receiver, database):
    SiteStore(database).create(replace(SiteStore(database).get("shop"), id="other"))
    desk.hook(f"{receiver.address}/kind", [EventKind.BUDGET_SPENT])
    desk.hook(f"{receiver.address}/site", site_id="other")
    off = desk.hook(f"{receiver.address}/off")
    desk.hooks.change(off, on=False)
    desk.events.emit(EventKind.CRAWL_FAILED, "shop", {})
    desk.events.emit(EventKind.CRAWL_FAILED, "other", {})
    desk.send()
    assert [path for path, _, _ in receiver.requests] == ["/site"]


def test_what_happened_once_is_told_once(desk, receiver):
    desk.hook(receiver.address)
    for _ in range(3):
        desk.incidents.record("shop", "budget_spent", "spent")
        desk.events.emit(EventKind.GAP_OPENED, "shop", {}, "gap.opened:1")
    desk.incidents.record("shop", "timeout", "slow")
    desk.send()
    assert sorted(value["type"] for value in told(receiver)) == ["budget.spent", "gap.opened"]


def test_what_does_not_arrive_is_tried_again_and_then_is_an_incident(desk, receiver):
    hook = desk.hook(f"{receiver.address}/services/secret")
    receiver.answers = [500, 503, 500]
    desk.events.emit(EventKind.ANSWER_NEGATIVE, "shop", {"message": "m"})
    for _ in range(3):
        desk.send()
        threading.Event().wait(0.05)
    [(event, delivery)] = desk.events.sent(10, webhook_id=hook)
    assert delivery.state == "failed"
    assert [tried.says for tried in delivery.log] == [
        f"127.0.0.1 answered {code}" for code in (500, 503, 500)
    ]
    incident = IncidentStore(desk.database).recent(["shop"])[0]
    assert (incident.kind, incident.details["webhook"]) == (WEBHOOK_FAILED, receiver.address)
    assert "secret" not in f"{incident}{delivery}", "who sees incidents may not see webhooks"
    event_deliveries(desk.database).again(event.id, [hook])
    desk.send()
    assert desk.events.sent(10)[0][1].state == "sent"


def test_private_addresses_are_refused_unless_they_are_allowed(database, make_office, receiver):
    make_office({})
    desk = Desk(database, webhook_allow_private=False, contact_tries=1)
    desk.hook(receiver.address)
    desk.events.emit(EventKind.CRAWL_FAILED, "shop", {})
    desk.send()
    assert receiver.requests == []
    assert desk.events.sent(1)[0][1].state == "failed"


def test_a_removed_webhook_takes_its_deliveries_along(desk, receiver):
    hook = desk.hook(receiver.address)
    desk.events.emit(EventKind.CRAWL_FAILED, "shop", {})
    desk.hooks.remove(hook)
    desk.send()
    assert receiver.requests == []
    with pytest.raises(UnknownRecord):
        desk.hooks.get(hook)


def test_an_event_without_a_database_hinders_nothing(desk):
    desk.hook("http://127.0.0.1:9/")
    with desk.database.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE events RENAME TO elsewhere")
    try:
        desk.events.emit(EventKind.CRAWL_FAILED, "shop", {})
    finally:
        with desk.database.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO events")


# --- Retention


def old_talk(office, days, questions=2):
    id = talk(office, [f"Question {number}?" for number in range(questions)])
    at = datetime.now(UTC) - timedelta(days=days)
    with office.database.begin() as connection:
        connection.execute(update(conversations).where(conversations.c.id == id).values(started_at=at))
        connection.execute(update(messages).where(messages.c.conversation_id == id).values(asked_at=at))
    return id


def test_conversations_are_deleted_when_their_days_are_over(make_office, monkeypatch):
    office = make_office({"email": "a@shop.example"})
    monkeypatch.setattr("server.storage.conversations.conversations.BATCH", 2)
    monkeypatch.setattr("server.jobs.upkeep.PAUSE_S", 0.0)
    for _ in range(5):
        old_talk(office, days=31)
    kept = old_talk(office, days=29)
    office.write(conversation=old_talk(office, days=40))
    again = old_talk(office, days=31)
    answer = ConversationStore(office.database).get(kept).messages[0].answer
    late = Message("late", again, "shop", datetime.now(UTC), "Still there?", "", "en", answer)
    ConversationStore(office.database).add(late)
    now = datetime.now(UTC)
    assert Retention(office.database).count(now - timedelta(days=30)) == 7
    days = {"conversation_days": 0}
    tidying = Tidying(office.database, lambda: Settings.of(**days))
    assert tidying.forget_old(now, threading.Event()) == 0, "0 keeps everything"
    days["conversation_days"] = 30
    assert tidying.forget_old(now, threading.Event()) == 6
    left = {one.id for one in ConversationStore(office.database).recent("shop", 50)}
    assert left == {kept, again}, "one that goes on is young"
    assert ContactStore(office.database).recent() == []


def test_the_default_deletes_nothing_before_it_was_announced_for_30_days(make_office):
    office = make_office({"email": "a@shop.example"})
    old_talk(office, days=400)
    tidying = Tidying(office.database, Settings.of)
    now, ending = datetime.now(UTC), threading.Event()
    assert tidying.forget_old(now + timedelta(days=100), ending) == 0, "nobody saw a notice"
    retention = Retention(office.database)
    begins = retention.begins(365, now, shows=True)
    assert begins == now + timedelta(days=30)
    assert retention.begins(365, now + timedelta(days=3), shows=True) == begins
    assert tidying.forget_old(now + timedelta(days=29), ending) == 0
    assert tidying.forget_old(now + timedelta(days=31), ending) == 1
    assert retention.begins(365, now + timedelta(days=31)) is None


def test_young_conversations_need_no_announcement(make_office):
    office = make_office({"email": "a@shop.example"})
    old_talk(office, days=300)
    retention, now = Retention(office.database), datetime.now(UTC)
    assert retention.begins(365, now, shows=True) is None
    assert retention.begins(365, now + timedelta(days=40), shows=True) == now.replace() + timedelta(days=70)


def test_days_that_an_operator_chose_hold_at_once(make_office):
    office = make_office({"email": "a@shop.example"})
    old_talk(office, days=400)
    tidying = Tidying(office.database, lambda: Settings.of(conversation_days=365))
    assert tidying.forget_old(datetime.now(UTC), threading.Event()) == 1
