"""Slow websites, and job workers in processes of their own that can be killed."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import select

from server.answering.ranking import compared_texts
from server.domain.site import Site
from server.runtime.runtime import open_runtime
from server.settings import Settings
from server.storage.schema.content import page_moves
from tests.websites import Website, serve

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60


class SlowWebsite(Website):
    """Pages in a tree of links, each with a few sections; after `hold_after` requests answers are held back."""

    def __init__(self, pages=30):
        super().__init__("Slow Shop", {})
        self.count = pages
        self.hold_after = None
        for number in range(pages):
            self.set_page(number)

    def set_page(self, number, text="Text"):
        links = "".join(
            f"<li><a href='/p{child}'>Page {child}</a></li>"
            for child in range(3 * number + 1, 3 * number + 4)
            if child < self.count
        )
        sections = "".join(
            f"<h2>Part {part} of {number}</h2><p>{text} {part} of page {number} tells of lamps, parcels and "
            f"refund {number * 10 + part}.</p>"
            for part in range(3)
        )
        self.pages[self.path(number)] = (f"Page {number}", f"{sections}<ul>{links}</ul>")

    def path(self, number):
        return "/" if number == 0 else f"/p{number}"

    def answer(self, path):
        end = time.monotonic() + PATIENCE_S
        while self.is_holding and time.monotonic() < end:
            time.sleep(0.01)
        return super().answer(path)

    @property
    def is_holding(self):
        return self.hold_after is not None and len(self.requests) >= self.hold_after

    @property
    def page_requests(self):
        return Counter(path for path in list(self.requests) if path in self.pages)


class Nursery:
    """Starts workers, and hears when they end: see sabotaged_worker.py."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("sabotaged_worker.py"))],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._started = queue.SimpleQueue()
        self._ended = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def worker(self, **order):
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Worker(self._started.get(timeout=PATIENCE_S), self._ended)

    def _read(self):
        for line in self._process.stdout:
            what, pid, *status = line.split()
            # The end of a worker may be heard before its start: a signal overtakes what was to be written.
            ended = self._ended.setdefault(int(pid), queue.SimpleQueue())
            if what == "started":
                self._started.put(int(pid))
            else:
                ended.put(int(status[0]))

    def close(self):
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._reader.join()
        self._process.stdout.close()


class Worker:
    """One worker process."""

    def __init__(self, pid, ended):
        self.pid = pid
        self._ended = ended
        self._status = None

    def send_signal(self, number):
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds=PATIENCE_S):
        if self._status is None:
            self._status = self._ended[self.pid].get(timeout=seconds)
        return self._status


class Installation:
    """A data folder with one site, looked at from this process; workers run in others."""

    def __init__(self, folder, website, nursery):
        self.folder = folder
        self.website = website
        self.nursery = nursery
        self.settings = Settings.of(data_dir=folder, crawl_allow_private=True, crawl_concurrency=2)
        self.runtime = open_runtime(self.settings)
        self.runtime.stores.sites.create(Site("shop", "Shop", "", (f"{website.url}/",)))
        self.settings_of_workers = {
            "DATA_DIR": str(folder),
            "CRAWL_ALLOW_PRIVATE": "1",
            "CRAWL_CONCURRENCY": "2",
        }
        self.workers = []

    def worker(self, moment="", nth=""):
        made = self.nursery.worker(
            moment=moment,
            nth=nth,
            environment={**os.environ, **self.settings_of_workers},
            log=str(self.folder / "worker.log"),
            embedded=str(self.folder / "embedded.log"),
        )
        self.workers.append(made)
        return made

    def die(self, worker):
        assert worker.wait() == -signal.SIGKILL, self.output()

    def output(self):
        return (self.folder / "worker.log").read_text()

    @property
    def run(self):
        return self.runtime.stores.crawls.latest("shop")

    def until(self, condition, what="it"):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"{what} did not happen\n{self.run}\n{self.output()}"
            time.sleep(0.02)

    def until_state(self, state):
        def reached():
            now = self.run.state
            assert now == state or now != "failed", self.run.message
            return now == state

        self.until(reached, state)

    def end(self, worker):
        worker.send_signal(signal.SIGTERM)
        assert worker.wait() == 0

    @property
    def embedded(self):
        return sum(map(int, (self.folder / "embedded.log").read_text().split()))

    def pages(self):
        found = [page.url for page in self.runtime.stores.content("shop").pages(limit=10_000)]
        assert len(found) == len(set(found))
        return {url.removeprefix(self.website.url) for url in found}

    def moves(self):
        with self.runtime.database.connect() as connection:
            moved = connection.execute(select(page_moves.c.old_url, page_moves.c.new_url)).all()
        root = self.website.url
        return {old.removeprefix(root): new.removeprefix(root) for old, new in moved}

    def check_indexes(self):
        """Every live chunk has its vector and its words, and nothing else has."""
        live = {chunk.id for chunk in self.runtime.stores.content("shop").every_chunk()}
        parts = self.runtime.engine.parts("shop", self.runtime.engine.document_embedder)
        assert parts.vectors.ids() == live
        assert parts.words.count() == len(live)
        return len(live)

    def sentences(self):
        """How many texts of the live chunks are kept as vectors for the comparison with questions."""
        return sum(len(compared_texts(one)) for one in self.runtime.stores.content("shop").every_chunk())

    def close(self):
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.runtime.close()


@pytest.fixture(scope="session")
def nursery():
    """One for all tests: its imports take longer than most of them."""
    made = Nursery()
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path, model_cache):
    (tmp_path / "models").symlink_to(model_cache)
    return tmp_path


@contextmanager
def installation_of(folder, website, nursery):
    with serve(website):
        made = Installation(folder, website, nursery)
        try:
            yield made
        finally:
            website.hold_after = None
            made.close()


@pytest.fixture
def slow(folder, nursery):
    """An installation with a website of 30 pages."""
    with installation_of(folder, SlowWebsite(), nursery) as made:
        yield made
