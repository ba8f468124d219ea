"""What operators answer reaches the visitor by e-mail, as often tried as a message to people; on both databases."""

from datetime import UTC, datetime

import pytest

from server.contact.messages import REPLY_FAILED
from server.domain.contact import Channel, DeliveryState
from server.storage.delivery.contact import ReplyStore, reply_deliveries
from server.storage.errors import UnknownRecord
from tests.contact.conftest import text_of


@pytest.fixture
def office_database(database):
    return database


@pytest.fixture
def office(make_office, smtp_url):
    return make_office({"email": "people@shop.example"}, smtp_url=smtp_url, contact_retry_s=1e-6)


def send_all(office):
    for _ in range(20):
        while office.outbox.send_next():
            pass


def of(office, reply):
    ((delivery,),) = reply_deliveries(office.database).of([reply.id]).values()
    return delivery


def reply_to(office, post, text="We call **today**.\n\nAda", message="Please call me."):
    """A message that people got, and the answer to it that waits."""
    request = office.contact.add("shop", "visitor", "vera@visitor.example", message, None, [Channel.EMAIL])
    send_all(office)
    post.letters.clear()
    post.envelopes.clear()
    return request, ReplyStore(office.database).add(request.id, "ada@shop.example", text)


def test_a_reply_goes_to_the_visitor_with_what_it_answers(office, post):
    request, reply = reply_to(office, post)
    send_all(office)
    ((sender, recipients),) = post.envelopes
    assert recipients == ["vera@visitor.example"]
    (mail,) = post.letters
    assert mail["Subject"] == f"Re: The Lantern Shop ({request.reference})"
    assert mail["Reply-To"] == "people@shop.example"
    assert mail["Message-ID"].startswith(f"<{reply.id}@")
    text = text_of(mail)
    assert text.startswith("We call **today**.\n\nAda\n\n")
    assert "vera@visitor.example wrote:\n> Please call me.\n" in text
    assert "ada@shop.example" not in mail.as_string()
    delivery = of(office, reply)
    assert delivery.state is DeliveryState.SENT
    assert [(one.target, one.arrived) for one in delivery.log] == [("vera@visitor.example", True)]
    assert sender


def test_a_reply_is_tried_again_and_its_failure_told_without_what_it_says(office, post):
    _, reply = reply_to(office, post, "A secret answer")
    post.answers = ["451 try later"] * 4
    send_all(office)
    delivery = of(office, reply)
    assert (delivery.state, len(delivery.log)) == (DeliveryState.FAILED, 4)
    (incident,) = office.incidents.recent(["shop"])
    told = f"{incident.message} {incident.details}"
    assert incident.kind == REPLY_FAILED
    assert "secret" not in told
    assert "vera@" not in told
    assert reply_deliveries(office.database).again(reply.id, [delivery.channel]) == 1
    send_all(office)
    assert of(office, reply).state is DeliveryState.SENT


def test_what_was_written_breaks_out_of_no_header(office, post):
    hostile = "a\r\nBcc: x@x.example\r\n\r\n\x1b[2J"
    reply_to(office, post, "Hi\r\n.\r\nBcc: y@y.example", hostile)
    send_all(office)
    (mail,) = post.letters
    assert mail["Bcc"] is None
    assert "\x1b" not in text_of(mail)
    assert [recipients for _, recipients in post.envelopes] == [["vera@visitor.example"]]


def test_without_a_mail_server_it_waits(make_office, post):
    office = make_office({"email": "people@shop.example"}, contact_tries=1)
    _, reply = reply_to(office, post)
    send_all(office)
    assert (of(office, reply).state, of(office, reply).log) == (DeliveryState.WAITING, ())


def test_a_reply_goes_with_its_visitor(office, post):
    request, reply = reply_to(office, post)
    office.conversations.erase_visitor("shop", "visitor")
    send_all(office)
    assert post.letters == []
    assert ReplyStore(office.database).find(reply.id) is None
    with pytest.raises(UnknownRecord):
        ReplyStore(office.database).add(request.id, "ada", "Hello")
    assert office.contact.total() == 0
    assert reply.at <= datetime.now(UTC)
