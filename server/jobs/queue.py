"""The job queue: Huey over a SQLite file, or over Redis when there are several machines."""

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from huey import Huey, RedisHuey, SqliteHuey
from huey.api import Task
from huey.registry import Message
from huey.serializer import Serializer

from server.logs import request_id
from server.metrics import JOB_SECONDS, JOBS
from server.storage.errors import StorageError
from server.storage.shared_cache import RedisServer
from server.tracing import TRACEPARENT, carried, continued

log = logging.getLogger(__name__)

GOODBYE_S = 3.0
"""Seconds that running jobs get to stop; less than the time until they are killed."""


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


def _new_id() -> str:
    """The id of a job: when it was queued, for which request, and in which span, each of which may be empty.
    A worker of another version takes any id."""
    parts = (f"{time.time():.3f}", request_id.get(), carried().get(TRACEPARENT, ""), uuid4().hex)
    return " ".join(part or "-" for part in parts)


def _read_id(id: str) -> tuple[float | None, str, str]:
    """Return (when it was queued, request id, traceparent) of a job."""
    parts = id.split(" ")
    if len(parts) != 4:
        return None, "", ""
    at = None
    with suppress(ValueError):
        at = float(parts[0])
    return at, parts[1].strip("-"), parts[2].strip("-")


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

        def work(*arguments: Any, task: Task) -> None:
            _, asked_by, traceparent = _read_id(task.id)
            before, began, result = request_id.set(asked_by), time.monotonic(), "failed"
            try:
                with continued(f"job {name}", traceparent):
                    run(*arguments)
                result = "done"
            finally:
                request_id.reset(before)
                JOBS.count(name, result)
                JOB_SECONDS.observe(time.monotonic() - began, name)

        task = self._huey.task(name=name, context=True)(work)

        def add(*arguments: Any) -> None:
            try:
                with self._explained():
                    task(*arguments, id=_new_id())
            except StorageError as error:
                log.warning("%s %s is queued later: %s", name, arguments, error)

        return add

    def __len__(self) -> int:
        """How many jobs wait. Raises StorageError."""
        with self._explained():
            waiting: int = self._huey.pending_count()
        return waiting

    def oldest_age_s(self) -> float:
        """Return for how many seconds the next job has waited; 0 when none waits. Raises StorageError."""
        with self._explained():
            ids = [task.id for task in self._huey.pending(1)]
        at = _read_id(ids[0])[0] if ids else None
        return 0.0 if at is None else max(0.0, time.time() - at)

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
