"""The whole path of a question over HTTP, keyless, on a real site: time, throughput, memory, code passed.

    python -m benchmarks.question_path [--pages FOLDER] [--questions 2200]

Serves the folder (by default the Apache manual of Debian's package apache2-doc where it is installed, else
docs/), crawls it, starts `python -m server run` on a free port, and asks distinct questions made
of the site's headings. No answer comes from the cache. The last rows count what a single question passes
through in one process, by `sys.setprofile`. The bars, on two quiet cores and a site of about 240 pages: 9 ms
with one client, 190 questions a second with 32, a p95 of 2 s for 500 visitors, 0.6 GiB, 250 functions.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from sqlalchemy import event
from sqlalchemy.engine import Engine

from benchmarks.chat import ask_all
from benchmarks.command_line import argument_parser
from benchmarks.processes import memory_mb
from benchmarks.web_load import Connection, percentile, tokens
from benchmarks.web_server import ROOT, crawl, running, server_values, website
from server.domain.protocols import EmbeddedText
from server.models.embedded import EmbeddedEmbedder
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings

SITE = "bench"
MANUAL = Path("/usr/share/doc/apache2-doc/manual/en")
WORDINGS = (
    *("What is {}?", "How does {} work?", "Where do I find {}?", "What should I know about {}?"),
    *("When do I need {}?", "Can you explain {}?", "Why is there {}?", "Is {} described here?"),
)
TRACED = 12
"""Questions whose functions and calls are counted."""


def headings(values: dict[str, str]) -> list[str]:
    """Distinct questions made of the headings of the crawled pages, in an order that is always the same."""
    runtime = open_runtime(load_settings(values))
    found = dict.fromkeys(
        (chunk.heading_path[-1] if chunk.heading_path else chunk.title).strip(" ?¶")
        for chunk in runtime.stores.content(SITE).every_chunk()
    )
    runtime.close()
    named = [heading for heading in found if 3 < len(heading) < 80]
    questions = [wording.format(heading) for wording in WORDINGS for heading in named]
    random.Random(1).shuffle(questions)
    return questions


async def crowd(address: str, site: str, questions: list[str], within_s: float) -> list[float]:
    """Return the seconds of each answer to visitors who arrive evenly over this time, in seconds."""
    known = await tokens(address, site, len(questions))

    async def visitor(place: int, token: str) -> float:
        await asyncio.sleep(within_s * place / len(questions))
        connection = Connection(address)
        answer = await connection.ask("/api/v1/chat", {"message": questions[place]}, token)
        connection.close()
        assert answer.status == 200, answer.text
        return answer.seconds

    return list(await asyncio.gather(*(visitor(place, token) for place, token in enumerate(known))))


def over_http(values: dict[str, str], questions: list[str]) -> list[tuple[str, str]]:
    left = iter(questions)

    def some(count: int) -> list[dict[str, str]]:
        return [{"message": next(left)} for _ in range(count)]

    with running(values) as (address, server):
        asyncio.run(ask_all(address, SITE, some(30), 1))
        alone = [answer.seconds for answer in asyncio.run(ask_all(address, SITE, some(100), 1))]
        # Of what is left after 130, at most 500 are the visitors', and a fifth of the rest warms up.
        crowded = min(500, (len(questions) - 130) // 2)
        warming = (len(questions) - 130 - crowded) // 5
        count = len(questions) - 130 - crowded - warming
        asyncio.run(ask_all(address, SITE, some(warming), 32))
        began = time.perf_counter()
        answers = asyncio.run(ask_all(address, SITE, some(count), 32))
        lasted = time.perf_counter() - began
        failed = sum(answer.status != 200 for answer in answers)
        visitors = [question["message"] for question in some(crowded)]
        waited = asyncio.run(crowd(address, SITE, visitors, 2.0))
        return [
            ("1 client, p50", f"{1000 * statistics.median(alone):.1f} ms"),
            ("32 clients", f"{count / lasted:.0f} questions/s, {failed} failed"),
            (f"{len(visitors)} visitors within 2 s, p50", f"{percentile(waited, 0.5):.2f} s"),
            (f"{len(visitors)} visitors within 2 s, p95", f"{percentile(waited, 0.95):.2f} s"),
            ("memory of all processes (PSS)", f"{memory_mb(server) / 1024:.2f} GiB"),
        ]


def in_process(values: dict[str, str], questions: list[str]) -> list[tuple[str, str]]:
    """What one question passes through between the API and its stored answer."""
    runtime = open_runtime(load_settings(values))
    site = runtime.stores.sites.get(SITE)
    statements, embedded = [0], [0]
    calls, functions = [0], set()
    embed = EmbeddedEmbedder._embed_one

    def count_embedding(self: EmbeddedEmbedder, text: str) -> EmbeddedText:
        embedded[0] += 1
        return embed(self, text)

    def count_statement(*_: object) -> None:
        statements[0] += 1

    def watch(frame: FrameType, kind: str, _: object) -> None:
        calls[0] += kind in ("call", "c_call")
        if kind == "call" and frame.f_code.co_filename.startswith(str(ROOT / "server")):
            functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    def ask(question: str) -> None:
        list(runtime.chat.ask(site, question, visitor_id="benchmark").events())

    warm, timed, traced = questions[:40], questions[40:140], questions[140 : 140 + TRACED]
    for question in warm:
        ask(question)
    EmbeddedEmbedder._embed_one = count_embedding  # type: ignore[method-assign]
    event.listen(Engine, "before_cursor_execute", count_statement)
    began = time.process_time()
    for question in timed:
        ask(question)
    spent = 1000 * (time.process_time() - began) / len(timed)
    counted = (statements[0] / len(timed), embedded[0] / len(timed))
    passed: list[tuple[int, int, int]] = []
    for question in traced:
        functions.clear()
        calls[0] = 0
        sys.setprofile(watch)
        ask(question)
        sys.setprofile(None)
        passed.append((len(functions), len({file for file, _ in functions}), calls[0]))
    runtime.close()
    means = [statistics.mean(column) for column in zip(*passed, strict=True)]
    return [
        ("processor time", f"{spent:.1f} ms"),
        ("SQL statements", f"{counted[0]:.1f}"),
        ("texts embedded", f"{counted[1]:.2f}"),
        ("functions of server/", f"{means[0]:.0f}"),
        ("files of server/", f"{means[1]:.0f}"),
        ("calls", f"{means[2]:.0f}"),
    ]


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--pages", type=Path, default=MANUAL if MANUAL.is_dir() else ROOT / "docs")
    parser.add_argument("--questions", type=int, default=2200)
    parser.add_argument("--no-http", action="store_true", help="count in one process only")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, website(given.pages) as start:
        values = server_values(Path(folder))
        crawl(start, SITE, values)
        questions = headings(values)[: given.questions]
        if len(questions) < 300:
            raise SystemExit(f"{given.pages} gives only {len(questions)} questions; 300 are needed")
        rows = [] if given.no_http else over_http(values, questions)
        for name, figure in [*rows, *in_process(values, questions)]:
            print(f"{name:36} {figure}")


if __name__ == "__main__":
    main()
