"""Addresses of pages, those that Docent serves itself kept as paths, to outlive a change of PUBLIC_URL; their
origins; and network addresses."""

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit


def absolute(url: str, base: str) -> str:
    """Where a visitor opens a page: `url` itself, or below `base`, which has no slash at its end."""
    return f"{base}{url}" if url.startswith("/") else url


def stored(url: str, base: str) -> str:
    """Return what `absolute` made, as it is stored."""
    return url.removeprefix(base) if url.startswith(f"{base}/sources/") else url


def without_user(url: str) -> str:
    """Return a URL as it may be shown: without the user name and password that it may have."""
    scheme, mark, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}"


@lru_cache(maxsize=4096)
def origin_of(address: str) -> str:
    """scheme://host[:port] as browsers write it: lower case, no default port; for what is no address, some
    text that no origin equals."""
    try:
        parts = urlsplit(address)
        number = parts.port
    except ValueError:  # a port that is no number, a broken IPv6 address
        return address
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = f":{number}" if number and number != default else ""
    return f"{parts.scheme}://{host}{port}"


def network_of(address: str) -> str:
    """A network address as limits count it: of IPv6 the network, because one household has 2^64 addresses."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, 64), strict=False))
    return address
