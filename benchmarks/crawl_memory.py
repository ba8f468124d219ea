"""Memory and time of a crawl of a big site, with and without a journal.

    python -m benchmarks.crawl_memory [--pages 10000 100000] [--processes N]

The site is made up while it is served, on loopback, by a process of its own: page n links to the ten pages
10n+1 to 10n+10 and has a menu, a footer and six paragraphs of words of its own. The crawl runs in a process
of its own too, whose consumer drops every page, as an indexer does that has stored it. Printed are the
highest resident memory of that process and of the largest of its helpers, and the seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

SITE = """
import asyncio, random, sys

PAGES = int(sys.argv[1])
PARAGRAPHS = int((sys.argv + ["6"])[2])
DRAWN = random.Random(1)
# Different words, so that no two pages have one address.
WORDS = list(dict.fromkeys("".join(DRAWN.choices("bdfgklmnprstv", k=3) + DRAWN.choices("aeiou", k=3))
                           for _ in range(5200)))[:5000]

def page(n):
    chance = random.Random(n)
    children = range(10 * n + 1, min(10 * n + 11, PAGES))
    links = "".join(f'<li><a href="{address(m)}">{WORDS[m % 5000]} {m}</a></li>' for m in children)
    text = "".join(f"<p>{' '.join(chance.choices(WORDS, k=60))}.</p>" for _ in range(PARAGRAPHS))
    menu = "".join(f'<li><a href="{address(m)}">{WORDS[m]}</a></li>' for m in range(min(PAGES, 10)))
    return (f"<!DOCTYPE html><html lang=en><head><title>{WORDS[n % 5000]} {n}</title></head><body>"
            f"<nav><ul>{menu}</ul></nav><main><h1>{WORDS[n % 5000]} {n}</h1>{text}<ul>{links}</ul></main>"
            f"<footer><p>All words are made up.</p></footer></body></html>").encode()

def address(n):
    return f"/{WORDS[n % 5000]}-{WORDS[n // 5000]}-{WORDS[n * 7 % 5000]}/" if n else "/"

NUMBERS = {address(n): n for n in range(PAGES)}

class Site(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.received = transport, b""
    def data_received(self, data):
        self.received += data
        while b"\\r\\n\\r\\n" in self.received:
            head, _, self.received = self.received.partition(b"\\r\\n\\r\\n")
            number = NUMBERS.get(head.split(b" ", 2)[1].decode())
            body, status, tag = b"", b"404 Not Found", b'"%d"' % (number or 0)
            if number is not None and b"If-None-Match: " + tag in head:
                status = b"304 Not Modified"
            elif number is not None:
                body, status = page(number), b"200 OK"
            head = (b"HTTP/1.1 %s", b"Content-Type: text/html", b"ETag: %s", b"Content-Length: %d", b"", b"")
            self.transport.write(b"\\r\\n".join(head) % (status, tag, len(body)) + body)

async def main():
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

_CRAWL = """
import json, multiprocessing, resource, sys, tempfile, time
from contextlib import closing
from pathlib import Path
from crawler.crawl import crawl
from crawler.journal import FileJournal
from crawler.options import CrawlOptions

def main(url, pages, processes, keeps_journal):
    options = CrawlOptions(start_urls=(url,), allow_private=True, max_pages=pages, max_urls=2 * pages + 100,
                           processes=processes, concurrency=8)
    began, read, others = time.perf_counter(), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        journal = FileJournal(Path(folder) / "journal") if keeps_journal else None
        ended = []
        with closing(crawl(options, journal=journal)) as outcomes:
            for outcome in outcomes:
                read += outcome.page is not None
                if outcome.page is None:
                    others[outcome.state.value] = others.get(outcome.state.value, 0) + 1
                ended.append(outcome.url)
                if journal is not None and len(ended) >= 50:
                    journal.settle(ended)
                    ended.clear()
    seconds = time.perf_counter() - began
    while multiprocessing.active_children():  # the memory of helpers counts when they have ended
        time.sleep(0.1)
    most = {who: resource.getrusage(number).ru_maxrss / 1024
            for who, number in (("own", resource.RUSAGE_SELF), ("helper", resource.RUSAGE_CHILDREN))}
    print(json.dumps({"pages": read, "others": others, "seconds": seconds, **most}))

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "journal")
"""


def main() -> None:
    """Runs each size twice and prints a line for each run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument(
        "--processes", type=int, default=-1, help="that read pages; -1 as many as fit (default)"
    )
    args = parser.parse_args()
    for pages in args.pages:
        for journal in ("none", "journal"):
            found = _run(pages, args.processes, journal)
            print(
                f"{found['pages']:,} pages, journal: {'yes' if journal == 'journal' else 'no'}: "
                f"{found['own']:.0f} MB at most, largest helper {found['helper']:.0f} MB, "
                f"{found['seconds']:.0f} s, {found['pages'] / found['seconds']:.0f} pages/s, "
                f"other ends: {found['others'] or 'none'}",
                flush=True,
            )


def _run(pages: int, processes: int, journal: str) -> dict[str, Any]:
    with serving(SITE, str(pages)) as url:
        return printed_by(sys.executable, _CRAWL, url, str(pages), str(processes), journal)


@contextmanager
def serving(code: str, *arguments: str) -> Iterator[str]:
    """The address of a server in a process of its own, whose code prints its port on 127.0.0.1."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        finally:
            server.terminate()


def printed_by(python: str, code: str, *arguments: str) -> dict[str, Any]:
    """Return the JSON object in the last line that this code prints in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "measured.py"
        script.write_text(code, "utf-8")
        done = subprocess.run(
            [python, str(script), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    main()
