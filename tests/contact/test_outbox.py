"""What waits is sent once, whatever happens to those who send it; on both databases."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from server.contact.messages import CONTACT_FAILED
from server.domain.contact import Channel, DeliveryState, DeliveryTry
from server.storage.errors import StorageError
from tests.contact.conftest import SECRET, talk

ROOT = Path(__file__).parents[2]
LEASE = timedelta(seconds=60)


@pytest.fixture
def office_database(database):
    return database


@pytest.fixture
def office(make_office, receiver):
    return make_office({"webhook": receiver.address, "secret": SECRET})


def now():
    return datetime.now(UTC)


def test_when_every_try_failed_the_message_stays_and_the_operator_is_told_once(office, receiver):
    receiver.answers = [500] * 10
    request = office.write()
    office.send_until_idle()
    assert office.log() == [("webhook", "failed", [(False, "127.0.0.1 answered 500")] * 4)]
    (incident,) = office.incidents.recent(["shop"])
    assert (incident.kind, incident.count) == (CONTACT_FAILED, 1)
    assert incident.details["reference"] == request.reference
    assert office.contact.get(request.id) == request
    told = f"{incident.message} {incident.details}"
    assert request.email not in told
    assert request.message not in told


def test_pauses_grow(office):
    pauses = [office.outbox.pause(tries) / office.outbox.pause(1) for tries in (1, 2, 3, 4)]
    assert pauses == [1, 3, 9, 27]
    assert office.outbox.pause(40) == timedelta(days=1)


def test_a_message_that_failed_is_sent_again_when_the_operator_wants(office, receiver):
    receiver.answers = [500] * 4
    request = office.write()
    office.send_until_idle()
    assert office.deliveries.again(request.id, [Channel.WEBHOOK]) == 1
    office.send_until_idle()
    ((_, state, log),) = office.log()
    assert (state, [arrived for arrived, _ in log]) == ("sent", [False] * 4 + [True])


def test_only_the_ways_on_which_it_did_not_arrive_are_tried_again(make_office, receiver, post, smtp_url):
    contact = {"webhook": receiver.address, "secret": SECRET, "email": "people@shop.example"}
    office = make_office(contact, smtp_url=smtp_url, contact_tries=1)
    receiver.answers = [500]
    request = office.write()
    office.send_until_idle()
    assert office.deliveries.again(request.id, list(Channel)) == 1
    office.send_until_idle()
    assert (len(post.letters), len(receiver.requests)) == (1, 2)
    assert office.deliveries.again(request.id, list(Channel)) == 2
    office.send_until_idle()
    assert (len(post.letters), len(receiver.requests)) == (2, 3)


def test_a_way_that_was_added_later_gets_the_message_too(make_office, receiver, post, smtp_url):
    office = make_office({"webhook": receiver.address, "secret": SECRET}, smtp_url=smtp_url)
    request = office.write()
    office.send_until_idle()
    contact = {**office.site.options["contact"], "email": "people@shop.example"}
    changed = office.sites.get("shop")
    changed.options["contact"] = contact
    office.sites.update(changed)
    assert office.deliveries.again(request.id, list(Channel)) == 1
    office.send_until_idle()
    assert (len(post.letters), len(receiver.requests)) == (1, 1)


def test_the_address_that_is_set_now_counts_and_not_that_of_then(office, receiver):
    receiver.answers = [500]
    office.write()
    assert office.outbox.send_next()
    changed = office.sites.get("shop")
    changed.options["contact"]["webhook"] = f"{receiver.address}/new"
    office.sites.update(changed)
    office.send_until_idle()
    assert [path for path, _, _ in receiver.requests] == ["/", "/new"]
    ((delivery,),) = office.deliveries.of([request.id for request in office.contact.recent()]).values()
    shown = [receiver.address, receiver.address]
    assert [tried.target for tried in delivery.log] == shown, "a path may be the secret of a webhook"


def test_a_way_that_was_turned_off_fails_with_its_reason(office, receiver):
    office.write()
    changed = office.sites.get("shop")
    changed.options["contact"] = {}
    office.sites.update(changed)
    office.send_until_idle()
    assert office.log()[0][2][0] == (False, "the site has no webhook for messages any more")
    assert receiver.requests == []


def test_many_senders_send_each_message_once(office, receiver):
    for _ in range(12):
        office.write()
    boxes = [office.new_outbox() for _ in range(4)]

    def send(box):
        while box.send_next():
            pass

    threads = [threading.Thread(target=send, args=(box,)) for box in boxes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = [headers["X-Docent-Id"] for _, headers, _ in receiver.requests]
    assert len(sent) == len(set(sent)) == 12


def test_what_a_killed_worker_had_taken_is_sent_when_its_time_is_over(office, receiver):
    office.write()
    taken = office.deliveries.claim(now(), LEASE)
    assert office.deliveries.claim(now(), LEASE) is None
    assert not office.outbox.send_next()
    again = office.deliveries.claim(now() + LEASE, LEASE)
    assert (again.id, again.tries) == (taken.id, 2)


def test_who_comes_back_late_does_not_undo_what_another_noted(office):
    office.write()
    slow = office.deliveries.claim(now(), timedelta(0))
    quick = office.deliveries.claim(now(), LEASE)
    office.deliveries.record(quick, DeliveryTry(now(), "x", True, "sent"), DeliveryState.SENT)
    office.deliveries.record(slow, DeliveryTry(now(), "x", False, "late"), DeliveryState.FAILED)
    assert office.log() == [("webhook", "sent", [(True, "sent"), (False, "late")])]


def test_what_is_erased_while_it_is_being_sent_leaves_nothing_behind(office):
    office.write(conversation=talk(office))
    taken = office.deliveries.claim(now(), LEASE)
    office.conversations.erase_visitor("shop", "visitor")
    office.deliveries.record(taken, DeliveryTry(now(), "x", True, "sent"), DeliveryState.SENT)
    assert (office.contact.recent(), office.log()) == ([], [])


def test_a_site_that_is_deleted_takes_all_of_it_along(office, receiver):
    receiver.answers = [500]
    office.write(conversation=talk(office))
    office.write()
    assert office.outbox.send_next()
    office.sites.delete("shop")
    assert office.contact.recent() == []
    assert not office.outbox.send_next()
    with office.database.connect() as connection:
        counts = [
            connection.execute(text(f"SELECT count(*) FROM contact_{name}")).scalar_one()
            for name in ("requests", "deliveries", "tries")
        ]
    assert counts == [0, 0, 0]


def test_a_database_that_fails_for_a_while_does_not_end_the_sending(office, receiver, monkeypatch):
    office.write()
    errors = [StorageError("the disk is full"), RuntimeError("a defect")]
    claim = office.outbox._posts[0].deliveries.claim

    def failing(*arguments):
        if errors:
            raise errors.pop(0)
        return claim(*arguments)

    monkeypatch.setattr(office.outbox._posts[0].deliveries, "claim", failing)
    monkeypatch.setattr("server.contact.outbox.LOOKS_S", 0.01)
    ending = threading.Event()
    office.outbox.start(ending)
    _until(lambda: office.log()[0][1] == "sent")
    ending.set()
    office.outbox.finish()
    assert len(receiver.requests) == 1


def test_a_defect_costs_neither_the_thread_nor_the_message(office, receiver, monkeypatch):
    def broken(parcel):
        raise RuntimeError("a defect")

    request = office.write()
    with monkeypatch.context() as patched:
        patched.setattr("server.contact.messages.body_of", broken)
        assert office.outbox.send_next()
    office.send_until_idle()
    assert [headers["X-Docent-Id"] for _, headers, _ in receiver.requests] == [request.id]
    assert office.log()[0][2][0] == (False, "RuntimeError('a defect')")


def test_old_messages_that_were_sent_are_forgotten_and_no_others(office, receiver):
    receiver.answers = [200, 500, 500, 500, 500]
    office.write("Sent")
    office.send_until_idle()
    office.write("Failed")
    office.send_until_idle()
    office.write("Waiting")
    assert office.contact.forget_sent(now() - timedelta(days=1)) == 0
    assert office.contact.forget_sent(now() + timedelta(days=1)) == 1
    assert {request.message for request in office.contact.recent()} == {"Failed", "Waiting"}


def test_the_outbox_forgets_after_the_days_that_are_set(make_office, receiver):
    office = make_office({"webhook": receiver.address, "secret": SECRET}, contact_days=1)
    office.write()
    office.send_until_idle()
    office.outbox._forget_old(now() + timedelta(hours=23))
    assert len(office.contact.recent()) == 1
    office.outbox._forget_old(now() + timedelta(hours=25))
    assert office.contact.recent() == []


def test_messages_are_found_by_site_state_and_time(office, receiver):
    receiver.answers = [500] * 4
    failed = office.write("Failed")
    office.send_until_idle()
    waiting = office.write("Waiting")
    find = office.contact.recent
    assert [one.id for one in find()] == [waiting.id, failed.id]
    assert [one.id for one in find(state=DeliveryState.FAILED)] == [failed.id]
    assert [one.id for one in find(site_ids=["shop"], limit=1, offset=1)] == [failed.id]
    assert find(site_ids=["other"]) == []
    assert find(since=now()) == []
    assert (office.contact.count(DeliveryState.FAILED), office.contact.count(DeliveryState.SENT)) == (1, 0)
    assert office.contact.count(DeliveryState.FAILED, ["other"]) == 0
    assert office.deliveries.due_since() is not None


def test_conversations_in_which_something_was_written_are_known(office):
    written, silent = talk(office), talk(office, ["Hello?"])
    request = office.write(conversation=written)
    assert office.contact.handed_over([written, silent]) == {written}
    assert office.contact.handed_over([]) == frozenset()
    assert office.contact.of_conversation(written) == [request]


OUTBOX = """
import sys, threading
from server.contact.outbox import open_outbox
from server.settings.reading import load_settings
from server.storage.database import Database
from server.storage.sites.incidents import IncidentStore
from server.storage.sealed import Seal
settings = load_settings()
database = Database(settings.storage.database_url)
open_outbox(database, IncidentStore(database), lambda: settings, lambda: Seal('x' * 32)).run(threading.Event())
"""


@pytest.fixture
def started(tmp_path, database_url):
    """Starts processes that work on the office's database; those left over are killed."""
    environment = {
        "PYTHONPATH": str(ROOT), "DATA_DIR": str(tmp_path), "DATABASE_URL": database_url,
        "CONTACT_TIMEOUT_S": "1", "CONTACT_RETRY_S": "0.1", "PATH": "/usr/bin:/bin",
        "PRIVATE_HOSTS": "127.0.0.1",
    }  # fmt: skip
    processes = []

    def start(*command):
        processes.append(subprocess.Popen([sys.executable, *command], cwd=tmp_path, env=environment))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_a_message_survives_kill_9_in_the_middle_of_a_try(office, receiver, started):
    receiver.answers = [60.0]
    request = office.write()
    first = started("-c", OUTBOX)
    _until(lambda: receiver.requests)
    first.kill()
    first.wait()
    started("-c", OUTBOX)
    _until(lambda: office.log()[0][1] == "sent")
    assert [headers["X-Docent-Id"] for _, headers, _ in receiver.requests] == [request.id] * 2


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_job_worker_sends_and_leaves_when_it_is_asked_to(office, receiver, started):
    worker = started("-m", "server", "worker")
    office.write()
    _until(lambda: office.log()[0][1] == "sent")
    worker.terminate()
    assert worker.wait(timeout=20) == 0


def _until(happened, within_s=30.0):
    pause = threading.Event()
    for _ in range(int(within_s / 0.05)):
        if happened():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")
