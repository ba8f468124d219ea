"""gunicorn's threaded worker, with threads that do not wait for clients.

gunicorn gives a connection its thread while the request arrives and while the answer is read, and sets no
deadline: as many slow connections as there are threads stop the server. Here the main loop of the worker
collects requests and sends what is left of answers, with a deadline for each step. A thread gets a request
once it is complete. Only two things still wait in a thread: the body of an upload, which is larger than
BODY_BYTES, and an answer of which more than HELD_BYTES are unsent.
"""

import ctypes
import errno
import re
import select
import socket
import struct
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import Enum
from functools import partial
from ipaddress import ip_address
from selectors import EVENT_READ, EVENT_WRITE
from time import monotonic
from typing import Any

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from server.domain.addresses import network_of
from server.settings.serving import LimitSettings

HEAD_BYTES = 65_536
"""Largest request line with headers."""
HELD_BYTES = 131_072
"""Most bytes of an answer that the main loop sends; with more, the thread waits for the client."""
LINGER_S = 2.0
"""Seconds for a client to read why it was refused. Closing at once could destroy that answer on its way."""
SWEEP_S = 0.25
"""How often overdue connections are looked for."""
PROBES = (b"GET /readyz ", b"GET /healthz ", b"GET /metrics ")
SLOW_SHARE = 4
"""One thread in so many may wait for clients that read large answers."""
STARTS, START_S = 16, 0.05
"""At most so many requests begin in this time, unless those before them are answered. Otherwise each of a
thousand that arrive at once would get a thread, and hundreds of threads that all compute keep the next
request waiting for seconds. A request that waits for a model holds up nobody for longer than START_S."""
SPARE_SHARE = 8
"""One thread in so many is free for the other sites, however many requests one site has."""

_LENGTH = re.compile(rb"^content-length:[ \t]*(\d{1,15})[ \t]*\r?$", re.I | re.M)
_CHUNKED = re.compile(rb"^transfer-encoding:.*chunked", re.I | re.M)
_EXPECTS = re.compile(rb"^expect:[ \t]*100-continue[ \t]*\r\n", re.I | re.M)
_TOKEN = re.compile(rb"^authorization:[ \t]*bearer[ \t]+([\w.-]+)[ \t]*\r?$", re.I | re.M)
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"

_SO_ATTACH_FILTER = 26
_NO_SYN = (
    (0x30, 0, 0, 13),  # the flags of the TCP header,
    (0x54, 0, 0, 0x12),  # of which SYN and ACK:
    (0x15, 0, 1, 0x02),  # is it SYN alone?
    (0x06, 0, 0, 0),  # then drop the packet,
    (0x06, 0, 0, 0xFFFFFFFF),  # else let all of it pass
)
"""A program for Linux's packet filter."""


def turn_away(listener: socket.socket) -> None:
    """Let no new client begin to connect; those that wait can still be accepted.

    A client asks again after a second and is then refused, if the socket was closed. Without this, one that
    comes between the last `accept` and `close` would be dropped. Only Linux has such filters.
    """
    if sys.platform != "linux":
        return
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in _NO_SYN))
    header = struct.pack("@HP", len(_NO_SYN), ctypes.addressof(program))
    with suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)


class Progress(Enum):
    """How far a request has arrived."""

    INCOMPLETE = 0
    COMPLETE = 1
    UPLOAD = 2
    """Its body is larger than BODY_BYTES. The application refuses it or reads it."""
    SLOW = 408
    OVERLONG_BODY = 413
    OVERLONG_HEAD = 431


_REASONS = {
    Progress.SLOW: "408 Request Timeout",
    Progress.OVERLONG_BODY: "413 Content Too Large",
    Progress.OVERLONG_HEAD: "431 Request Header Fields Too Large",
}


