"""Pages per second of crawl and extraction, against Scrapy and against a crawler like rag-gpt's.

    python -m benchmarks.crawl_speed /usr/share/doc/python3-doc/html [--others PYTHON] [--rounds N]

`--others` names a Python for the other two, made with

    python -m venv others
    others/bin/pip install -r requirements.txt scrapy==2.19.0 aiohttp==3.14.5 html2text==2025.4.15

Serves the folder on loopback in a process of its own and crawls all of it, several times in turn:

- Docent as it is by default (on a crawl of this size, reading in helper processes too), and Docent reading
  in its threads only, which is one process, as Scrapy is;
- Scrapy, whose callback calls the same extractor on the same bytes, with as many requests at once;
- the way of rag-gpt, written anew from a description of what it does: first the links, one page after the
  other, depth first; then each page again, five at a time in batches of ten, by aiohttp; Beautiful Soup with
  html.parser; the body's text without menus, as Markdown. Only that is timed, not its splitting and storing.

Also times Beautiful Soup's tree against lxml's on the same pages, which is why the extractor walks lxml's.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.crawl_memory import printed_by, serving

DOCENT = "Docent"
SCRAPY = "Scrapy, same extraction, one process"
RAG_GPT = "the way of rag-gpt, one process"

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
    limits = {"allow_private": True, "max_pages": 100_000, "max_urls": 200_000, "processes": int(sys.argv[2]),
              "concurrency": 8}
    options = CrawlOptions(start_urls=(sys.argv[1],), **limits)
    read = sum(outcome.status == 200 for outcome in crawl(options))
    print(json.dumps({"pages": read, "seconds": time.perf_counter() - began}))
"""

_SCRAPY = """
import json, sys, time
import scrapy
from scrapy.crawler import CrawlerProcess
from crawler.extractors import SourceDocument, extract

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [sys.argv[1]]
    allowed_domains = ["127.0.0.1"]
    read = 0

    def parse(self, response):
        if not response.headers.get("Content-Type", b"").startswith(b"text/html"):
            return
        found = extract(SourceDocument(response.url, response.body))
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

_RAG_GPT_LIKE = """
import asyncio, json, sys, time
from urllib.parse import urldefrag, urljoin, urlsplit
import aiohttp, html2text
from bs4 import BeautifulSoup

async def fetched(session, url):
    async with session.get(url) as response:
        if response.status != 200 or not response.content_type.startswith("text/html"):
            return ""
        return await response.text()

async def discovered(session, start):
    host, waiting, found, html_pages = urlsplit(start).netloc, [start], {start.rstrip("/")}, []
    while waiting:
        url = waiting.pop()
        html = await fetched(session, url)
        if not html:
            continue
        html_pages.append(url)
        for anchor in BeautifulSoup(html, "html.parser").find_all("a", href=True):
            link = urldefrag(urljoin(url, anchor["href"]))[0]
            if urlsplit(link).netloc == host and link.rstrip("/") not in found:
                found.add(link.rstrip("/"))
                waiting.append(link)
    return html_pages

async def read(session, url, turns):
    async with turns:
        soup = BeautifulSoup(await fetched(session, url), "html.parser")
    for element in soup.find_all(["nav", "footer", "aside", "script", "style"]):
        element.decompose()
    writer = html2text.HTML2Text()
    writer.body_width = 0
    return writer.handle(str(soup.body or soup))

async def main(start):
    read_pages, turns = 0, asyncio.Semaphore(5)
    async with aiohttp.ClientSession() as session:
        urls = await discovered(session, start)
        for first in range(0, len(urls), 10):
            texts = await asyncio.gather(*(read(session, url, turns) for url in urls[first : first + 10]))
            read_pages += sum(1 for text in texts if text)
    return read_pages

began = time.perf_counter()
pages = asyncio.run(main(sys.argv[1]))
print(json.dumps({"pages": pages, "seconds": time.perf_counter() - began}))
"""


def main() -> None:
    """Runs all contestants in turn and prints the median of each, and the ratios to the others'."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--others", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    pages = sorted(args.folder.rglob("*.html"))
    if not pages:
        parser.error(f"{args.folder} has no .html file")
    contestants = {
        DOCENT: [sys.executable, _DOCENT, "-1"],
        "Docent, one process": [sys.executable, _DOCENT, "0"],
    }
    if args.others:
        contestants[SCRAPY] = [args.others, _SCRAPY, ""]
        contestants[RAG_GPT] = [args.others, _RAG_GPT_LIKE, ""]
    medians = {name: statistics.median(rates) for name, rates in _raced(args, contestants).items()}
    for name, rate in medians.items():
        print(f"{name}: {rate:.1f} pages/s")
    for other in (SCRAPY, RAG_GPT):
        if other in medians:
            for own in (DOCENT, "Docent, one process"):
                print(f"{own} / {other}: {medians[own] / medians[other]:.2f}")
    _compare_parsers(pages[::12])


def _raced(args: argparse.Namespace, contestants: dict[str, list[str]]) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    with serving(_SERVER, str(args.folder)) as url:
        for number in range(args.rounds):
            for name, (python, code, extra) in contestants.items():
                result = printed_by(python, code, url, extra)
                rates[name].append(result["pages"] / result["seconds"])
                rate = f"{result['pages']:.0f} pages in {result['seconds']:.1f} s"
                print(f"round {number + 1}: {name}: {rate}", flush=True)
    return rates


def _compare_parsers(pages: Sequence[Path]) -> None:
    from bs4 import BeautifulSoup
    from lxml import etree

    bodies = [path.read_bytes() for path in pages]
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
