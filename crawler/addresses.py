"""Which network addresses the crawler may connect to.

A name is resolved once per connection, every address it stands for is checked here, and the
connection is made to a checked address, not to the name: a name server that answers differently
the second time gains nothing. Spellings such as 0x7f.1 or 2130706433 need no rule of their own,
because what is checked is what the resolver made of them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from crawler.errors import FetchError, Refused

IPAddress = IPv4Address | IPv6Address
Resolver = Callable[[str, int], list[str]]

# Addresses of cloud metadata services outside the reserved ranges.
_METADATA = frozenset(map(ip_address, ("168.63.129.16", "fd00:ec2::254", "100.100.100.200", "192.0.0.192")))
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_6TO4 = ip_network("2002::/16")
_COMPATIBLE = ip_network("::/96")


def resolve(host: str, port: int) -> list[str]:
    """Addresses of `host`, as the operating system resolves it. Raises FetchError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FetchError("unreachable", f"the name {host} was not found ({reason})", retry=True) from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The rule, and the resolver it is applied to."""

    allow_private: bool = False
    resolver: Resolver = resolve

    def addresses(self, host: str, port: int) -> list[str]:
        """Addresses of `host` that may be connected to, best first; Refused when it has others only."""
        found = self.resolver(host.strip("[]"), port)
        allowed = [address for address in found if not self.objection(address)]
        if found and not allowed:
            permitted = any(not AddressGuard(allow_private=True).objection(address) for address in found)
            raise Refused(f"{host} is {self.objection(found[0])} ({found[0]})", can_be_allowed=permitted)
        return allowed

    def check(self, url: str) -> None:
        """Raises Refused when `url` may not be connected to, FetchError when its name is unknown."""
        parts = urlsplit(url)
        self.addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    def objection(self, address: str) -> str:
        """What kind of forbidden address it is; empty when it may be connected to."""
        ip = _embedded(ip_address(address.partition("%")[0]))
        if ip in _METADATA or ip.is_link_local:
            return "a link-local or metadata address, which is never crawled"
        if ip.is_multicast or ip.is_unspecified or (ip.is_reserved and not ip.is_loopback):
            return "a reserved address, which is never crawled"
        if self.allow_private or ip.is_global:
            return ""
        return "a loopback address" if ip.is_loopback else "a private address"


def _embedded(ip: IPAddress) -> IPAddress:
    """The IPv4 address that an IPv6 address stands for, where it stands for one."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip.ipv4_mapped:
        return ip.ipv4_mapped
    if _in(ip, _6TO4):
        return IPv4Address((int(ip) >> 80) & 0xFFFFFFFF)
    if any(_in(ip, network) for network in _NAT64) or (_in(ip, _COMPATIBLE) and int(ip) > 1):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _in(ip: IPv6Address, network: object) -> bool:
    return isinstance(network, IPv6Network) and ip in network
