"""Connections that go to checked addresses only, and that can be cut from outside.

requests and urllib3 limit the time between two pieces of an answer, not its whole time: a server
that sends a byte now and then would hold a thread for ever. So each fetch has a deadline for everything:
resolving the name, connecting, the TLS handshake, headers and body. Its socket is registered here, and one
watching thread shuts it down at that moment of the monotonic clock.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from crawler.errors import FetchError
from crawler.fetching.addresses import AddressGuard

_IDLE_S = 1.0
"""Seconds without a request after which the thread that watches deadlines ends."""


class Deadlines:
    """Sockets in use, by thread, with the moment at which each is shut down."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[int, float] = {}
        self._sockets: dict[int, socket.socket] = {}
        self.closed = False
        self._watched = False
        """Whether a thread looks after the deadlines now: it ends when there was none for a while."""

    @contextmanager
    def within(self, seconds: float) -> Iterator[float]:
        """Cut off what this thread does inside after `seconds`; yields that moment."""
        thread, due = threading.get_ident(), time.monotonic() + seconds
        with self._changed:
            self._due[thread] = due
            if not self._watched and not self.closed:
                self._watched = True
                threading.Thread(target=self._watch, name="crawl-deadlines", daemon=True).start()
            self._changed.notify()
        try:
            yield due
        finally:
            with self._changed:
                self._due.pop(thread, None)
                self._sockets.pop(thread, None)

    def register(self, sock: socket.socket | None) -> None:
        """Make `sock` the one that this thread's deadline shuts down."""
        with self._changed:
            if sock is not None and threading.get_ident() in self._due:
                self._sockets[threading.get_ident()] = sock
                self._changed.notify()
        if self.closed:
            _cut(sock)

    def left(self) -> float:
        """Seconds until this thread's deadline, never negative. Every connection is made within one."""
        with self._changed:
            due = self._due[threading.get_ident()]
        return max(0.0, due - time.monotonic())

    def close(self) -> None:
        """Cut off everything, now and from now on."""
        with self._changed:
            self.closed = True
            open_sockets = list(self._sockets.values())
            self._changed.notify()
        for sock in open_sockets:
            _cut(sock)

    def _watch(self) -> None:
        with self._changed:
            while not self.closed:
                now = time.monotonic()
                for thread in [thread for thread in self._sockets if self._due.get(thread, now) <= now]:
                    _cut(self._sockets.pop(thread))
                coming = [due for thread, due in self._due.items() if thread in self._sockets]
                called = self._changed.wait(min(coming, default=now + _IDLE_S) - now)
                if not called and not self._due:
                    break
            self._watched = False


def _cut(sock: socket.socket | None) -> None:
    if sock is not None:
        with suppress(OSError):  # already closed: what was wanted
            sock.shutdown(socket.SHUT_RDWR)


def guarded_pools(guard: AddressGuard, deadlines: Deadlines, **options: Any) -> PoolManager:
    """Return a urllib3 pool manager whose connections obey `guard` and `deadlines`."""

    class Guarded(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _connect(self, guard, deadlines)

        def request(self, *args: Any, **kwargs: Any) -> None:
            deadlines.register(self.sock)  # a connection that is used again
            super().request(*args, **kwargs)

    class GuardedTls(HTTPSConnection):
        _wire: socket.socket | None = None

        def _new_conn(self) -> socket.socket:
            sock = _connect(self, guard, deadlines)
            # The handshake takes the socket over; a second handle can shut the connection down all the time.
            self._wire = sock.dup()
            deadlines.register(self._wire)
            return sock

        def request(self, *args: Any, **kwargs: Any) -> None:
            deadlines.register(self._wire)
            super().request(*args, **kwargs)

        def close(self) -> None:
            super().close()
            if self._wire is not None:
                self._wire.close()
                self._wire = None

    class Pool(HTTPConnectionPool):
        ConnectionCls = Guarded

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = GuardedTls

    manager = PoolManager(**options)
    manager.pool_classes_by_scheme = {"http": Pool, "https": TlsPool}
    return manager


def _connect(connection: HTTPConnection, guard: AddressGuard, deadlines: Deadlines) -> socket.socket:
    """Connect to the first address that answers. Tries only addresses that `guard` lets through."""
    timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
    failure: OSError | None = None
    for address in _addresses(connection, guard, deadlines.left()):
        left = deadlines.left()
        limit = left if timeout is None else min(timeout, left)
        try:
            if not limit:
                raise TimeoutError("timed out")
            sock = socket.create_connection((address, connection.port), limit)
        except OSError as error:
            failure = error
            continue
        sock.settimeout(timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadlines.register(sock)
        return sock
    raise NewConnectionError(connection, str(failure or "no address")) from failure


def _addresses(connection: HTTPConnection, guard: AddressGuard, left: float) -> list[str]:
    """Resolve the host's name in a thread of its own, since a resolver cannot be cut off."""
    found: Future[list[str]] = Future()

    def resolve() -> None:
        try:
            found.set_result(guard.addresses(connection.host, connection.port))
        except Exception as error:  # noqa: BLE001 - raised again below, in the thread that asked
            found.set_exception(error)

    threading.Thread(target=resolve, name="crawl-resolver", daemon=True).start()
    if not wait([found], left).done:
        message = f"the name {connection.host} was not resolved in time"
        raise FetchError("timeout", message, retry=True)
    return found.result()
