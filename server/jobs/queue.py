"""The job queue: Huey over a SQLite file, or over Redis when there are several machines."""

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from huey import Huey, RedisHuey, SqliteHuey
from huey.registry import Message
from huey.serializer import Serializer

from server.storage.errors import StorageError
from server.storage.shared_cache import RedisServer

log = logging.getLogger(__name__)

GOODBYE_S = 3.0
"""Jobs that are under way get so long to leave off, less than it takes until they are killed."""


class JsonJobs(Serializer):  # type: ignore[misc]  # huey has no types
    """Jobs as JSON: reading one can run no code, whoever wrote it."""

    def serialize(self, data: Message) -> bytes:
        """Encode a job."""
        return json.dumps(data).encode()

    def deserialize(self, data: bytes) -> Message:
        """Decode a job. Raises ValueError for anything else, which the worker logs and drops."""
        fields = json.loads(data)
        if not isinstance(fields, list) or len(fields) != len(Message._fields):
            raise ValueError("this is no job")
        return Message(*fields)


class JobQueue:
    """Named jobs with JSON-like arguments. Any process may add; worker processes run them in order."""

    def __init__(self, folder: Path, redis_url: str = "") -> None:
        """Opens `folder`/jobs.sqlite3, or the Redis server when `redis_url` is given."""
        self._redis = RedisServer(redis_url) if redis_url else None
        if self._redis:
            pool = self._redis.pool
            self._huey: Huey = RedisHuey("docent", connection_pool=pool, results=False, serializer=JsonJobs())
        else:
            folder.mkdir(parents=True, exist_ok=True)
            file = str(folder / "jobs.sqlite3")
            self._huey = SqliteHuey("docent", filename=file, results=False, serializer=JsonJobs())

    def register(self, name: str, run: Callable[..., None]) -> Callable[..., None]:
        """Makes `run` known under `name`; returns a function that queues a call with its arguments. The queue
        only wakes a worker: what is to be done is in the database, and found there when the queue fails."""
        task = self._huey.task(name=name)(run)

        def add(*arguments: Any) -> None:
            try:
                with self._explained():
                    task(*arguments)
            except StorageError as error:
                log.warning("%s %s is queued later: %s", name, arguments, error)

        return add

    def __len__(self) -> int:
        """How many jobs wait. Raises StorageError."""
        with self._explained():
            waiting: int = self._huey.pending_count()
        return waiting

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with self._redis.client() if self._redis else nullcontext():
                yield
        except sqlite3.Error as error:
            raise StorageError(f"the job queue in DATA_DIR cannot be used ({error})") from error

    def work(self, at_once: int, ending: threading.Event) -> None:
        """Runs jobs in this process, `at_once` side by side, until SIGTERM or SIGINT. Then `ending` is set,
        and what is still under way a few seconds later is cut off."""
        consumer = self._huey.create_consumer(
            workers=at_once, periodic=False, initial_delay=0.05, max_delay=1.0, shutdown_timeout=GOODBYE_S
        )

        def pass_on() -> None:
            consumer.stop_flag.wait()
            ending.set()

        threading.Thread(target=pass_on, name="worker-ending", daemon=True).start()
        consumer.run()
        ending.set()
        deadline = time.monotonic() + GOODBYE_S
        for _, thread in consumer.worker_threads:
            thread.join(max(0.0, deadline - time.monotonic()))
