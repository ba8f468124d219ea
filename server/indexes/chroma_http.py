"""The one request of every question, nearest neighbours, over pooled connections to a Chroma server.

Chroma's own client spends as much time on it as the server does (benchmarks/indexing.py). Everything
else goes through Chroma's client (server.indexes.vectors).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, LifoQueue
from urllib.parse import urlsplit

import orjson

from server.indexes.errors import IndexRejected, IndexUnavailable

IDLE_CONNECTIONS = 32
TIMEOUT_S = 10.0


class UnknownCollection(Exception):
    """The collection is no longer there: another process dropped it."""


class ChromaQueries:
    """Thread-safe; `base` is scheme://host:port of the server."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts = urlsplit(base)
        self._idle: LifoQueue[HTTPConnection] = LifoQueue(IDLE_CONNECTIONS)

    def nearest(
        self, collection_id: str, vector: Sequence[float], limit: int
    ) -> tuple[list[str], list[float]]:
        """Ids and distances, nearest first. Raises UnknownCollection, IndexUnavailable, IndexRejected."""
        path = f"/api/v2/tenants/default_tenant/databases/default_database/collections/{collection_id}/query"
        values = vector.tolist() if hasattr(vector, "tolist") else list(vector)
        body = orjson.dumps({"query_embeddings": [values], "n_results": limit, "include": ["distances"]})
        status, text = self._post(path, body)
        if status == 404:
            raise UnknownCollection(collection_id)
        if status != 200:
            kind = IndexUnavailable if status >= 500 else IndexRejected
            raise kind(f"Chroma at {self._base} answered {status}: {text[:200]}")
        found = orjson.loads(text)
        return found["ids"][0], found["distances"][0]

    def close(self) -> None:
        """Closes the idle connections."""
        with _until_empty():
            while True:
                self._idle.get_nowait().close()

    def _post(self, path: str, body: bytes) -> tuple[int, str]:
        try:
            connection = self._idle.get_nowait()
        except Empty:
            return self._send(self._connection(), path, body)
        try:
            return self._send(connection, path, body)
        except IndexUnavailable:
            # The server may have closed an idle connection: those that wait with it are as old.
            self.close()
            return self._send(self._connection(), path, body)

    def _send(self, connection: HTTPConnection, path: str, body: bytes) -> tuple[int, str]:
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            status, text = response.status, response.read().decode()
        except (OSError, HTTPException) as error:
            connection.close()
            raise IndexUnavailable(unreachable(self._base, error)) from error
        if self._idle.full() or response.will_close:
            connection.close()
        else:
            self._idle.put_nowait(connection)
        return status, text

    def _connection(self) -> HTTPConnection:
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=TIMEOUT_S)


def unreachable(base: str, error: Exception) -> str:
    """The line for an operator whose Chroma server does not answer."""
    reason = str(error) or type(error).__name__
    return f"Chroma at {base} does not answer ({reason}): check CHROMA_URL and that the server runs"


@contextmanager
def _until_empty() -> Iterator[None]:
    try:
        yield
    except Empty:
        return
