"""What the operator reads when Chroma is away, and how connections to it are kept."""

import threading
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from server.domain.chunk import Chunk
from server.indexes.errors import IndexRejected, IndexUnavailable
from server.indexes.vectors import (
    IDLE_CONNECTIONS,
    ChromaQueries,
    ChromaVectorIndex,
    UnknownCollection,
    open_chroma,
)
from tests.servers import chroma_server, free_port

LAMP = Chunk("lamp", "https://shop.example/", "", (), "lamp", 0)


def test_a_server_that_is_not_there_gives_one_line_with_its_address():
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(IndexUnavailable) as error:
        open_chroma(address)
    assert address in str(error.value)
    assert "CHROMA_URL" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_that_cannot_be_made_gives_one_line(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    with pytest.raises(IndexUnavailable, match="vector folder"):
        open_chroma(file / "vectors")


def test_a_server_that_goes_away_gives_one_line_at_every_call(tmp_path):
    with chroma_server(tmp_path) as address:
        chroma = open_chroma(address)
        index = ChromaVectorIndex(chroma, "shop", "0123456789abcdef")
        index.add([LAMP], [[1.0, 0.0]])
        assert index.search([1.0, 0.0], 1)
    for call in (
        lambda: index.search([1.0, 0.0], 1),
        lambda: index.add([LAMP], [[1.0, 0.0]]),
        lambda: index.remove(["lamp"]),
        lambda: index.ids(),
        lambda: index.drop(),
        lambda: chroma.ping(),
    ):
        with pytest.raises(IndexUnavailable) as error:
            call()
        assert address in str(error.value)
        assert "\n" not in str(error.value)
    chroma.close()


def test_our_own_env_file_does_not_disturb_chroma(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("PORT=9000\nCHROMA_URL=http://nowhere\nIS_PERSISTENT=maybe\n")
    monkeypatch.chdir(tmp_path)
    chroma = open_chroma(tmp_path / "vectors")
    chroma.ping()
    chroma.close()


@pytest.mark.parametrize("site_id", ["", "Shop", "a.b", "-shop", "a b", "x" * 101])
def test_a_site_id_that_chroma_could_misread_is_refused(site_id):
    with pytest.raises(ValueError, match="site id"):
        ChromaVectorIndex(None, site_id, "0123456789abcdef")


class Scripted(BaseHTTPRequestHandler):
    """Answers as `server.replies` says; counts connections."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests += 1
        self.server.may_answer.wait(10)
        status, body, then_close = self.server.replies.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = then_close  # without announcing it, as a server that restarts does

    def log_message(self, *args):
        pass


GOOD = b'{"ids": [["lamp"]], "distances": [[0.25]]}'


@pytest.fixture
def scripted():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    server.connections = server.requests = 0
    server.may_answer = threading.Event()
    server.may_answer.set()
    server.replies = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    queries = ChromaQueries(f"http://127.0.0.1:{server.server_port}")
    yield server, queries
    queries.close()
    server.shutdown()
    thread.join()
    server.server_close()


def test_queries_share_one_connection(scripted):
    server, queries = scripted
    server.replies = [(200, GOOD, False)] * 3
    for _ in range(3):
        assert queries.begin_nearest("c", [1.0], 1)() == (["lamp"], [0.25])
    assert server.connections == 1


def test_a_connection_that_the_server_closed_is_replaced(scripted):
    server, queries = scripted
    server.replies = [(200, GOOD, True), (200, GOOD, False)]
    assert queries.begin_nearest("c", [1.0], 1)() == (["lamp"], [0.25])
    assert queries.begin_nearest("c", [1.0], 1)() == (["lamp"], [0.25])
    assert server.connections == 2


def test_a_query_is_under_way_until_its_result_is_wanted(scripted):
    server, queries = scripted
    server.replies = [(200, GOOD, False)] * 2
    server.may_answer.clear()
    begun = [queries.begin_nearest("c", [1.0], 1) for _ in range(2)]
    server.may_answer.set()
    assert [nearest() for nearest in begun] == [(["lamp"], [0.25])] * 2
    assert server.connections == 2


def test_no_message_names_the_password_of_an_address():
    with pytest.raises(IndexUnavailable, match=r"Chroma at http://127\.0\.0\.1:9 does not answer") as caught:
        open_chroma("http://docent:tooth@127.0.0.1:9")
    assert "tooth" not in str(caught.value)


def test_a_server_that_is_silent_is_not_asked_again(scripted, monkeypatch):
    monkeypatch.setattr("server.indexes.vectors.TIMEOUT_S", 0.2)
    server, queries = scripted
    server.replies = [(200, GOOD, False)]
    server.may_answer.clear()
    with pytest.raises(IndexUnavailable, match="does not answer"):
        queries.begin_nearest("c", [1.0], 1)()
    assert server.requests == 1
    server.may_answer.set()


def test_more_connections_than_are_kept_are_closed(scripted):
    server, queries = scripted
    server.replies = [(200, GOOD, False)] * (IDLE_CONNECTIONS + 2)
    begun = [queries.begin_nearest("c", [1.0], 1) for _ in range(IDLE_CONNECTIONS + 2)]
    assert [nearest() for nearest in begun] == [(["lamp"], [0.25])] * (IDLE_CONNECTIONS + 2)


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, UnknownCollection), (400, IndexRejected), (500, IndexUnavailable), (503, IndexUnavailable)],
)
def test_each_failure_has_its_error(scripted, status, error):
    server, queries = scripted
    server.replies = [(status, b'{"error": "Oops"}', False)]
    with pytest.raises(error):
        queries.begin_nearest("c", [1.0], 1)()


def test_the_folder_may_have_any_name(tmp_path):
    place = tmp_path / "中文 'quoted\" 😀"
    place.mkdir()
    with chroma_server(place / "chroma") as address:
        chroma = open_chroma(address)
        chroma.ping()
        chroma.close()


def test_many_sites_keep_few_files_open_and_lose_no_vector(tmp_path):
    """Chroma keeps what it has not written only while an index is open, and an index takes 5 files."""
    made = np.random.default_rng(1).normal(size=(40, 8)).astype("float32")
    with chroma_server(tmp_path / "chroma", open_indexes=8) as address:
        chroma = open_chroma(address, folder=tmp_path / "chroma")
        sites = [ChromaVectorIndex(chroma, f"site{number}", "0123456789abcdef") for number in range(40)]
        for index in sites:
            index.add([replace(LAMP, id=f"c{number}") for number in range(40)], list(made))
        assert open_files(tmp_path) <= 8 * 5
        for index in sites:
            index.remove(["c7"])
        for index in sites:
            index.add([replace(LAMP, id="new")], [made[7]])
        for index in sites:
            assert [found for found, _ in index.search(made[7], 1)] == ["new"]
            assert [found for found, _ in index.search(made[8], 1)] == ["c8"]
            assert len(index.vectors(sorted(index.ids()))) == 40
        for index in sites:
            index.drop()
        assert open_files(tmp_path) <= 8 * 5
        chroma.close()


def open_files(folder):
    """Files of indexes in this folder that any process has open."""
    found = 0
    for file in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            place = file.readlink()
            found += place.is_relative_to(folder) and place.suffix in (".bin", ".pickle")
    return found
