"""Connections that go to checked addresses only, and that can be cut from outside.

requests and urllib3 limit the time between two pieces of an answer, not its whole time: a server
that sends a byte now and then would hold a thread for ever. So each fetch runs under a Deadline,
every socket it opens is noted there, and one watching thread shuts down what is overdue.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from crawler.addresses import AddressGuard

_TICK_S = 0.1


class Deadlines:
    """Sockets in use, by thread, with the moment at which each must be done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._due: dict[int, float] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="crawl-deadlines", daemon=True)
        self._watcher.start()

    @contextmanager
    def within(self, seconds: float) -> Iterator[float]:
        """What this thread does inside is cut off after `seconds`; gives the moment of the cut."""
        thread, due = threading.get_ident(), time.monotonic() + seconds
        with self._lock:
            self._due[thread] = due
        try:
            yield due
        finally:
            with self._lock:
                self._due.pop(thread, None)
                self._sockets.pop(thread, None)

    def note(self, sock: socket.socket | None) -> None:
        """This thread now waits for `sock`."""
        with self._lock:
            if sock is not None and threading.get_ident() in self._due:
                self._sockets[threading.get_ident()] = sock
        if self._closed.is_set():
            _cut(sock)

    def close(self) -> None:
        """Cuts everything off, now and from now on."""
        self._closed.set()
        with self._lock:
            open_sockets = list(self._sockets.values())
        for sock in open_sockets:
            _cut(sock)

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def _watch(self) -> None:
        while not self._closed.wait(_TICK_S):
            now = time.monotonic()
            with self._lock:
                late = [s for thread, s in self._sockets.items() if self._due.get(thread, now) < now]
            for sock in late:
                _cut(sock)


def _cut(sock: socket.socket | None) -> None:
    if sock is not None:
        with suppress(OSError):  # already gone: what was wanted
            sock.shutdown(socket.SHUT_RDWR)


def guarded_pools(guard: AddressGuard, deadlines: Deadlines, **options: Any) -> PoolManager:
    """A urllib3 pool manager whose connections obey `guard` and `deadlines`."""

    class Guarded(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _connect(self, guard, deadlines)

        def request(self, *args: Any, **kwargs: Any) -> None:
            super().request(*args, **kwargs)
            deadlines.note(self.sock)

    class GuardedTls(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _connect(self, guard, deadlines)

        def request(self, *args: Any, **kwargs: Any) -> None:
            super().request(*args, **kwargs)
            deadlines.note(self.sock)

    class Pool(HTTPConnectionPool):
        ConnectionCls = Guarded

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = GuardedTls

    manager = PoolManager(**options)
    manager.pool_classes_by_scheme = {"http": Pool, "https": TlsPool}
    return manager


def _connect(connection: HTTPConnection, guard: AddressGuard, deadlines: Deadlines) -> socket.socket:
    """Connects to the first address that answers. Only addresses that `guard` let through are tried."""
    timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
    failure: OSError | None = None
    for address in guard.addresses(connection.host, connection.port):
        try:
            sock = socket.create_connection((address, connection.port), timeout)
        except OSError as error:
            failure = error
            continue
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadlines.note(sock)
        return sock
    raise NewConnectionError(connection, str(failure or "no address")) from failure
