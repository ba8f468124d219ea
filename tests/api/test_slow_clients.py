"""Connections that send or read slowly do not stop the server, alone or behind a proxy."""

import http.client
import socket
import time
from pathlib import Path

import pytest

from server.connections import HEAD_BYTES, Arrival, Progress
from tests.api.slow_clients import KINDS, measure
from tests.api.test_serving import QUESTION, fetch, start  # noqa: F401  a fixture
from tests.api.test_streaming import LiveStream
from tests.server_fixtures import missing
from tests.servers import MissingProgram, caddy, nginx

SLOW = 200


@pytest.fixture(scope="module")
def server(start):  # noqa: F811
    return start("--workers=2", "--threads=16")


@pytest.fixture(scope="module")
def hasty(start):  # noqa: F811
    """A server with short deadlines."""
    return start(
        "--workers=1", "--set=request_header_s=1", "--set=request_body_s=1", "--set=min_bytes_per_s=100000"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_slow_connections_leave_the_server_answering(server, kind):
    times = measure(server.port, kind, SLOW, 4)
    assert max(times) < 1, times


@pytest.mark.parametrize("kind", ["headers", "bodies", "reading"])
@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_nor_do_they_behind_a_proxy(server, proxy, kind):
    try:
        with proxy(server.address) as address:
            times = measure(int(address.rpartition(":")[2]), kind, SLOW, 4)
    except MissingProgram as error:
        missing(error)
    assert max(times) < 1, times


def test_hundred_streams_go_on_beside_slow_connections(start):  # noqa: F811
    server = start("--workers=2", "--threads=60", "--words=10", "--pause=0.1")
    visitor = server.new_visitor()
    held = [Client(server.port, b"GET / HTTP/1.1\r\n") for _ in range(SLOW)]
    streams = [LiveStream(server.address, visitor, QUESTION) for _ in range(100)]
    assert [[event.name for event in one.rest()][-1] for one in streams] == ["done"] * 100
    for one in held:
        one.socket.close()


class Client:
    """A plain connection."""

    def __init__(self, port, *parts):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        for part in parts:
            self.socket.sendall(part)

    def answer(self):
        """Everything until the server closes."""
        found = b""
        with self.socket:
            while data := self.socket.recv(65536):
                found += data
        return found


GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
POST = b"POST /api/v1/visitors HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("sent", [b"GET /healthz HTTP/1.1\r\n", POST + b"Content-Length: 90\r\n\r\n{"])
def test_an_unfinished_request_is_refused_when_its_time_is_over(hasty, sent):
    began = time.monotonic()
    assert Client(hasty.port, sent).answer().startswith(b"HTTP/1.1 408 ")
    assert 0.9 < time.monotonic() - began < 6


def test_a_silent_connection_is_closed(hasty):
    assert Client(hasty.port).answer() == b""


def test_endless_headers_are_refused(hasty):
    parts = [b"GET / HTTP/1.1\r\n", *[b"X: " + b"x" * 8000 + b"\r\n"] * 9]
    assert Client(hasty.port, *parts).answer().startswith(b"HTTP/1.1 431 ")


def test_requests_that_are_sent_at_once_are_answered_in_turn(hasty):
    assert Client(hasty.port, GET * 3 + LAST).answer().count(b"HTTP/1.1 200 OK") == 4


def test_a_request_may_arrive_in_pieces(hasty):
    body = b'{"site": "shop"}'
    parts = [POST[:40], POST[40:] + b"Content-Length: %d\r\n\r\n" % len(body), body[:5], body[5:]]
    client = Client(hasty.port)
    for part in parts:
        client.socket.sendall(part)
        time.sleep(0.05)
    assert b'"token"' in client.answer()


def test_a_file_arrives_whole(hasty):
    file = Path(__file__).parents[2] / "admin/static/style.css"
    got = Client(hasty.port, LAST.replace(b"/healthz", b"/admin/static/style.css")).answer()
    assert got.partition(b"\r\n\r\n")[2] == file.read_bytes()


def test_a_client_that_asks_first_is_told_once_to_go_on(hasty):
    body = b'{"site": "shop"}'
    client = Client(hasty.port, POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
    assert client.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.socket.sendall(body)
    assert client.answer().startswith(b"HTTP/1.1 200 OK")


def test_chunks_may_come_one_by_one(hasty):
    client = Client(hasty.port, POST + b"Transfer-Encoding: chunked\r\n\r\n")
    for part in (b"8\r\n{", b'"site":\r', b"\n8;x=y\r\n", b' "shop"}\r\n', b"0\r\n", b"\r\n"):
        client.socket.sendall(part)
        time.sleep(0.05)
    assert b'"token"' in client.answer()


def test_a_body_that_is_too_large_is_refused_before_it_has_come(hasty):
    client = Client(hasty.port, POST + b"Content-Length: 9000000\r\n\r\n" + b"x" * 1000)
    assert client.answer().startswith(b"HTTP/1.1 413 ")


def test_a_connection_is_kept_for_the_next_request(hasty):
    connection = http.client.HTTPConnection("127.0.0.1", hasty.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b'{"status":"ok"}\n'
        client = connection.sock
    assert connection.sock is client
    connection.close()


def test_the_end_of_a_request_is_found_at_any_cut():
    requests = {
        GET: Progress.COMPLETE,
        POST + b"Content-Length: 5\r\n\r\nabcde": Progress.COMPLETE,
        POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n": Progress.COMPLETE,
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n": Progress.COMPLETE,
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n": Progress.COMPLETE,
        POST + b"Content-Length: 5000\r\n\r\n": Progress.UPLOAD,
        POST + b"Transfer-Encoding: chunked\r\n\r\n800\r\n": Progress.UPLOAD,
    }
    for request, last in requests.items():
        for size in (1, 7, len(request)):
            arrival = Arrival(1024)
            states = [arrival.add(request[at : at + size]) for at in range(0, len(request), size)]
            assert states[-1] is last, (request, size)
            assert set(states[:-1]) <= {Progress.INCOMPLETE}, (request, size)


def test_chunks_that_are_nearly_all_sizes_have_an_end():
    arrival = Arrival(1024)
    arrival.add(POST + b"Transfer-Encoding: chunked\r\n\r\n")
    states = [arrival.add(b"1;" + b"x" * 200 + b"\r\nx\r\n") for _ in range(HEAD_BYTES // 100)]
    assert Progress.OVERLONG_BODY in states
