"""The one rule for all outgoing connections: which hosts they may reach.

A name is resolved once for a connection, every address that it resolves to is checked here, and the
connection is made to a checked address, not to the name: a name server that answers differently the second
time gains nothing. Spellings such as 0x7f.1 or 2130706433 need no rule of their own, because what is checked
is what the resolver made of them. Private networks and this machine are reached only where the list of
private hosts permits it; metadata services and link-local addresses never are.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from crawler.errors import FetchError, Refused
from crawler.wordset import wordlist

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
_OWN_NAT64 = ip_network("64:ff9b:1::/48")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
_NO_WEB_PORTS = frozenset(map(int, wordlist("addresses.no_web_ports")))


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of `host` from the operating system. Raises FetchError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FetchError("unreachable", f"the name {host} was not found ({reason})", retry=True) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class PrivateHost:
    """A host or network that may be reached although it is private."""

    place: str | IPv4Network | IPv6Network
    """A host name with all its subdomains, or a network. A single address is a network of one."""
    port: int | None = None
    """The only port that is permitted; None: every port."""

    @classmethod
    def parse(cls, text: str) -> PrivateHost:
        """Read `wiki.lan`, `wiki.lan:8080`, `10.0.0.7`, `[::1]:9000` or `10.0.0.0/8`. Raises ValueError."""
        written = text.strip().lower()
        if network := _as_network(written.removeprefix("[").removesuffix("]")):
            return cls(network)
        try:
            parts = urlsplit(f"//{written}")
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host, port = "", None
        place = _as_network(host) or host
        if not place or not _HOST.fullmatch(host) or str(cls(place, port)) not in (written, f"{written}/32"):
            raise ValueError(f"{text.strip()!r} is no host, host:port or network such as 10.0.0.0/8")
        return cls(place, port)

    @classmethod
    def of(cls, address: str) -> PrivateHost | None:
        """Return the host and port of a URL; None for what is no URL."""
        parts = urlsplit(address)
        if not parts.hostname:
            return None
        host = parts.hostname.lower()
        return cls(_as_network(host) or host, parts.port or _PORTS.get(parts.scheme))

    def __str__(self) -> str:
        if self.port is None:
            return str(self.place)
        if isinstance(self.place, str):
            return f"{self.place}:{self.port}"
        host = self.place.network_address
        return f"[{host}]:{self.port}" if host.version == 6 else f"{host}:{self.port}"

    def permits(self, host: str, port: int, address: IPAddress) -> bool:
        """Return whether a connection to `host`, which is at `address`, is meant."""
        if self.port not in (None, port):
            return False
        if isinstance(self.place, str):
            return host == self.place or host.endswith(f".{self.place}")
        return address.version == self.place.version and address in self.place


_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:.]+")
_PORTS = {"http": 80, "https": 443, "smtp": 587, "smtps": 465}


def _as_network(host: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(host)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The rule about addresses, and the resolver that it checks."""

    allow_private: bool = False
    """Whether every private host may be reached."""
    resolver: Resolver = resolve
    private_hosts: tuple[PrivateHost, ...] = ()
    """The private hosts that may be reached."""
    only: frozenset[str] | None = None
    """When given, private addresses are permitted to these hosts and names below them only."""

    def only_for(self, hosts: Iterable[str]) -> AddressGuard:
        """Return the same rule with private addresses limited to these hosts."""
        return replace(self, only=frozenset(hosts))

    def addresses(self, host: str, port: int, *, is_web: bool = True) -> list[str]:
        """Return the permitted addresses of `host`, best first; raise Refused when it has only others."""
        if is_web and port in _NO_WEB_PORTS:
            raise Refused(f"port {port} of {host} is not one of web servers, so nothing is asked there")
        found = self.resolver(host.strip("[]"), port)
        allowed = [address for address in found if not self.objection(address, host, port)]
        if found and not allowed:
            permitted = any(not AddressGuard(allow_private=True).objection(address) for address in found)
            reason = self.objection(found[0], host, port)
            raise Refused(f"{host} is {reason} ({found[0]})", can_be_allowed=permitted)
        return allowed

    def check(self, url: str) -> list[str]:
        """Return the permitted addresses of the host of `url`, best first. Raise Refused when it is
        forbidden, FetchError when its name is unknown."""
        parts = urlsplit(url)
        return self.addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    def connect(self, host: str, port: int, timeout: float | None, *, is_web: bool = True) -> socket.socket:
        """Connect to the first permitted address that answers. Raises FetchError, OSError."""
        failure = OSError(f"{host} has no address")
        for address in self.addresses(host, port, is_web=is_web):
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as error:
                failure = error
        raise failure

    def objection(self, address: str, host: str = "", port: int = 0) -> str:
        """Return what kind of forbidden address it is; empty when `host` may be reached there."""
        name = host.strip("[]").rstrip(".").lower()
        meant = _meant(ip_address(address.partition("%")[0]))
        return next(filter(None, (self._objection(ip, name, port) for ip in meant)), "")

    def _objection(self, ip: IPAddress, host: str, port: int) -> str:
        if ip.is_link_local or any(ip in network for network in _METADATA if network.version == ip.version):
            return "a link-local or metadata address, which is never reached"
        if ip.is_multicast or ip.is_unspecified or (ip.is_reserved and not ip.is_loopback):
            return "a reserved address, which is never reached"
        site_local = isinstance(ip, IPv6Address) and ip.is_site_local
        if (ip.is_global and not site_local) or self._may_be_private(ip, host, port):
            return ""
        return "a loopback address" if ip.is_loopback else "a private address"

    def _may_be_private(self, ip: IPAddress, host: str, port: int) -> bool:
        within = self.only is None or any(host == own or host.endswith(f".{own}") for own in self.only)
        return within and (
            self.allow_private or any(one.permits(host, port, ip) for one in self.private_hosts)
        )


PUBLIC_ONLY = AddressGuard()


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
    if ip in _OWN_NAT64 or (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
        return [ip, IPv4Address(int(ip) & 0xFFFFFFFF)]
    return [ip]