class Arrival:
    """The bytes of one request. Finds only where it ends; gunicorn parses and checks it."""

    def __init__(self, body_bytes: int) -> None:
        self.data = bytearray()
        self.has_head = False
        self.wants_go_on = False
        self._body_bytes = body_bytes
        self._length = 0
        self._is_chunked = False
        self._next_chunk = 0
        self._searched = 0

    def add(self, data: bytes) -> Progress:
        """Add what came next."""
        self.data += data
        if not self.has_head and not self._read_head():
            return Progress.OVERLONG_HEAD if len(self.data) > HEAD_BYTES else Progress.INCOMPLETE
        if self._is_chunked:
            return self._read_chunks()
        if self._length > self._body_bytes:
            return Progress.UPLOAD
        arrived = len(self.data) - self._next_chunk
        return Progress.COMPLETE if arrived >= self._length else Progress.INCOMPLETE

    def _read_head(self) -> bool:
        while self.data[:2] == b"\r\n":  # a client may send empty lines before its request
            del self.data[:2]
        end = self.data.find(b"\r\n\r\n", max(0, self._searched - 3))
        self._searched = len(self.data)
        if end < 0:
            return False
        head = bytes(self.data[: end + 2])
        if expects := _EXPECTS.search(head):
            length = _LENGTH.search(head)
            self.wants_go_on = length is None or int(length[1]) <= self._body_bytes
            if self.wants_go_on:  # the answer to it is sent here, so gunicorn must not send it again
                del self.data[expects.start() : expects.end()]
                end -= expects.end() - expects.start()
        self.has_head, self._next_chunk = True, end + 4
        self._is_chunked = _CHUNKED.search(head) is not None
        if not self._is_chunked and (length := _LENGTH.search(head)):
            self._length = int(length[1])
        return True

    def _read_chunks(self) -> Progress:
        while (line := self.data.find(b"\r\n", self._next_chunk)) >= 0:
            try:
                size = int(self.data[self._next_chunk : line].partition(b";")[0], 16)
            except ValueError:
                return Progress.COMPLETE  # gunicorn says what is wrong
            if size <= 0:
                return Progress.COMPLETE if self.data.find(b"\r\n\r\n", line) >= 0 else self._unfinished()
            self._length += size
            if self._length > self._body_bytes:
                return Progress.UPLOAD
            self._next_chunk = line + 2 + size + 2
        return self._unfinished()

    def _unfinished(self) -> Progress:
        """Chunks may take more space for their sizes than for what they hold, but not without end."""
        too_long = len(self.data) > HEAD_BYTES + 2 * self._body_bytes
        return Progress.OVERLONG_BODY if too_long else Progress.INCOMPLETE


class SlowReaders:
    """The threads that wait for clients to read. When there are too many, the longest wait is ended."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: dict[socket.socket, None] = {}

    @contextmanager
    def waiting(self, client: socket.socket) -> Iterator[None]:
        """Wait inside; writing to `client` fails if it has to end."""
        with self._lock:
            self._waiting[client] = None
            if len(self._waiting) > self._most:
                oldest = next(iter(self._waiting))
                del self._waiting[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(client, None)


class ClientSocket(socket.socket):
    """A socket that never blocks for longer than its client may take."""

    def __init__(self, accepted: socket.socket, limits: LimitSettings, slow: SlowReaders) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        super().setblocking(False)
        self.unsent = bytearray()
        self.upload_began: float | None = None
        """Since when a thread reads the body; None when it has all of it."""
        self._uploaded = 0
        self._limits = limits
        self._slow = slow

    def setblocking(self, flag: bool, /) -> None:
        """Do nothing: gunicorn's threads switch it on."""

    def settimeout(self, value: float | None, /) -> None:
        """Do nothing: the deadlines are here."""

    def arrived(self) -> bytes:
        """Return what has arrived, empty at the end. Raises BlockingIOError when there is nothing."""
        return super().recv(HEAD_BYTES)

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Read an upload in a thread. Raises ConnectionResetError when it is slower than MIN_RATE."""
        while True:
            try:
                data = super().recv(bufsize, flags)
            except BlockingIOError:
                if self.upload_began is None:
                    raise ConnectionResetError(errno.ECONNRESET, "the request is incomplete") from None
                self._wait(select.POLLIN, self.upload_began + self._time_for(self._uploaded))
                continue
            self._uploaded += len(data)
            return data

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        """Send what the client takes now, keep the rest, and wait while that is more than HELD_BYTES."""
        self.unsent += data
        self.flush()
        if len(self.unsent) > HELD_BYTES:
            deadline = monotonic() + self._time_for(len(self.unsent))
            with self._slow.waiting(self):
                while len(self.unsent) > HELD_BYTES:
                    self._wait(select.POLLOUT, deadline)
                    self.flush()

    def flush(self) -> bool:
        """Send what the client takes now; return whether nothing is left. Raises OSError."""
        with suppress(BlockingIOError):
            while self.unsent:
                sent = self.send(memoryview(self.unsent)[:HELD_BYTES])
                del self.unsent[:sent]
        return not self.unsent

    def time_to_send(self) -> float:
        """Return the seconds that the client may take to read what is unsent."""
        return self._time_for(len(self.unsent))

    def _time_for(self, size: int) -> float:
        return self._limits.body_s + size / self._limits.min_rate

    def _wait(self, event: int, deadline: float) -> None:
        waiting = select.poll()
        waiting.register(self, event)
        if not waiting.poll(max(0.0, deadline - monotonic()) * 1000):
            raise ConnectionResetError(errno.ECONNRESET, "the client is too slow")


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A client's connection, and the request that arrives on it."""

    sock: ClientSocket

    def __init__(self, cfg: Any, client: ClientSocket, address: Any, server: Any, network: str) -> None:
        super().__init__(cfg, client, address, server)
        self.network = network
        self.deadline = 0.0
        self.watched = 0
        self.keeps = False
        self.must_linger = False
        self.arrival: Arrival


