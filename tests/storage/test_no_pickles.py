"""What other processes write into the job queue and the caches is data and never runs."""

import logging
import pickle
import sqlite3
import threading

import pytest
from huey import RedisHuey, SqliteHuey

from server.jobs.queue import JobQueue
from server.storage.shared_cache import DiskFolder, DiskSharedCache


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.system)])
def queue(request, tmp_path):
    """A queue, and what puts raw bytes into it."""
    if request.param == "sqlite":
        raw = SqliteHuey("docent", filename=str(tmp_path / "jobs.sqlite3"), results=False)
        return JobQueue(tmp_path), raw.storage.enqueue
    url = request.getfixturevalue("redis_address")
    raw = RedisHuey("docent", url=url, results=False)
    raw.storage.flush_all()
    return JobQueue(tmp_path, url), raw.storage.enqueue


def drained(queue):
    """Everything that waits is read as the worker reads it."""
    while len(queue):
        try:
            task = queue._huey.dequeue()
        except ValueError as error:
            logging.info("dropped: %s", error)
        else:
            queue._huey.execute(task)


def test_a_pickle_in_the_job_queue_runs_nothing_and_holds_up_no_job(queue, tmp_path):
    jobs, put = queue
    done = threading.Event()
    add = jobs.register(
        "refresh_site", lambda site, crawl: done.set() if (site, crawl) == ("shop", 7) else None
    )
    for body in (pickle.dumps(Trap(tmp_path / "ran")), b"", b"[]", b"{", b"null", b"[1,2,3]"):
        put(body)
    add("shop", 7)
    drained(jobs)
    assert done.is_set()
    assert not (tmp_path / "ran").exists()


def test_a_job_is_stored_as_json(tmp_path):
    jobs = JobQueue(tmp_path)
    jobs.register("refresh_site", lambda site, crawl: None)("shop", 7)
    with sqlite3.connect(tmp_path / "jobs.sqlite3") as database:
        (body,) = database.execute("SELECT data FROM task").fetchone()
    assert b'["shop", 7]' in bytes(body)


def test_a_pickle_in_a_cache_runs_nothing_and_counts_as_absent(tmp_path):
    cache = DiskSharedCache(tmp_path / "cache")
    cache.set("answer", "lamps", 60)
    trap = pickle.dumps(Trap(tmp_path / "ran"))
    with sqlite3.connect(tmp_path / "cache" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (trap,))
    database.close()
    assert cache.get("answer") is None
    cache.close()
    assert not (tmp_path / "ran").exists()


def test_a_cache_takes_no_objects(tmp_path):
    folder = DiskFolder(tmp_path / "cache")
    with pytest.raises(TypeError, match="neither text nor number"):
        folder.run(lambda cache: cache.set("key", {"an": "object"}))
    with pytest.raises(TypeError, match="neither text nor number"):
        folder.run(lambda cache: cache.set(("a", "key"), "text"))
    folder.close()
