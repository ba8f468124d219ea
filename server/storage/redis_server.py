"""The connection to Redis that history and shared cache use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, OutOfMemoryError, RedisError
from redis.retry import Retry

from server.storage.errors import StorageError

CONNECTIONS = 32
"""Per process; threads wait for one rather than open hundreds."""


class RedisServer:
    """A pool of connections, opened when first used. Raises StorageError."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.place = f"Redis at {parts.hostname or parts.path or 'localhost'}:{parts.port or 6379}"
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=20,
                decode_responses=True,
                encoding_errors="replace",
                socket_timeout=5,
                socket_connect_timeout=5,
                health_check_interval=30,
                # A visitor waits for this: one quick second try for a connection that was cut.
                retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), retries=2),
            )
        except ValueError as error:
            raise StorageError(f"REDIS_URL is not an address ({error}): write redis://host:6379/0") from error
        self._client = Redis(connection_pool=pool)

    @contextmanager
    def client(self) -> Iterator[Redis]:
        """The client; what Redis raises inside becomes a StorageError of one line."""
        try:
            yield self._client
        except RedisError as error:
            raise StorageError(self._explain(error)) from error

    def ping(self) -> None:
        """Raises StorageError when the server does not answer."""
        with self.client() as client:
            client.ping()

    def close(self) -> None:
        """Closes every connection; using it again opens new ones."""
        self._client.connection_pool.disconnect()

    def _explain(self, error: RedisError) -> str:
        said = " ".join(str(error).split())
        if isinstance(error, AuthenticationError):
            return f"{self.place} refuses the password ({said}): check REDIS_URL"
        if isinstance(error, OutOfMemoryError):
            return f"{self.place} is full: raise its maxmemory, or set a maxmemory-policy"
        return f"{self.place} does not answer ({said}): check REDIS_URL and that the server runs"
