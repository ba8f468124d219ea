"""The examples of deploy/ for nginx and Caddy, tried with both: what Docent needs of them, and what they refuse."""

import json
import re
import socket
import ssl
import time
import urllib.parse
from contextlib import ExitStack, suppress
from statistics import median

import pytest

from tests.api.sse import parse
from tests.deploy.conftest import EMAIL, NAME, PASSWORD, nginx

JSON = {"Content-Type": "application/json"}


def new_token(proxy, source):
    status, _, text = proxy.ask("POST", "/api/v1/visitors", '{"site": "shop"}', JSON, source)
    assert status == 200, text
    return {"Authorization": f"Bearer {json.loads(text)['token']}"} | JSON


def closes(connection, seconds):
    """Whether the other side ends the connection in time, whatever it says first."""
    end = time.monotonic() + seconds
    connection.settimeout(seconds)
    with suppress(OSError):
        while connection.recv(65536):
            assert time.monotonic() < end, "it goes on"
        return True
    return time.monotonic() < end


def log_with(text, file):
    """The log, once it has this text: it is written after the answer."""
    end = time.monotonic() + 10
    while text not in (log := file.read_text()):
        assert time.monotonic() < end, log[-2000:]
        time.sleep(0.05)
    return log


def test_a_visitor_gets_a_token_and_an_answer(proxy):
    headers = new_token(proxy, 11)
    status, _, text = proxy.ask("POST", "/api/v1/chat", '{"message": "How long?"}', headers, 11)
    assert (status, json.loads(text)["outcome"]) == (200, "answered")


def test_a_stream_arrives_word_by_word(proxy):
    headers = new_token(proxy, 12)
    body = '{"message": "How long?", "stream": true}'
    read, arrived = b"", []
    with proxy.begin("POST", "/api/v1/chat", body, headers, 12) as answer:
        while piece := answer.read1():
            read += piece
            arrived.append(time.monotonic())
    events = [event.name for event in parse(read.decode())]
    assert (events[0], events[-1], events.count("delta")) == ("meta", "done", 10)
    assert arrived[-1] - arrived[0] > 0.5  # a word every 0.1 s; a proxy that holds back sends all at once


def test_an_owner_signs_in_and_the_session_is_kept(proxy):
    _, headers, page = proxy.ask("GET", "/admin/login")
    cookie = headers["Set-Cookie"]
    assert "Secure" in cookie
    token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', page)[1]
    form = urllib.parse.urlencode({"csrf_token": token, "email": EMAIL, "password": PASSWORD})
    sent = {
        "Cookie": cookie.split(";")[0],
        "Content-Type": "application/x-www-form-urlencoded",
        "Referer": f"https://{NAME}/admin/login",
    }
    status, headers, page = proxy.ask("POST", "/admin/login", form, sent)
    assert status == 302, page
    kept = {"Cookie": headers["Set-Cookie"].split(";")[0]}
    assert proxy.ask("GET", "/admin/sites", headers=kept)[0] == 200
    assert proxy.ask("GET", "/admin/sites")[0] == 302


def test_a_made_up_x_forwarded_for_wins_nothing_and_other_addresses_are_not_held_up(proxy):
    """Docent counts tokens by address: the proxy says which one it is, whatever the client claims."""

    def status(source, number):
        claims = {"X-Forwarded-For": f"203.0.113.{number}", "Forwarded": f"for=203.0.113.{number}"}
        return proxy.ask("POST", "/api/v1/visitors", '{"site": "shop"}', JSON | claims, source)[0]

    assert [status(13, number) for number in range(7)] == [200] * 5 + [429] * 2
    assert status(14, 0) == 200


def test_the_proxy_makes_the_id_of_a_request_whatever_the_client_claims(proxy):
    claims = {"X-Request-ID": "made-up", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    _, headers, _ = proxy.ask("GET", "/healthz", None, claims)
    assert re.fullmatch(r"[0-9a-f-]{32,36}", headers["X-Request-ID"])


def test_a_body_that_is_too_large_is_refused_and_the_dashboard_takes_larger_ones(docent, proxy):
    large = b"x" * 200_000
    # nginx and newer versions of Caddy say 413. Caddy 2.6 passes the beginning on: it says 502, or nothing while the
    # body is still being sent, or what Docent said to the headers, which have no token.
    with suppress(ConnectionError, ssl.SSLError):
        assert proxy.ask("POST", "/api/v1/chat", large, JSON, 15)[0] in (401, 413, 502)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    # Who is not logged in is led to the login page before the body has been read, so the proxy may close the
    # connection while it is still being sent. What Docent logs shows that the proxy passed it on.
    with suppress(ConnectionError, ssl.SSLError):
        assert proxy.ask("POST", "/admin/settings/backup/restore", large, form, 15)[0] == 302
    log = log_with("POST /admin/settings/backup/restore 302", docent.log)
    assert "POST /api/v1/chat 413" not in log, "the proxy passed it on"


@pytest.mark.parametrize(
    "beginning",
    [
        f"GET /healthz HTTP/1.1\r\nHost: {NAME}\r\nX-Slow:",
        f"POST /api/v1/visitors HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 50\r\n\r\n{{",
    ],
    ids=["header", "body"],
)
def test_two_hundred_requests_that_never_end_are_closed_and_hold_nobody_up(proxy, beginning):
    with ExitStack() as held:
        slow = []
        for number in range(200):
            connection = held.enter_context(proxy.connect(20 + number % 4))
            connection.sendall(beginning.encode())
            slow.append(connection)
        took = []
        for _ in range(5):
            began = time.monotonic()
            assert proxy.ask("GET", "/readyz", source=16)[0] == 200
            took.append(time.monotonic() - began)
        assert median(took) < 1
        assert all(closes(connection, 20) for connection in slow)


def test_another_name_gets_no_answer(proxy):
    with pytest.raises((ssl.SSLError, ConnectionError)):
        proxy.connect(name="other.example.net")


def test_plain_http_leads_to_https(proxy):
    with socket.create_connection(("127.0.0.1", proxy.http_port), timeout=10) as connection:
        connection.sendall(f"GET /docs/?a=1 HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
        answer = connection.makefile("rb").read().decode()
    assert re.match(r"HTTP/1.1 30[18] ", answer)
    assert re.search(rf"^Location: https://{NAME}(:\d+)?/docs/\?a=1\r$", answer, re.M | re.I)


def test_links_that_carry_a_token_are_logged_without_it(proxy):
    proxy.ask("GET", "/admin/setup?token=very-secret", source=17)
    assert "very-secret" not in log_with("/admin/setup", proxy.access_log)


@pytest.mark.parametrize("proxy", [nginx], indirect=True, ids=["nginx"])
def test_one_address_that_asks_too_often_is_held_back_alone(proxy):
    """Caddy has no such limit."""
    request = f"GET /healthz HTTP/1.1\r\nHost: {NAME}\r\n".encode()
    with proxy.connect(18) as connection:
        connection.sendall((request + b"\r\n") * 400 + request + b"Connection: close\r\n\r\n")
        answers = connection.makefile("rb").read().decode()
    statuses = re.findall(r"^HTTP/1.1 (\d+) ", answers, re.M)
    assert len(statuses) == 401
    assert set(statuses) == {"200", "429"}
    assert proxy.ask("GET", "/healthz", source=19)[0] == 200
