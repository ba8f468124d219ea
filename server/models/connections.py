"""Connections to model providers, which go to checked addresses only."""

import atexit
import re
from collections.abc import Iterable
from typing import Any

import httpcore2
import httpx2

from crawler.errors import FetchError, Refused
from crawler.fetching.addresses import AddressGuard
from server.tracing import carried

ADVICE = "an owner can add it to the private hosts under Settings"
_DETAIL_CHARACTERS = 200


def one_line(text: object) -> str:
    """Return the beginning of a provider's message, without the part of the key that some repeat in it."""
    line = " ".join(str(text).split()) or type(text).__name__
    line = re.sub(r"\bsk-[\w*-]+", "sk-…", line)
    return line if len(line) <= _DETAIL_CHARACTERS else line[:_DETAIL_CHARACTERS] + "…"


def sendable(text: str) -> str:
    """Replace half surrogate pairs, which are not valid UTF-8, and empty texts, which providers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8").strip() or "-"


def guarded(client: httpx2.Client, guard: AddressGuard) -> httpx2.Client:
    """Let `client` connect to nothing but addresses that `guard` permits, and return it. Its requests carry
    the ids of the request and the span that they are made for. It is closed when the process ends.

    Where the environment names a proxy, the proxy connects; what it is asked for is checked first.
    """
    transport: Any = client._transport  # the library takes no other resolver
    transport._pool._network_backend = _Backend(guard)
    hooks: list[Any] = [lambda request: request.headers.update(carried())]
    if any(client._mounts.values()):
        hooks.append(lambda request: _check(guard, str(request.url)))
    client.event_hooks = {"request": hooks}
    atexit.register(client.close)
    return client


class _Backend(httpcore2.SyncBackend):
    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first permitted address that answers."""
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in _permitted(self._guard, host, port):
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


def _permitted(guard: AddressGuard, host: str, port: int) -> list[str]:
    try:
        return guard.addresses(host, port)
    except Refused as error:
        raise httpx2.ConnectError(f"{error}; {ADVICE}" if error.can_be_allowed else str(error)) from error
    except FetchError as error:
        raise httpx2.ConnectError(str(error)) from error


def _check(guard: AddressGuard, url: str) -> None:
    address = httpx2.URL(url)
    try:
        guard.check(url)
    except Refused:
        _permitted(guard, address.host, address.port or (443 if address.scheme == "https" else 80))
    except FetchError:
        return  # the proxy may know the name
