"""Starts a server for a benchmark: the real one, whose answers are scripted."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings

ROOT = Path(__file__).parents[1]
SITE = Site(id="shop", name="Shop", title="Shop", start_urls=("http://127.0.0.1/",), generation=1)


@contextmanager
def scripted_server(*options: str) -> Iterator[str]:
    """The address of a server with one site, `shop`; see tests/api/scripted_server.py for the options."""
    with tempfile.TemporaryDirectory() as folder:
        runtime = open_runtime(Settings.of(data_dir=Path(folder)))
        runtime.stores.sites.create(SITE)
        runtime.close()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "tests.api.scripted_server", f"--data={folder}", f"--port={port}"]
        server = subprocess.Popen([*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL)
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(address)
            yield address
        finally:
            server.terminate()
            server.wait(30)


def cpu_seconds(address: str) -> float:
    """Processor time that the server's processes have used so far."""
    port = int(address.rpartition(":")[2])
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if f"--port={port}" in (folder / "cmdline").read_text():
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:
            continue  # it has ended meanwhile
    return ticks / os.sysconf("SC_CLK_TCK")


def _wait(address: str) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{address}/readyz").close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
