"""Messages of visitors as signed requests, to a real server that misbehaves."""

import hashlib
import hmac
import json
import re
import socket
import threading
import time
from dataclasses import replace

import pytest

from server.storage.sealed import Seal
from tests.contact.conftest import SEAL, SECRET, talk


def hook(receiver, path="/hook"):
    return {"webhook": receiver.address + path, "secret": SECRET}


def test_the_request_carries_the_message_and_its_conversation(make_office, receiver):
    office = make_office(hook(receiver))
    conversation = talk(office)
    request = office.write("Grüße!", conversation=conversation)
    office.send_until_idle()
    ((path, headers, body),) = receiver.requests
    sent = json.loads(body)
    assert (path, headers["Content-Type"]) == ("/hook", "application/json; charset=utf-8")
    assert headers["X-Docent-Id"] == request.id
    assert {name: sent[name] for name in ("type", "reference", "email", "message")} == {
        "type": "contact_request",
        "reference": request.reference,
        "email": "vera@visitor.example",
        "message": "Grüße!",
    }
    assert sent["site"] == {"id": "shop", "title": "The Lantern Shop"}
    (turn,) = sent["conversation"]["messages"]
    assert turn["question"] == "How long does delivery take?"
    assert turn["citations"][0]["link"] == "https://shop.example/delivery#:~:text=two%20days"


def test_the_signature_proves_the_body_and_the_time(make_office, receiver):
    office = make_office(hook(receiver))
    office.write()
    office.send_until_idle()
    ((_, headers, body),) = receiver.requests
    at, given = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["X-Docent-Signature"]).groups()
    wanted = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert given == wanted
    assert abs(time.time() - int(at)) < 30


def test_a_sealed_secret_signs_too(make_office, receiver):
    office = make_office({"webhook": receiver.address})
    office.sites.change("shop", lambda now: replace(now, contact_secret=SEAL.close(SECRET)))
    office.write()
    office.send_until_idle()
    ((_, headers, body),) = receiver.requests
    at, given = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["X-Docent-Signature"]).groups()
    assert given == hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def test_a_secret_that_no_key_opens_sends_nothing_unsigned(make_office, receiver):
    office = make_office({"webhook": receiver.address}, contact_tries=1)
    office.sites.change("shop", lambda now: replace(now, contact_secret=Seal("another").close(SECRET)))
    office.write()
    office.send_until_idle()
    assert not receiver.requests
    ((_, state, ((_, says),)),) = office.log()
    assert (state, "SECRET_KEY" in says) == ("failed", True)


def test_a_server_that_fails_twice_gets_it_at_the_third_try_signed_anew(make_office, receiver):
    receiver.answers = [500, 503]
    office = make_office(hook(receiver))
    office.write()
    office.send_until_idle()
    assert office.log() == [
        (
            "webhook",
            "sent",
            [
                (False, "127.0.0.1 answered 500"),
                (False, "127.0.0.1 answered 503"),
                (True, "127.0.0.1 answered 200"),
            ],
        )
    ]
    assert len({headers["X-Docent-Id"] for _, headers, _ in receiver.requests}) == 1


def test_a_server_that_says_nothing_is_left_in_time(make_office, receiver):
    receiver.answers = [30.0]
    office = make_office(hook(receiver), contact_timeout_s=0.3, contact_tries=1)
    office.write()
    began = time.monotonic()
    office.send_until_idle()
    assert time.monotonic() - began < 5
    ((_, state, log),) = office.log()
    assert (state, log) == ("failed", [(False, "127.0.0.1 did not answer within 0.3 s")])


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest", "http://127.0.0.1:{port}/inner"])
def test_redirects_are_not_followed(make_office, receiver, target):
    location = target.format(port=receiver.address.rpartition(":")[2])
    receiver.answers = [(307, {"Location": location})]
    office = make_office(hook(receiver), contact_tries=1)
    office.write()
    office.send_until_idle()
    ((_, state, log),) = office.log()
    assert state == "failed"
    assert f"answered 307, which leads to {location}: redirects are not followed" in log[0][1]
    assert [path for path, _, _ in receiver.requests] == ["/hook"]


def test_private_addresses_are_refused_unless_the_operator_allows_them(make_office, receiver):
    office = make_office(hook(receiver), private_hosts="", contact_tries=1)
    office.write()
    office.send_until_idle()
    ((_, state, log),) = office.log()
    assert (state, log[0][0]) == ("failed", False)
    assert "a loopback address" in log[0][1]
    assert receiver.requests == []


def test_the_setting_for_private_webhooks_permits_them(make_office, receiver):
    office = make_office(hook(receiver), private_hosts="", webhook_allow_private=True)
    office.write()
    office.send_until_idle()
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("address", ["http://169.254.169.254/", "http://[fd00:ec2::254]/"])
def test_metadata_addresses_are_refused_always(make_office, address):
    office = make_office({"webhook": address, "secret": SECRET}, contact_tries=1)
    office.write()
    office.send_until_idle()
    ((_, state, log),) = office.log()
    assert state == "failed"
    assert "metadata address" in log[0][1]


@pytest.mark.parametrize(
    "address",
    ["ftp://shop.example/", "not an address", "http://", "http://127.0.0.1:99999/", "file:///etc/passwd"],
)
def test_what_is_no_web_address_fails_with_a_reason(make_office, address):
    office = make_office({"webhook": address, "secret": SECRET}, contact_tries=1)
    office.write()
    office.send_until_idle()
    ((_, state, log),) = office.log()
    assert state == "failed"
    assert log[0][1]


def test_nothing_is_sent_without_a_secret(make_office, receiver):
    office = make_office({"webhook": receiver.address}, contact_tries=1)
    office.write()
    office.send_until_idle()
    assert "has no secret" in office.log()[0][2][0][1]
    assert receiver.requests == []


def test_nothing_listens_there(make_office):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    office = make_office({"webhook": f"http://127.0.0.1:{port}/", "secret": SECRET}, contact_tries=1)
    office.write()
    office.send_until_idle()
    assert office.log()[0][2] == [(False, "127.0.0.1 cannot be reached (connection refused)")]


def test_a_server_that_answers_drop_by_drop_is_left_in_time(make_office):
    ending = threading.Event()

    def drip(listening):
        connection, _ = listening.accept()
        with connection:
            for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 2000:
                if ending.wait(0.1):
                    return
                try:
                    connection.sendall(bytes([letter]))
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        office = make_office({"webhook": address, "secret": SECRET}, contact_tries=1, contact_timeout_s=0.5)
        office.write()
        began = time.monotonic()
        office.send_until_idle()
        taken = time.monotonic() - began
        ending.set()
        thread.join()
    assert taken < 3
    assert office.log()[0][2] == [(False, "127.0.0.1 did not answer within 0.5 s")]
