"""Many visitors on one machine: an asyncio client that costs the server's cores as little as it can."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Asked:
    """One question as its visitor saw it."""

    started: float
    first_byte: float
    ended: float
    status: int
    text: str

    @property
    def seconds(self) -> float:
        return self.ended - self.started


class Connection:
    """HTTP/1.1 with keep-alive, and no more of it than a benchmark needs."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, body: dict, token: str = "") -> Asked:
        """Posts and reads the whole answer."""
        started = time.perf_counter()
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        content = json.dumps(body).encode()
        head = [
            f"POST {path} HTTP/1.1",
            f"Host: {self._host}:{self._port}",
            "Content-Type: application/json",
            f"Content-Length: {len(content)}",
        ]
        if token:
            head.append(f"Authorization: Bearer {token}")
        self._writer.write("\r\n".join([*head, "", ""]).encode() + content)
        await self._writer.drain()
        status, headers = await self._head()
        text, first_byte = await self._body(headers)
        ended = time.perf_counter()
        if headers.get("connection") == "close":
            self.close()
        return Asked(started, first_byte, ended, status, text.decode())

    def close(self) -> None:
        if self._writer:
            self._writer.close()
        self._writer = None

    async def _head(self) -> tuple[int, dict[str, str]]:
        raw = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = raw.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers

    async def _body(self, headers: dict[str, str]) -> tuple[bytes, float]:
        if "content-length" in headers:
            body = await self._reader.readexactly(int(headers["content-length"]))
            return body, time.perf_counter()
        parts, first_byte = [], 0.0
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
            first_byte = first_byte or time.perf_counter()
        await self._reader.readexactly(2)
        return b"".join(parts), first_byte


async def tokens(address: str, site: str, number: int) -> list[str]:
    """A token for each of `number` visitors."""
    connection = Connection(address)
    found = []
    for _ in range(number):
        answer = await connection.ask("/api/v1/visitors", {"site": site})
        found.append(json.loads(answer.text)["token"])
    connection.close()
    return found


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
