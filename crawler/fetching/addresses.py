"""Which network addresses the crawler may connect to.

A name is resolved once per connection, every address it stands for is checked here, and the
connection is made to a checked address, not to the name: a name server that answers differently
the second time gains nothing. Where private addresses are allowed at all, they are for the site that is
crawled, not for wherever its pages point. Spellings such as 0x7f.1 or 2130706433 need no rule of their own,
because what is checked is what the resolver made of them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

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
