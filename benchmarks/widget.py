"""What the widget costs a visitor: bytes, requests, layout shift, blocked time, frames of a streamed answer.

    python -m benchmarks.widget --pages FOLDER --page FILE [--rounds 7] [--slower 4]

FOLDER holds a real site's HTML files. The page is loaded by turns without and with the widget, cold and with
the processor slowed down; the figures of both come from the same run. A blocked time is the sum of what each
task takes beyond 50 ms. Frames are those while an answer of 200 pieces streams, into a new conversation and
into one of 500 messages. Bars (issue and design): 4,096 and 20,480 bytes gzipped, layout shift 0.
"""

from __future__ import annotations

import gzip
import json
import mimetypes
import re
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import brotli
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.command_line import argument_parser
from server.api.assets.widget_files import WidgetFiles
from tests.conftest import CHROMIUM_FLAGS
from tests.widget.service import FILES, Handler, Server, answer, event

TAG = b'<script src="/widget/embed.js" data-site="harbour" async></script>'
SENTENCE = "Boats come and go with the tide, and **each berth** has a number [1] that stands on the quay."
QUIET_MS = 2500
"""How long after its load event a page is watched."""
WATCH = """() => {
  window.seen = { shift: 0, blocked: 0, longest: 0 };
  const watch = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take))
    .observe({ type, buffered: true });
  watch("layout-shift", ({ value }) => (seen.shift += value));
  watch("longtask", ({ duration }) => {
    seen.blocked += duration - 50;
    seen.longest = Math.max(seen.longest, duration);
  });
}"""
FRAMES = """async () => {
  const answered = new Promise((resolve) => addEventListener("sitechat:message", resolve, { once: true }));
  window.frames_ms = [];
  let last = performance.now();
  const next = (now) => {
    frames_ms.push(now - last);
    last = now;
    window.measuring && requestAnimationFrame(next);
  };
  window.measuring = true;
  requestAnimationFrame(next);
  // Not watched from outside: looking for an element among 500 messages would be what takes the time.
  document.querySelector("site-chat").ask("And how do boats find their berth?");
  await answered;
  measuring = false;
  return frames_ms.slice(1);
}"""
DRAWN = """() => [...document.querySelector("site-chat").shadowRoot.querySelectorAll("article")]
  .every((one) => one.textContent.trim())"""
SEED = """(count) => {
  const key = "site-chat:harbour:talks", [talk] = JSON.parse(localStorage[key]);
  const pair = talk.messages.slice(-2);
  const make = (_, at) => ({ ...pair[at % 2], ...(at % 2 && { id: `old${at}` }) });
  talk.messages = Array.from({ length: count }, make);
  localStorage[key] = JSON.stringify([talk]);
}"""


class PageHandler(Handler):
    """The folder's files are below /plain/ as they are, and below /widget-page/ with the embed tag."""

    server: PageServer

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        kind, _, name = path.removeprefix("/").partition("/")
        if kind not in ("plain", "widget-page"):
            return super().do_GET()
        file = (self.server.folder / name).resolve()
        if not file.is_file() or self.server.folder not in file.parents:
            return self.reply(404)
        body = file.read_bytes()
        if kind == "widget-page":
            body = re.sub(rb"</head>", TAG + b"</head>", body, count=1, flags=re.I)
        return self.reply(200, body, mimetypes.guess_type(file.name)[0] or "text/html")

    def widget_file(self, path: str) -> None:
        asset = FILES.current().files.get(re.sub(r"^/widget/(v/[^/]+/)?", "", path))
        if asset is None:
            return self.reply(404)
        body = self.server.compressed.setdefault(asset.digest, brotli.compress(asset.body, quality=11))
        return self.reply(200, body, asset.mimetype, Content_Encoding="br")

    def stream(self, message: str, seen: int, fault: str, argument: int) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        whole = answer(int(message[1:]), "c1")
        frames = [("meta", {"conversation_id": "c1", "message_id": message})]
        words = SENTENCE.split()
        for number in range(self.server.pieces):
            end = "\n\n" if number % 40 == 39 else " "
            frames.append(("delta", {"text": words[number % len(words)] + end}))
        for number, (name, data) in enumerate([*frames, ("done", whole)], 1):
            self.wfile.write(event(name, data, number, message))
            time.sleep(self.server.pause_s)


