"""A proxy between a browser and the server that cuts one answer in the middle of its stream."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

EVENT = b"event: delta"
READ = 0.5
"""Seconds for the browser to read what came before the cut: a reset drops what it has not read yet, and
without the first event there is nothing to go on from."""
NOTHING_KEPT = struct.pack("ii", 1, 0)
"""Closes a socket at once: the other side sees a connection that was reset."""


class CuttingProxy:
    """Passes bytes on in both directions. The next answer in which `cut_in` words have begun is cut there."""

    def __init__(self, port: int) -> None:
        self._upstream = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut_in = 0
        self.cuts = 0
        self.heads: list[str] = []
        """First lines and headers of the requests."""
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def asked(self) -> list[str]:
        """For each request for an answer the event after which it goes on, empty for the first one."""
        with self._lock:
            heads = [head for head in self.heads if head.startswith("POST /api/v1/chat ")]
        last = (re.search(r"^last-event-id: *(\S+)", head, re.I | re.M) for head in heads)
        return [found[1] if found else "" for found in last]

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
                for way in (self._up, self._down):
                    threading.Thread(target=way, args=(client, server), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while piece := client.recv(65536):
                if re.match(rb"(GET|POST|DELETE|OPTIONS) ", piece):
                    with self._lock:
                        self.heads.append(piece.partition(b"\r\n\r\n")[0].decode("latin-1"))
                server.sendall(piece)
        self._end(server)

    def _down(self, client: socket.socket, server: socket.socket) -> None:
        begun = 0
        tail = b""
        with suppress(OSError):
            while piece := server.recv(65536):
                places = [found.end() - len(tail) for found in re.finditer(EVENT, tail + piece)]
                tail = (tail + piece)[1 - len(EVENT) :]
                if self.cut_in and begun + len(places) >= self.cut_in:
                    client.sendall(piece[: places[self.cut_in - begun - 1]])
                    self.cut_in = 0
                    self.cuts += 1
                    time.sleep(READ)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOTHING_KEPT)
                    break
                begun += len(places)
                client.sendall(piece)
        self._end(client)
        self._end(server)

    @staticmethod
    def _end(end: socket.socket) -> None:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def cutting_proxy(port: int) -> Iterator[CuttingProxy]:
    """A proxy in front of a port of this machine."""
    proxy = CuttingProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
