"""Clients that hold connections open: they send or read a few bytes a second, and come back when closed.

python -m tests.api.slow_clients --port 8000 --kind bodies --count 1000 --seconds 30

Prints how long each probe of /readyz took meanwhile, as one JSON object.
"""

import argparse
import json
import multiprocessing
import socket
import time
import urllib.error
import urllib.request
from contextlib import suppress

POST = "POST /api/v1/visitors HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
READ = b"GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n\r\n"
KINDS = {
    "silent": (b"", b""),
    "headers": (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-A: b\r\n"),
    "bodies": (f'{POST}Content-Length: 60000\r\n\r\n{{"site": "'.encode(), b"x"),
    "large bodies": (f'{POST}Content-Length: 9000000\r\n\r\n{{"site": "'.encode(), b"x"),
    "chunked bodies": (f"{POST}Transfer-Encoding: chunked\r\n\r\n".encode(), b"1\r\nx\r\n"),
    "asked to go on": (f"{POST}Expect: 100-continue\r\nContent-Length: 60000\r\n\r\n".encode(), b"x"),
    "reading": (READ * 3, None),
}
"""Kind -> what is sent at once, and what is sent each second; None reads a byte instead."""
PROBE_S = 0.25


class Held:
    """One connection. It reads nothing by itself: what the server sends is taken once a second, if at all."""

    def __init__(self, port, kind):
        self.first, self.more = KINDS[kind]
        self.client = socket.socket()
        if self.more is None:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        self.client.settimeout(0)
        self.client.connect_ex(("127.0.0.1", port))
        self.begun = False
        self.next_at = 0.0

    def step(self, now, ready):
        """Send or read a little when a second has passed. Raises OSError when the server has closed it."""
        if now < self.next_at:
            return
        try:
            if not self.begun:
                self.client.sendall(self.first)
                self.begun = True
                ready.value += 1
            elif self.more is None:
                self._take(1)
            else:
                self.client.sendall(self.more)
                self._take(4096)
        except BlockingIOError:
            pass  # not connected yet, or nothing to read
        self.next_at = now + 1

    def _take(self, size):
        if not self.client.recv(size):
            raise ConnectionResetError


def hold(port, kind, count, seconds, ready):
    """Keep `count` connections of this kind open."""
    held, end = [], time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        held += [Held(port, kind) for _ in range(count - len(held))]
        kept = []
        for one in held:
            try:
                one.step(now, ready)
                kept.append(one)
            except OSError:
                one.client.close()
        held = kept
        time.sleep(0.02)


def probe(address, timeout):
    """Seconds until /readyz answers, at most `timeout`."""
    began = time.monotonic()
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(address, timeout=timeout) as reply:
        reply.read()
        return time.monotonic() - began
    return float(timeout)


def measure(port, kind, count, seconds, *, path="/readyz", timeout=5.0):
    """Return the seconds of every probe while another process holds the connections."""
    ready = multiprocessing.Value("i", 0)
    attack = multiprocessing.Process(target=hold, args=(port, kind, count, seconds + 60, ready))
    attack.start()
    try:
        found, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            found.append(probe(f"http://127.0.0.1:{port}{path}", timeout))
            time.sleep(PROBE_S)
        assert ready.value >= count * 0.9, f"only {ready.value} connections were opened"
    finally:
        attack.kill()
        attack.join()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    times = sorted(measure(given.port, given.kind, given.count, given.seconds))
    figures = {"kind": given.kind, "probes": len(times), "median_s": round(times[len(times) // 2], 3)}
    print(json.dumps(figures | {"slowest_s": round(times[-1], 3), "over_1_s": sum(t > 1 for t in times)}))  # noqa: T201


if __name__ == "__main__":
    main()
