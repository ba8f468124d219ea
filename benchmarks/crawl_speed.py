"""Pages per second of crawl and extraction, against Scrapy with the same extraction.

    python -m benchmarks.crawl_speed /usr/share/doc/python3-doc/html [--scrapy PYTHON]

Serves the folder on loopback in a process of its own and crawls all of it, several times in turn:
Docent with reading in its threads, Docent with two reading processes, and Scrapy whose callback calls
the same extractor on the same bytes. `--scrapy` names a Python that has Scrapy and this
repository's requirements; without it that part is left out. Also times Beautiful Soup's tree
against lxml's on the same pages, which is why the extractor walks lxml's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

_SERVER = """
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
"""

_DOCENT = """
import json, sys, time
from crawler.crawl import crawl
from crawler.options import CrawlOptions
if __name__ == "__main__":
    began = time.perf_counter()
    limits = {"allow_private": True, "max_pages": 100_000, "processes": int(sys.argv[2])}
    options = CrawlOptions(start_urls=(sys.argv[1],), **limits)
    read = sum(outcome.status == 200 for outcome in crawl(options))
    print(json.dumps({"pages": read, "seconds": time.perf_counter() - began}))
"""

_SCRAPY = """
import json, sys, time
import scrapy
from scrapy.crawler import CrawlerProcess
from crawler.extractors import Source, extract

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1]]
    allowed_domains = ["127.0.0.1"]
    read = 0

    def parse(self, response):
        if not response.headers.get("Content-Type", b"").startswith(b"text/html"):
            return
        found = extract(Source(response.url, response.body))
        Pages.read += 1
        for url in found.follow:
            if url.endswith((".html", "/")):
                yield scrapy.Request(url)

process = CrawlerProcess({
    "LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Pages)
began = time.perf_counter()
process.start()
print(json.dumps({"pages": Pages.read, "seconds": time.perf_counter() - began}))
"""


def main() -> None:
    """Runs all contestants in turn and prints the median of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scrapy", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    contestants = {
        "Docent, reading in threads": [sys.executable, _DOCENT, "0"],
        "Docent, two reading processes": [sys.executable, _DOCENT, "2"],
    }
    if args.scrapy:
        contestants["Scrapy, same extraction"] = [args.scrapy, _SCRAPY, ""]
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(args.folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        for number in range(args.rounds):
            for name, (python, code, extra) in contestants.items():
                result = _run(python, code, url, extra)
                rates[name].append(result["pages"] / result["seconds"])
                print(f"round {number + 1}: {name}: {result['pages']:.0f} pages in {result['seconds']:.1f} s")
    finally:
        server.terminate()
        server.wait()
    for name, found in rates.items():
        print(f"{name}: {statistics.median(found):.1f} pages/s")
    _compare_parsers(args.folder)


def _run(python: str, code: str, *arguments: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "contestant.py"
        script.write_text(code, "utf-8")
        done = subprocess.run(
            [python, str(script), *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _compare_parsers(folder: Path) -> None:
    from bs4 import BeautifulSoup
    from lxml import etree

    bodies = [path.read_bytes() for path in sorted(folder.rglob("*.html"))[::12]]
    for name, parse in (
        ("Beautiful Soup on lxml", lambda body: BeautifulSoup(body, "lxml")),
        ("lxml alone", lambda body: etree.fromstring(body, etree.HTMLParser(encoding="utf-8"))),
    ):
        began = time.process_time()
        for body in bodies:
            parse(body)
        print(f"{name}: {(time.process_time() - began) / len(bodies) * 1000:.1f} ms of processor time a page")


if __name__ == "__main__":
    main()