class PageServer(Server):
    """Serves the widget and a folder of pages."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.RequestHandlerClass = PageHandler
        self.folder = folder.resolve()
        self.compressed: dict[str, bytes] = {}
        self.pieces = 8
        self.pause_s = 0.0


@contextmanager
def page_server(folder: Path) -> Iterator[PageServer]:
    """A server of the folder's pages on a free port."""
    server = PageServer(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sizes() -> dict[str, dict[str, int]]:
    """Bytes by file: of the loader, of the module, of what it imports later, and of the largest language."""
    files = WidgetFiles().current().files
    later = re.findall(r'\bimport\("\./([\w/.-]+)"\)', files["src/site-chat.js"].body.decode())
    texts = [name for name in files if name.startswith("src/texts/")]
    names = ["embed.js", "src/site-chat.js", *(f"src/{name}" for name in later)]
    names.append(max(texts, key=lambda name: len(gzip.compress(files[name].body, 9))))
    found = {}
    for name in names:
        body = files[name].body
        found[name] = {
            "plain": len(body),
            "gzip": len(gzip.compress(body, 9, mtime=0)),
            "brotli": len(brotli.compress(body, quality=11)),
        }
    found["together"] = {
        kind: sum(row[kind] for row in found.values()) for kind in ("plain", "gzip", "brotli")
    }
    return found


class Visit:
    """A page in a browser that has been nowhere yet."""

    def __init__(self, browser: Browser, address: str, slower: float) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
        self.page: Page = self.context.new_page()
        self.session = self.context.new_cdp_session(self.page)
        self.wire = {"requests": 0, "bytes": 0}
        self.session.send("Network.enable")
        self.session.on("Network.responseReceived", self._count)
        self.session.on("Network.loadingFinished", self._weigh)
        # In what the processor spends, which other programs disturb less than the time on the clock.
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        self.page.goto(address, wait_until="load")
        self.page.evaluate(WATCH)

    def _count(self, event: dict[str, object]) -> None:
        self.wire["requests"] += 1

    def _weigh(self, event: dict[str, float]) -> None:
        self.wire["bytes"] += int(event["encodedDataLength"])

    def seen(self) -> dict[str, float]:
        metrics = {
            row["name"]: row["value"] for row in self.session.send("Performance.getMetrics")["metrics"]
        }
        busy = {"main_thread_ms": metrics["TaskDuration"] * 1000}
        return {name: round(value, 4) for name, value in {**self.page.evaluate("seen"), **busy}.items()}


def loaded(browser: Browser, address: str, slower: float) -> dict[str, float]:
    """What one load of a page costs."""
    visit = Visit(browser, address, slower)
    visit.page.wait_for_timeout(QUIET_MS)
    found = {**visit.seen(), **visit.wire}
    visit.context.close()
    return found


def opened(browser: Browser, address: str, slower: float) -> dict[str, object]:
    """What opening the panel and closing it adds to a page that has come to rest."""
    visit = Visit(browser, address, slower)
    visit.page.wait_for_timeout(QUIET_MS)
    before, wire = visit.seen(), dict(visit.wire)
    visit.page.locator("[part~=launcher]").click()
    expect(visit.page.get_by_role("button", name="How do I get a berth?")).to_be_visible()
    visit.page.wait_for_timeout(500)
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_timeout(300)
    after = visit.seen()
    added = {name: visit.wire[name] - wire[name] for name in wire}
    found = {
        "before": wire,
        "added": added,
        "shift": after["shift"],
        "blocked_ms": after["blocked"] - before["blocked"],
        "main_thread_ms": round(after["main_thread_ms"] - before["main_thread_ms"]),
    }
    visit.context.close()
    return found


def frames(browser: Browser, server: PageServer, address: str, slower: float, messages: int) -> list[float]:
    """Milliseconds between frames while an answer streams into a conversation of so many messages."""
    server.pieces, server.pause_s = 8, 0
    visit = Visit(browser, address, 1)
    page = visit.page
    page.set_default_timeout(60_000)
    ask(page, "When do the docks open?", 1)
    if messages:
        page.goto(address.replace("/widget-page/", "/plain/"))
        page.evaluate(SEED, messages)
        page.goto(address)
        page.locator("site-chat article").nth(messages - 1).wait_for(state="attached")
    else:
        page.get_by_role("button", name="New chat").click()
    if not page.get_by_role("textbox", name="Ask a question").is_visible():
        page.locator("[part~=launcher]").click()
    page.wait_for_function(DRAWN)  # older messages are drawn when there is time
    page.wait_for_timeout(1000)
    server.pieces, server.pause_s = 200, 0.02
    visit.session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    found: list[float] = page.evaluate(FRAMES)
    visit.context.close()
    return found


def ask(page: Page, question: str, answers: int) -> None:
    box = page.get_by_role("textbox", name="Ask a question")
    if not box.is_visible():
        page.locator("[part~=launcher]").click()
    box.fill(question)
    box.press("Enter")
    expect(page.get_by_role("button", name="Helpful", exact=True)).to_have_count(answers, timeout=60_000)


def shares(found: list[float]) -> dict[str, float]:
    """The distribution of frame times, and how many took more than 50 ms."""
    ordered = sorted(found)
    at = {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 1) for p in (50, 95, 99)}
    return {
        **at,
        "max": round(ordered[-1], 1),
        "frames": len(ordered),
        "over_50_ms": sum(ms > 50 for ms in ordered),
    }


def median(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(row[name] for row in rows), 4) for name in rows[0]}


def by_turns(
    rounds: int, ways: dict[str, Callable[[], dict[str, float]]]
) -> dict[str, list[dict[str, float]]]:
    """Each way once a round, so that what else the machine does meets all of them."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, measure in ways.items():
            found[name].append(measure())
    return found


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--page", default="index.html")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slower", type=float, default=4)
    given = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    for name, row in sizes().items():
        print(json.dumps({"file": name, **row}))
    with page_server(given.pages) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        plain, with_widget = (f"{server.home}/{kind}/{given.page}" for kind in ("plain", "widget-page"))
        ways = {
            "without": lambda: loaded(browser, plain, given.slower),
            "with": lambda: loaded(browser, with_widget, given.slower),
        }
        rows = by_turns(given.rounds, ways)
        for name, found in rows.items():
            blocked = sorted(round(row["blocked"]) for row in found)
            print(json.dumps({"page": name, "median": median(found), "blocked_ms": blocked}))
        with_it, without = median(rows["with"]), median(rows["without"])
        ratios = {
            name: round(with_it[name] / max(1, without[name]), 3) for name in ("blocked", "main_thread_ms")
        }
        print(json.dumps({"ratios": ratios}))
        print(json.dumps({"opening": opened(browser, with_widget, given.slower)}))
        for _ in range(2):
            for messages in (0, 500):
                measured = shares(frames(browser, server, with_widget, given.slower, messages))
                print(json.dumps({"streaming_into": messages, "frame_ms": measured}))
        browser.close()


if __name__ == "__main__":
    main()
