"""The server as a whole: starting, stopping, dying, and what bad input gets."""

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path

import pytest

from server.__main__ import main
from server.commands.run import MEMORY, ROOT
from tests.journey.conftest import Docent
from tests.servers import free_port


def children(pid):
    """Process ids of all descendants."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(map(is_running, pids)):
        time.sleep(0.05)
    return not any(map(is_running, pids))


@pytest.fixture(scope="module")
def running(shop, tmp_path_factory):
    """A server for the tests that leave it running."""
    made = Docent(tmp_path_factory.mktemp("running") / "data", SITE=shop.url, CRAWL_ALLOW_PRIVATE="1")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def server(running):
    """The running server; a test before may have killed one of its processes."""
    running.wait_until_ready()
    return running


@pytest.fixture
def own_server(tmp_path, shop):
    made = Docent(tmp_path / "data", SITE=shop.url, CRAWL_ALLOW_PRIVATE="1")
    yield made
    made.stop()


def test_ctrl_c_and_a_killed_supervisor_leave_no_process_and_the_next_start_answers_at_once(own_server):
    server = own_server
    server.start()
    server.wait_until_ready()
    pids = children(server.process.pid)
    assert len(pids) >= 4
    assert server.stop() == 0
    assert gone(pids, 5)
    server.start()
    server.wait_until_ready()
    rows = json.loads(server.shell("sites", "--json").stdout)
    assert rows[0]["pages"] == 5
    assert "is up after" in server.log.read_text()
    pids = children(server.process.pid)
    server.process.kill()
    server.process.wait()
    assert gone(pids, 20)


@pytest.mark.parametrize("name", ["chroma_server run", "server worker", "server web"])
def test_a_killed_process_is_started_again(server, name):
    victim = next(
        pid
        for pid in children(server.process.pid)
        if name in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        and "keep" not in Path(f"/proc/{pid}/cmdline").read_text()
    )
    ended = [victim, *children(victim)]  # the processes of a killed web server answer for another moment
    os.kill(victim, signal.SIGKILL)
    assert gone(ended, 20)
    server.wait_until_ready()


def test_the_first_operator_gets_a_link_that_works_once(server):
    kept = Path(server.settings["DATA_DIR"]) / "setup-link.txt"
    link = kept.read_text().strip()
    assert kept.stat().st_mode & 0o777 == 0o600
    said = server.log.read_text()
    assert str(kept) in said
    assert link.split("#token=")[1] not in said
    with urllib.request.urlopen(link, timeout=10) as reply:
        assert reply.status == 200


def test_a_port_in_use_is_one_line_that_says_what_to_do(own_server):
    server = own_server
    with socket.socket() as other:
        other.bind(("127.0.0.1", server.port))
        other.listen()
        server.start()
        assert server.process.wait(20) == 1
    assert "cannot listen on" in server.log.read_text()
    assert "PORT=" in server.log.read_text()
    assert "Traceback" not in server.log.read_text()


def test_a_port_of_the_tests_is_given_to_nobody_before_their_server_starts():
    ports = {free_port() for _ in range(20)}
    assert len(ports) == 20
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        assert max(ports) < 32768, "Linux and macOS give ports from there on"
        assert given.getsockname()[1] not in ports


def test_a_second_server_on_the_same_folder_is_refused(server):
    second = Docent(Path(server.settings["DATA_DIR"]))
    second.start()
    assert second.process.wait(30) == 1
    assert "in use" in second.log.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["crawl", "http://127.0.0.1:9/"], 1, "--allow-private"),
        (["crawl", "http://127.0.0.1:9/", "--allow-private"], 1, "127.0.0.1:9"),
        (["crawl", "ftp://files.example"], 1, "only http:// and https://"),
        (["ask", "--site", "nowhere", "Hello?"], 1, "nowhere"),
        (["ask", "  "], 1, "empty"),
        (["--set", "PORT=no", "sites"], 3, "PORT"),
        (["--set", "PROT=8000", "sites"], 3, "did you mean PORT"),
    ],
)
def test_bad_input_in_the_shell_is_one_line_and_an_exit_code(
    tmp_path, monkeypatch, capsys, arguments, code, says
):
    """In this process: what the shell adds is tried by the tests below."""
    for name in [name for name in os.environ if name.startswith("OPENAI")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    assert main(arguments) == code
    errors = capsys.readouterr().err
    assert says in errors
    assert "Traceback" not in errors


def test_an_unknown_command_is_said_in_one_line(tmp_path):
    done = Docent(tmp_path / "data").shell("fly")
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_database_is_named(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "docent.sqlite3").write_bytes(b"this is no database" * 500)
    done = Docent(tmp_path / "data").shell("sites")
    assert done.returncode == 1
    assert "docent.sqlite3" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_names_what_is_wrong(tmp_path):
    docent = Docent(
        tmp_path / "data", OPENAI_BASE_URL="http://127.0.0.1:9/v1", CHAT_MODEL="none", MODEL_RETRIES="0"
    )
    done = docent.shell("doctor")
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1
    assert "chat model" in failed[0]
    assert "OPENAI_BASE_URL" in failed[0]


def test_nothing_in_the_data_folder_is_open_to_other_users(own_server, tmp_path):
    """After a crawl, a question and a backup, in a folder that an earlier version left open."""
    folder = tmp_path / "data"
    (folder / "cache").mkdir(parents=True)
    (folder / "cache" / "old.val").write_text("what a visitor wrote")
    for place in (folder, folder / "cache", folder / "cache" / "old.val"):
        place.chmod(0o755)
    own_server.start()
    own_server.wait_until_ready()
    asked = own_server.shell(
        "ask", "--site", own_server.shell("sites", "--json").stdout.split('"')[3], "Delivery?"
    )
    saved = own_server.shell("backup", str(folder / "backup.zip"))
    assert (asked.returncode, saved.returncode) == (0, 0), (asked.stderr, saved.stderr)
    names = [place for place in folder.rglob("*") if not place.is_symlink()]
    assert len(names) > 20
    assert [str(place) for place in (folder, *names) if place.stat().st_mode & 0o077] == []


def test_the_container_image_saves_memory_like_the_supervisor():
    """A container may run `server web` or `server worker` alone."""
    assert all(f" {name}={value}" in (ROOT / "Dockerfile").read_text() for name, value in MEMORY.items())
