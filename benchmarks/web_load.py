"""Many visitors on one machine: an asyncio client that costs the server's cores as little as it can."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as its visitor saw it."""

    started: float
    first_byte: float
    ended: float
    status: int
    text: str
    first_words: float = 0.0
    """When the first words of a streamed answer came; 0 if none came."""

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
        return await self.send("POST", path, body, token)

    async def send(
        self,
        method: str,
        path: str,
        body: dict | None = None,
        token: str = "",
        last_event: str = "",
        hang_up: bool = False,
    ) -> Asked:
        """Sends a request and reads the whole answer, or with `hang_up` only the beginning of a stream."""
        started = time.perf_counter()
        is_new = self._writer is None
        if is_new:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        content = json.dumps(body).encode() if body is not None else b""
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self._host}:{self._port}",
            "Content-Type: application/json",
            f"Content-Length: {len(content)}",
        ]
        if token:
            head.append(f"Authorization: Bearer {token}")
        if last_event:
            head.append(f"Last-Event-ID: {last_event}")
        request = "\r\n".join([*head, "", ""]).encode() + content
        try:
            status, headers = await self._sent(request)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            if is_new or getattr(error, "partial", b""):
                raise
            # The server closes connections that were idle for long; browsers open a new one.
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
            status, headers = await self._sent(request)
        text, first_byte, first_words = await self._body(headers, hang_up)
        ended = time.perf_counter()
        if hang_up or headers.get("connection") == "close":
            self.close()
        return Asked(started, first_byte, ended, status, text.decode(errors="replace"), first_words)

    def close(self) -> None:
        if self._writer:
            self._writer.close()
        self._writer = None

    async def _sent(self, request: bytes) -> tuple[int, dict[str, str]]:
        """Sends a request and reads the head of its answer."""
        self._writer.write(request)
        await self._writer.drain()
        return await self._head()

    async def _head(self) -> tuple[int, dict[str, str]]:
        raw = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = raw.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers

    async def _body(self, headers: dict[str, str], hang_up: bool) -> tuple[bytes, float, float]:
        if "content-length" in headers:
            body = await self._reader.readexactly(int(headers["content-length"]))
            return body, time.perf_counter(), 0.0
        if headers.get("transfer-encoding") != "chunked":
            return b"", time.perf_counter(), 0.0
        parts, first_byte, first_words = [], 0.0, 0.0
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
            first_byte = first_byte or time.perf_counter()
            if not first_words and b"event: delta" in parts[-1]:
                first_words = time.perf_counter()
            if hang_up:
                return b"".join(parts), first_byte, first_words
        await self._reader.readexactly(2)
        return b"".join(parts), first_byte, first_words


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
