"""Connections that go to checked addresses only, and that can be cut from outside.

requests and urllib3 limit the time between two pieces of an answer, not its whole time: a server
that sends a byte now and then would hold a thread for ever. So each fetch has a deadline for everything:
resolving the name, connecting, the TLS handshake, headers and body. Its socket is registered here, and one
watching thread shuts it down at that moment of the monotonic clock.

A name is resolved once per connection, every address it resolves to is checked here, and the
connection is made to a checked address, not to the name: a name server that answers differently
the second time gains nothing. Where private addresses are allowed at all, they are for the site that is
crawled, not for wherever its pages point. Spellings such as 0x7f.1 or 2130706433 need no rule of their own,
because what is checked is what the resolver made of them.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from crawler.errors import FetchError, Refused

IPAddress = IPv4Address | IPv6Address
Resolver = Callable[[str, int], list[str]]

# Addresses of cloud metadata services outside the ranges that are refused anyway.
_METADATA = (
    *map(ip_network, ("168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32")),
    *map(ip_network, ("fd00:ec2::/32", "fd00:c1::/32", "fd20:ce::/32")),
)
# IPv6 networks that embed an IPv4 address, with the bit at which it begins, from the right.
_STANDS_FOR = (
    (ip_network("2002::/16"), 80),  # 6to4
    (ip_network("64:ff9b::/96"), 0),  # NAT64
    (ip_network("::/96"), 0),  # "IPv4-compatible", deprecated; not :: and ::1
)
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
# Where other protocols listen: a request there may be taken for one of theirs. As browsers have it.
_NO_WEB_PORTS = frozenset({
    0, 1, 7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512,
    513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719,
    1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697, 10080, 11211,
})  # fmt: skip


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of `host` from the operating system. Raises FetchError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FetchError("unreachable", f"the name {host} was not found ({reason})", retry=True) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The rule about addresses, and the resolver that it checks."""

    allow_private: bool = False
    resolver: Resolver = resolve
    private_hosts: frozenset[str] = frozenset()
    """When given, private addresses are allowed to these hosts and names below them only."""

    def only_for(self, hosts: Iterable[str]) -> AddressGuard:
        """Return the same rule with private addresses limited to these hosts."""
        return replace(self, private_hosts=frozenset(hosts))

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the permitted addresses of `host`, best first; raise Refused when it has only others."""
        if port in _NO_WEB_PORTS:
            raise Refused(f"port {port} of {host} is not one of web servers, so nothing is asked there")
        found = self.resolver(host.strip("[]"), port)
        rule = self if self._may_be_private(host) else replace(self, allow_private=False)
        allowed = [address for address in found if not rule.objection(address)]
        if found and not allowed:
            permitted = any(not AddressGuard(allow_private=True).objection(address) for address in found)
            raise Refused(f"{host} is {rule.objection(found[0])} ({found[0]})", can_be_allowed=permitted)
        return allowed

    def check(self, url: str) -> None:
        """Raise Refused when `url` is forbidden, FetchError when its name is unknown."""
        parts = urlsplit(url)
        self.addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    def objection(self, address: str) -> str:
        """Return what kind of forbidden address it is; empty when it is permitted."""
        return next(filter(None, map(self._objection, _meant(ip_address(address.partition("%")[0])))), "")

    def _objection(self, ip: IPAddress) -> str:
        if ip.is_link_local or any(ip in network for network in _METADATA if network.version == ip.version):
            return "a link-local or metadata address, which is never crawled"
        if ip.is_multicast or ip.is_unspecified or (ip.is_reserved and not ip.is_loopback):
            return "a reserved address, which is never crawled"
        site_local = isinstance(ip, IPv6Address) and ip.is_site_local
        if self.allow_private or (ip.is_global and not site_local):
            return ""
        return "a loopback address" if ip.is_loopback else "a private address"

    def _may_be_private(self, host: str) -> bool:
        name = host.strip("[]").lower()
        return not self.private_hosts or any(
            name == own or name.endswith(f".{own}") for own in self.private_hosts
        )


def _meant(ip: IPAddress) -> list[IPAddress]:
    """Return the addresses that packets to `ip` may reach: itself, or the IPv4 address it embeds."""
    if isinstance(ip, IPv4Address):
        return [ip]
    if ip.ipv4_mapped:
        return [ip.ipv4_mapped]
    for network, shift in _STANDS_FOR:
        if ip in network and int(ip) > 1:
            return [IPv4Address((int(ip) >> shift) & 0xFFFFFFFF)]
    if ip.teredo:
        return [ip, *ip.teredo]
    if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
        return [ip, IPv4Address(int(ip) & 0xFFFFFFFF)]
    return [ip]


_IDLE_S = 1.0
"""Seconds without a request after which the thread that watches deadlines ends."""


class Deadlines:
    """Sockets in use, by thread, with the moment at which each is shut down."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[int, float] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._closed = False
        self._watched = False
        """Whether a thread looks after the deadlines now: it ends when there was none for a while."""

    @contextmanager
    def within(self, seconds: float) -> Iterator[float]:
        """Cut off what this thread does inside after `seconds`; yields that moment."""
        thread, due = threading.get_ident(), time.monotonic() + seconds
        with self._changed:
            self._due[thread] = due
            if not self._watched and not self._closed:
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
        if self._closed:
            _cut(sock)

    def left(self) -> float | None:
        """Seconds until this thread's deadline, never negative; None without one."""
        with self._changed:
            due = self._due.get(threading.get_ident())
        return None if due is None else max(0.0, due - time.monotonic())

    def close(self) -> None:
        """Cut off everything, now and from now on."""
        with self._changed:
            self._closed = True
            open_sockets = list(self._sockets.values())
            self._changed.notify()
        for sock in open_sockets:
            _cut(sock)

    @property
    def closed(self) -> bool:
        return self._closed

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
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
        limits = [limit for limit in (timeout, deadlines.left()) if limit is not None]
        try:
            if 0.0 in limits:
                raise TimeoutError("timed out")
            sock = socket.create_connection((address, connection.port), min(limits, default=None))
        except OSError as error:
            failure = error
            continue
        sock.settimeout(timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        deadlines.register(sock)
        return sock
    raise NewConnectionError(connection, str(failure or "no address")) from failure


def _addresses(connection: HTTPConnection, guard: AddressGuard, left: float | None) -> list[str]:
    """Resolve the host's name in a thread of its own, since a resolver cannot be cut off."""
    if left is None:
        return guard.addresses(connection.host, connection.port)
    found: list[list[str]] = []
    failures: list[Exception] = []

    def resolve() -> None:
        try:
            found.append(guard.addresses(connection.host, connection.port))
        except Exception as error:  # noqa: BLE001 - raised again below, in the thread that asked
            failures.append(error)

    thread = threading.Thread(target=resolve, name="crawl-resolver", daemon=True)
    thread.start()
    thread.join(left)
    if failures:
        raise failures[0]
    if not found:
        message = f"the name {connection.host} was not resolved in time"
        raise FetchError("timeout", message, retry=True)
    return found[0]
