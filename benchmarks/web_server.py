"""Servers for benchmarks: a website, the real server with its own data, and one with scripted answers."""

from __future__ import annotations

import functools
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from tests.servers import free_port

ROOT = Path(__file__).parents[1]
SITE = Site(id="shop", name="Shop", title="Shop", start_urls=("http://127.0.0.1/",), generation=1)
PATIENCE_S = 240


def until(condition: Callable[[], object]) -> None:
    """Return once the condition holds. Raises TimeoutError if that takes longer than PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the server took too long")
        time.sleep(0.2)


@contextmanager
def website(folder: Path) -> Iterator[str]:
    """The address of the folder."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()


@contextmanager
def running(values: dict[str, str], command: str = "run") -> Iterator[tuple[str, int]]:
    """The address of `python -m server run`, or of `web`, and the id of its process. When the benchmark
    fails, the end of the server's log is printed."""
    log = Path(values["DATA_DIR"]) / "server.log"
    arguments = [sys.executable, "-m", "server", command]
    try:
        with (
            log.open("wb") as out,
            _started(arguments, values["PORT"], env=os.environ | values, stdout=out, stderr=out) as started,
        ):
            yield started
    except Exception:
        print(log.read_text()[-3000:], file=sys.stderr)
        raise


@contextmanager
def scripted_server(*options: str) -> Iterator[str]:
    """The address of a server with one site, `shop`; see tests/api/scripted_server.py for the options."""
    with tempfile.TemporaryDirectory() as folder:
        runtime = open_runtime(Settings.of(data_dir=Path(folder)))
        runtime.stores.sites.create(SITE)
        runtime.close()
        port = str(free_port())
        command = [sys.executable, "-m", "tests.api.scripted_server", f"--data={folder}", f"--port={port}"]
        with _started([*command, *options], port, stdout=subprocess.DEVNULL) as (address, _):
            yield address


@contextmanager
def _started(command: list[str], port: str, **options: Any) -> Iterator[tuple[str, int]]:
    """The address of a program that accepts connections now, and the id of its process."""
    server = subprocess.Popen(command, cwd=ROOT, **options)
    try:
        until(lambda: _is_up(int(port)))
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(60)


def _is_up(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def server_values(folder: Path) -> dict[str, str]:
    """Settings of a server of its own, without limits and without remembered answers."""
    return {
        "DATA_DIR": str(folder),
        "PORT": str(free_port()),
        "TUNE_ANSWER_CACHE": "0",
        "LOG_LEVEL": "error",
        **{name: "1000000/minute" for name in ("VISITOR_LIMIT", "ADDRESS_LIMIT", "TOKEN_LIMIT")},
    }


def crawl(start: str, site: str, values: dict[str, str]) -> None:
    """Crawl a website of this machine."""
    command = [sys.executable, "-m", "server", "crawl", start, "--site", site, "--allow-private"]
    subprocess.run(command, cwd=ROOT, env=os.environ | values, check=True, stderr=subprocess.DEVNULL)
