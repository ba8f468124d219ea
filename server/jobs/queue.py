"""The job queue: Huey over a SQLite file, or over Redis when there are several machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from huey import Huey, RedisHuey, SqliteHuey


class JobQueue:
    """Named jobs with JSON-like arguments. Any process may add; the worker process runs them in order."""

    def __init__(self, folder: Path, redis_url: str = "") -> None:
        """Opens `folder`/jobs.sqlite3, or the Redis server when `redis_url` is given."""
        if redis_url:
            self._huey: Huey = RedisHuey("docent", url=redis_url, results=False)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self._huey = SqliteHuey("docent", filename=str(folder / "jobs.sqlite3"), results=False)

    def register(self, name: str, run: Callable[..., None]) -> Callable[..., None]:
        """Makes `run` known under `name`; returns a function that queues a call with its arguments."""
        task = self._huey.task(name=name)(run)

        def add(*arguments: Any) -> None:
            task(*arguments)

        return add

    def __len__(self) -> int:
        """How many jobs wait."""
        waiting: int = self._huey.pending_count()
        return waiting

    def work(self) -> None:
        """Runs jobs in this process, one at a time, until SIGTERM or SIGINT; a job under way is finished
        or, if it takes too long, taken up again by the next worker."""
        self._huey.create_consumer(workers=1, periodic=False, initial_delay=0.05, max_delay=1.0).run()
