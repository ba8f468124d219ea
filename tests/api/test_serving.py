"""The server as it runs: gunicorn, several processes, signals."""

import contextlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask

from server.connections import turn_away
from server.errors import StartError
from server.serving import _Processes, _Server, options, serve
from server.settings import Settings
from tests.api.conftest import VisitorClient
from tests.api.test_streaming import LiveStream
from tests.servers import free_port

ROOT = Path(__file__).parents[2]
QUESTION = {"message": "How long?", "stream": True}


def fetch(address, body=None, **headers):
    data = json.dumps(body).encode() if body is not None else None
    headers |= {"Content-Type": "application/json"} if data else {}
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=10) as response:
        return response.status, response.read().decode()


class Server:
    """A running scripted server."""

    def __init__(self, folder, *options):
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        command = [
            sys.executable,
            "-m",
            "tests.api.scripted_server",
            f"--data={folder}",
            f"--port={self.port}",
        ]
        self.log = folder.parent / "server.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=log, stderr=log)

    def wait_until_ready(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            with contextlib.suppress(OSError):
                if fetch(f"{self.address}/readyz")[0] == 200:
                    return
            self._pause()
        pytest.fail("the server did not get ready: " + self.log.read_text())

    def workers(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {int(child) for child in children.split()}

    def wait_for_workers(self, wanted):
        end = time.monotonic() + 30
        while not wanted(self.workers()):
            assert time.monotonic() < end, f"still {self.workers()}: {self.log.read_text()}"
            self._pause()

    def new_visitor(self, site="shop"):
        _, text = fetch(f"{self.address}/api/v1/visitors", {"site": site})
        return VisitorClient(None, json.loads(text)["token"])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def _pause(self):
        # Another process cannot notify this one; the loops above end as soon as their condition holds.
        time.sleep(0.05)


@pytest.fixture(scope="module")
def start(data_folder, tmp_path_factory):
    servers = []

    def start(*options):
        folder = tmp_path_factory.mktemp("server") / "data"
        shutil.copytree(data_folder, folder)
        servers.append(Server(folder, *options))
        servers[-1].wait_until_ready()
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture(scope="module")
def server(start):
    return start("--workers=2", "--words=20", "--pause=0.1")


def test_a_visitor_may_come_back_to_any_process(server):
    visitor = server.new_visitor()
    with LiveStream(server.address, visitor, QUESTION) as stream:
        meta = stream.event()
    streams = [LiveStream(server.address, visitor, {"resume": True}, meta.id) for _ in range(6)]
    numbers = [[event.number for event in stream.rest()] for stream in streams]
    assert numbers == [list(range(2, 23))] * 6


def test_a_reload_puts_new_processes_in_place_and_loses_no_stream(server):
    visitor = server.new_visitor()
    before = server.workers()
    stream = LiveStream(server.address, visitor, QUESTION)
    assert stream.event().name == "meta"
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_workers(lambda now: len(now - before) == 2)
    assert [event.name for event in stream.rest()][-1] == "done"
    server.wait_for_workers(lambda now: not now & before)
    assert fetch(f"{server.address}/healthz")[0] == 200


def test_a_body_without_a_length_is_cut_off_at_the_limit(server):
    visitor = server.new_visitor()
    body = (b"x" * 1000 for _ in range(100))
    headers = visitor.headers | {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.address}/api/v1/chat", body, headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    with refused.value as answer:
        assert answer.code == 413


def test_a_stream_that_is_open_when_the_server_is_stopped_is_finished(start):
    server = start("--workers=1", "--words=15", "--pause=0.1")
    visitor = server.new_visitor()
    stream = LiveStream(server.address, visitor, {"message": "a private question", "stream": True})
    assert stream.event().name == "meta"
    server.process.send_signal(signal.SIGTERM)
    assert [event.name for event in stream.rest()][-2:] == ["delta", "done"]
    assert server.process.wait(15) == 0
    log = server.log.read_text()
    assert " INFO    docent.web: POST /api/v1/chat 200 " in log
    assert "private" not in log
    assert "Traceback" not in log


def test_a_server_that_stops_answers_or_refuses_and_drops_nothing(start):
    """A proxy passes a request that is refused to another replica, but not one that was dropped."""
    server = start("--workers=2", "--words=20", "--pause=0.1")
    visitor = server.new_visitor()
    with LiveStream(server.address, visitor, QUESTION) as stream:
        stream.event()
        server.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(ConnectionRefusedError):
            while True:
                with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                    connection.sendall(
                        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                    )
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        assert [event.name for event in stream.rest()][-1] == "done"
    assert server.process.wait(15) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this filter")
def test_clients_that_come_while_a_server_stops_are_refused_and_those_that_wait_are_answered():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        with socket.create_connection(address, timeout=10) as waits:
            turn_away(listener)
            closing = threading.Timer(0.3, listener.close)
            accepted, _ = listener.accept()
            with accepted:
                accepted.sendall(b"answered")
                assert waits.recv(100) == b"answered"
            closing.start()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, timeout=10)
            closing.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this filter")
@pytest.mark.parametrize(
    ("shared", "connects"),
    [({}, False), ({"systemd": True}, True), ({"master_pid": 7}, True), ({"reexec_pid": 7}, True)],
)
def test_only_sockets_that_nobody_else_uses_turn_clients_away(shared, connects):
    """Those of systemd, or of a process that takes over, go on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        processes = _Processes(_Server(Settings(), lambda settings: Flask("none")))
        kept_open = SimpleNamespace(sock=listener, getsockname=listener.getsockname, close=lambda: None)
        processes.LISTENERS = [kept_open]
        for name, value in shared.items():
            setattr(processes, name, value)
        processes.stop()
        try:
            socket.create_connection(listener.getsockname(), timeout=0.5).close()
        except TimeoutError:
            assert not connects
        else:
            assert connects


def test_an_answer_whose_process_was_killed_is_written_to_its_end_for_who_comes_back(start):
    server = start("--workers=1", "--words=30", "--pause=0.1", "--alive=1.5")
    visitor = server.new_visitor()
    with LiveStream(server.address, visitor, QUESTION) as stream:
        meta = stream.event()
        while (last := stream.event()).number < 12:
            pass
        (worker,) = server.workers()
        os.kill(worker, signal.SIGKILL)
    server.wait_for_workers(lambda now: now and worker not in now)
    server.wait_until_ready()
    whole = "".join(f"word{number} " for number in range(30))
    for place in (meta, last):
        events = LiveStream(server.address, visitor, {"resume": True}, place.id).rest()
        assert events[0].number == place.number + 1
        assert (events[-1].name, events[-1].data["answer"]) == ("done", whole)
        if place is meta:
            assert "".join(event.data["text"] for event in events if event.name == "delta") == whole


def test_a_busy_site_leaves_a_thread_to_the_others(start):
    server = start("--workers=1", "--threads=8", "--words=20", "--pause=0.1")
    visitor, other = server.new_visitor(), server.new_visitor("other")
    busy = [http.client.HTTPConnection("127.0.0.1", server.port) for _ in range(20)]
    headers = visitor.headers | {"Content-Type": "application/json"}
    for connection in busy:
        connection.request("POST", "/api/v1/chat", json.dumps(QUESTION), headers)
    select.select([busy[0].sock], [], [], 30)
    assert LiveStream(server.address, other, QUESTION).rest()[-1].name == "done"
    begun, _, _ = select.select([connection.sock for connection in busy], [], [], 0)
    assert 0 < len(begun) < len(busy), "the other site waited for all requests of the busy one"
    for connection in busy:
        assert b"event: done" in connection.getresponse().read()
        connection.close()


def test_a_proxy_closes_an_idle_connection_before_the_server_does():
    """nginx keeps it for 60 seconds, Caddy for 120."""
    assert options(Settings.of(trusted_proxies=1))["keepalive"] > 120
    assert options(Settings.of())["keepalive"] < 60


def test_a_port_in_use_is_said_in_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"127.0.0.1:{port} .*set another PORT") as refused:
            serve(Settings.of(data_dir=tmp_path, port=port))
    assert "\n" not in str(refused.value)
