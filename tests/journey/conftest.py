import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from server.storage.data_folder import DataFolder
from server.storage.database import Database
from server.storage.sites.sites import SiteStore
from tests.servers import free_port
from tests.websites import SHOP, Website, serve

ROOT = Path(__file__).parents[2]


class Docent:
    """`python -m server run` as a child process, as `make run` starts it."""

    def __init__(self, data_dir, **settings):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = {"DATA_DIR": str(data_dir), "PORT": str(self.port), **settings}
        self.log = Path(data_dir).parent / f"docent-{self.port}.log"
        self.process = None

    def start(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI")} | self.settings
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server", "run"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )

    def wait_until_ready(self, seconds=90):
        """Wait until a site can be asked."""
        self._wait_for("/readyz", lambda said: said["parts"]["index"] == "ok", seconds)

    def wait_until_up(self, seconds=90):
        self._wait_for("/healthz", lambda said: True, seconds)

    def _wait_for(self, path, wanted, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            with suppress(OSError), urllib.request.urlopen(self.url + path, timeout=5) as answer:
                if wanted(json.load(answer)):
                    return
            time.sleep(0.1)
        raise AssertionError(f"{path} did not answer as wanted in {seconds} s:\n{self.log.read_text()}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        return self.process.returncode

    def site_id(self):
        """The id of the first site, from the database: a command of the shell takes seconds."""
        address = (
            self.settings.get("DATABASE_URL") or DataFolder(Path(self.settings["DATA_DIR"])).database_url()
        )
        database = Database(address)
        try:
            return SiteStore(database).all()[0].id
        finally:
            database.close()

    def shell(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI")} | self.settings
        return subprocess.run(
            [sys.executable, "-m", "server", *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="package")
def shop():
    with serve(Website("Lantern Shop", SHOP)) as site:
        yield site


@pytest.fixture(scope="package")
def docent(shop, tmp_path_factory):
    """A running server that has crawled the shop."""
    server = Docent(tmp_path_factory.mktemp("docent") / "data", SITE=shop.url, CRAWL_ALLOW_PRIVATE="1")
    server.start()
    server.wait_until_ready()
    yield server
    server.stop()
