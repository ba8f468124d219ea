"""Addresses and origins as an operator types them."""

import ipaddress
import re
import socket
from urllib.parse import SplitResult, urlsplit, urlunsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
PRIVATE_NAMES = ("localhost", "local", "internal", "home.arpa")


class BadAddress(ValueError):
    """One sentence that says what is wrong and what to write instead."""


def parse_address(text: str) -> str:
    """The address of a site, complete: `example.com` becomes `https://example.com/`. Raises BadAddress."""
    text = text.strip()
    if not re.match(r"^[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        text = f"https://{text}"
    parts = _split(text)
    if parts.username or parts.password:
        raise BadAddress("Leave out the user name and password: Docent reads what every visitor can read.")
    return urlunsplit((parts.scheme, _netloc(parts), parts.path or "/", parts.query, ""))


def parse_origin(text: str) -> str:
    """An origin without path and default port: `https://Example.com:443/` becomes `https://example.com`."""
    text = text.strip()
    if "://" not in text:
        raise BadAddress(f"{text!r} needs http:// or https:// in front, such as https://{text}.")
    parts = _split(text)
    if parts.username or parts.password or parts.path not in ("", "/") or parts.query or parts.fragment:
        origin = f"{parts.scheme}://{_netloc(parts)}"
        raise BadAddress(f"{text!r} is more than an origin; write {origin}.")
    return f"{parts.scheme}://{_netloc(parts)}"


def is_private(address: str) -> bool:
    """Whether the host, as written, is this machine or a private network. Asks no name server."""
    host = (urlsplit(address).hostname or "").rstrip(".")
    if any(host == name or host.endswith(f".{name}") for name in PRIVATE_NAMES):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        pass
    try:
        # Short and hexadecimal forms, such as 127.1, that sockets understand too.
        return not ipaddress.ip_address(socket.inet_aton(host)).is_global
    except (OSError, UnicodeEncodeError):
        return False


def suggest_id(address: str, taken: set[str]) -> str:
    """A short readable id for the site at this address that is not taken yet."""
    parts = urlsplit(address)
    host = (parts.hostname or "").removeprefix("www.").encode("idna").decode()
    return free_id(f"{host}-{parts.port or ''}", taken)


def free_id(words: str, taken: set[str]) -> str:
    """A readable id made of `words` that is not taken yet."""
    base = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:50].rstrip("-") or "site"
    number, chosen = 1, base
    while chosen in taken:
        number += 1
        chosen = f"{base}-{number}"
    return chosen


def _split(text: str) -> SplitResult:
    if len(text) > 2000 or re.search(r"[\s\\<>\"{}|^`\x00-\x1f]", text):
        raise BadAddress("Write one address without spaces, such as https://example.com/.")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise BadAddress(
            "Write an address such as https://example.com/ or https://example.com:8443/."
        ) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise BadAddress(f"Write an address that starts with http:// or https://, not {parts.scheme}://.")
    if not _is_host(parts.hostname or ""):
        raise BadAddress("Write the host too, such as https://example.com/.")
    return parts


def _is_host(host: str) -> bool:
    if ":" in host:
        return True  # urlsplit has checked that it is an IPv6 address
    try:
        labels = host.encode("idna").decode().rstrip(".").split(".")
    except UnicodeError:
        return False
    return all(re.fullmatch(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?", label, re.IGNORECASE) for label in labels)


def _netloc(parts: SplitResult) -> str:
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{parts.port}"