class Turns:
    """Complete requests that wait for a thread. Sites take turns, so that the requests of a busy site do not
    delay those of the others."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._share = threads - threads // SPARE_SHARE
        self._waiting: dict[str, deque[Connection]] = {}
        self._running: dict[Connection, str] = {}
        self._busy: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, conn: Connection, site: str) -> None:
        """Let a request of a site wait; those that belong to no site are a site of their own."""
        self._waiting.setdefault(site, deque()).append(conn)

    def next(self) -> Connection | None:
        """Return the request whose turn it is; None without one, or while the threads are busy."""
        if len(self._running) >= self._threads:
            return None
        site = next((site for site in self._waiting if self._busy[site] < self._share), None)
        if site is None:
            return None
        queue = self._waiting.pop(site)
        conn = queue.popleft()
        if queue:
            self._waiting[site] = queue
        self._running[conn] = site
        self._busy[site] += 1
        return conn

    def end(self, conn: Connection) -> None:
        """Give the thread of a request to the next one. Unknown requests are ignored."""
        site = self._running.pop(conn, None)
        if site is None:
            return
        self._busy[site] -= 1
        if not self._busy[site]:
            del self._busy[site]


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """Collects requests and sends answers in its main loop; threads get complete requests."""

    def init_process(self) -> None:
        """Run until the process is stopped."""
        settings = self.app.settings
        self._limits: LimitSettings = settings.limits
        # Behind a proxy every connection comes from the proxy, which has limits of its own.
        self._per_network = 0 if settings.serving.trusted_proxies else self._limits.address_connections
        self._networks: Counter[str] = Counter()
        self._slow = SlowReaders(max(1, self.cfg.threads // SLOW_SHARE))
        self._waiting: dict[Connection, None] = {}
        self._sweep_at = 0.0
        self._turns = Turns(self.cfg.threads)
        self._begun: dict[Connection, float] = {}
        super().init_process()

    def set_accept_enabled(self, enabled: bool) -> None:
        """Begin or cease to accept connections. A process that stops takes those that wait, then closes the
        socket: later ones are refused, so that a proxy asks another replica. Left open, the socket would take
        them in and drop them at the end. When the whole server stops, its first process has let nobody come
        meanwhile (`turn_away`)."""
        super().set_accept_enabled(enabled)
        if self.alive:
            return
        for listener in self.sockets:
            while select.select([listener], [], [], 0)[0]:
                self.accept(listener)
            listener.close()
        self.sockets: list[socket.socket] = []

    def accept(self, listener: socket.socket) -> None:
        """Take a connection. When there are too many, the one that has waited longest gives way."""
        try:
            accepted, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._give_way()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return
        network = network_of(address[0])
        if self._is_crowded(network):
            accepted.close()
            return
        client = ClientSocket(accepted, self._limits, self._slow)
        conn = Connection(self.cfg, client, address, listener.getsockname(), network)
        self._networks[network] += 1
        self.nr_conns += 1
        if self.nr_conns >= self.worker_connections:
            self._give_way()
        self._expect(conn, self._limits.header_s)

    def enqueue_req(self, conn: Connection) -> None:
        """Give a request to a thread as soon as it may begin. Probes do not queue: a balancer that waits for
        one would take a busy process for a dead one."""
        if conn.arrival.data.startswith(PROBES):
            super().enqueue_req(conn)
            return
        token = _TOKEN.search(conn.arrival.data)
        site_of = self.wsgi.extensions["docent-tokens"].site_of
        self._turns.add(conn, site_of(token[1].decode()) if token else "")
        self._begin()

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for events, and begin the requests whose turn has come."""
        super().wait_for_and_dispatch_events(min(timeout, START_S) if self._turns else timeout)
        self._begin()

    def _begin(self) -> None:
        now = monotonic()
        while self._begun and now - next(iter(self._begun.values())) > START_S:
            del self._begun[next(iter(self._begun))]
        while len(self._begun) < STARTS and (conn := self._turns.next()):
            self._begun[conn] = now
            super().enqueue_req(conn)

    def handle(self, conn: Connection) -> Any:
        """Answer the collected request, in a thread."""
        conn.init()
        conn.parser.unreader.unread(bytes(conn.arrival.data))
        conn.data_ready = True
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Connection) -> Any:
        """Answer; after an upload the connection is closed, because its rest is not worth waiting for."""
        if conn.must_linger:
            req.force_close()
        return super().handle_request(req, conn)

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """Send the rest of the answer, then wait for the next request or close."""
        self._begun.pop(conn, None)
        self._turns.end(conn)
        conn.keeps = not fs.cancelled() and fs.exception() is None and bool(fs.result())
        conn.deadline = monotonic() + conn.sock.time_to_send()
        self._flush(conn)

    def murder_pending(self) -> None:
        """Close the connections whose deadline has passed."""
        now = monotonic()
        if now < self._sweep_at:
            return
        self._sweep_at = now + SWEEP_S
        for conn in [conn for conn in self._waiting if conn.deadline <= now]:
            if conn.watched == EVENT_READ and conn.arrival.data and not conn.must_linger:
                self._refuse(conn, Progress.SLOW)
            else:
                self._drop(conn)

    def murder_keepalived(self, force: bool = False) -> None:
        """Close every waiting connection if forced."""
        for conn in list(self._waiting) if force else ():
            self._drop(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        # The process stops: connections without a request do not keep it.
        for conn in self._waiting:
            if not conn.arrival.data:
                conn.deadline = min(conn.deadline, deadline)

    def _is_crowded(self, network: str) -> bool:
        crowded = 0 < self._per_network <= self._networks[network]
        return crowded and not (network != "" and ip_address(network.partition("/")[0]).is_loopback)

    def _give_way(self) -> None:
        if self._waiting:
            self._drop(next(iter(self._waiting)))

    def _expect(self, conn: Connection, seconds: float) -> None:
        """Wait for a request, of which the first bytes may have come with the one before."""
        before = conn.parser.unreader.take_buffered() if conn.parser else b""
        conn.arrival = Arrival(self._limits.body_bytes)
        conn.deadline = monotonic() + seconds
        if before:
            self._collected(conn, before)
        else:
            self._collect(conn)

    def _collect(self, conn: Connection, _socket: object = None) -> None:
        try:
            data = conn.sock.arrived()
        except BlockingIOError:
            self._watch(conn, EVENT_READ, self._collect)
        except OSError:
            self._drop(conn)
        else:
            if data:
                self._collected(conn, data)
            else:
                self._drop(conn)

    def _collected(self, conn: Connection, data: bytes) -> None:
        arrival = conn.arrival
        is_first, had_head = not arrival.data, arrival.has_head
        state = arrival.add(data)
        if state is Progress.INCOMPLETE:
            if arrival.has_head and not had_head:
                conn.deadline = monotonic() + self._limits.body_s
                conn.deadline += self._limits.body_bytes / self._limits.min_rate
                if arrival.wants_go_on:
                    conn.sock.sendall(_GO_ON)
            elif is_first:
                conn.deadline = monotonic() + self._limits.header_s
            self._watch(conn, EVENT_READ, self._collect)
        elif state in _REASONS:
            self._refuse(conn, state)
        else:
            conn.must_linger = state is Progress.UPLOAD
            conn.sock.upload_began = monotonic() if conn.must_linger else None
            self._unwatch(conn)
            self.enqueue_req(conn)

    def _refuse(self, conn: Connection, state: Progress) -> None:
        with suppress(OSError):
            head = f"HTTP/1.1 {_REASONS[state]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            conn.sock.sendall(head.encode())
        conn.must_linger, conn.keeps = True, False
        conn.deadline = monotonic() + LINGER_S
        self._flush(conn)

    def _flush(self, conn: Connection, _socket: object = None) -> None:
        try:
            if not conn.sock.flush():
                self._watch(conn, EVENT_WRITE, self._flush)
            elif conn.keeps:
                seconds = self.cfg.keepalive if self.alive else STOP_KEEPALIVE_LINGER
                self._unwatch(conn)
                self._expect(conn, seconds)
            elif conn.must_linger:
                conn.sock.shutdown(socket.SHUT_WR)
                conn.deadline = monotonic() + LINGER_S
                self._watch(conn, EVENT_READ, self._discard)
            else:
                self._drop(conn)
        except OSError:
            self._drop(conn)

    def _discard(self, conn: Connection, _socket: object) -> None:
        try:
            if conn.sock.arrived():
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(conn)

    def _watch(self, conn: Connection, event: int, then: Callable[..., None]) -> None:
        if conn.watched:
            self.poller.modify(conn.sock, event, partial(then, conn))
        else:
            self.poller.register(conn.sock, event, partial(then, conn))
            self._waiting[conn] = None
        conn.watched = event

    def _unwatch(self, conn: Connection) -> None:
        if conn.watched:
            self.poller.unregister(conn.sock)
            del self._waiting[conn]
            conn.watched = 0

    def _drop(self, conn: Connection) -> None:
        self._unwatch(conn)
        self._networks[conn.network] -= 1
        if self._networks[conn.network] <= 0:
            del self._networks[conn.network]
        self.nr_conns -= 1
        conn.close()
