"""How many visitors a server carries: the rate at which the first sentence of an answer still comes in time.

    python -m benchmarks.load [--pages FOLDER] [--seconds 30] [--replicas 2]
    python -m benchmarks.load --address http://127.0.0.1:8001 http://127.0.0.1:8002 --site docs --model-s 1.5

Visitors arrive at random (Poisson), load the widget and its modules, think, ask a question, read the stream
as it comes, ask follow-ups, rate some answers, and lose their connection now and then: they continue with
Last-Event-ID. The rate doubles until p95 of the time to the first sentence exceeds one second plus
--model-s, or a request fails, and is then halved in, to a tenth. Each rate lasts --seconds, after which all
visitors finish.

Without --address, the real server is started on a crawled folder (by default as in
benchmarks.question_path), without a chat model. --replicas starts that number of web servers, of one process
each, on PostgreSQL, Redis and a Chroma server, without a proxy. Servers behind --address need high
VISITOR_LIMIT, ADDRESS_LIMIT and TOKEN_LIMIT; several addresses are replicas of one installation, and a proxy
in front of them is one address. Only addresses of this machine are accepted.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.command_line import argument_parser
from benchmarks.processes import memory_mb
from benchmarks.question_path import MANUAL, SITE, headings
from benchmarks.web_load import Connection, percentile
from benchmarks.web_server import ROOT, crawl, running, server_values, website
from tests.servers import chroma_server, free_port, postgresql, redis_server

BAR_S = 1.0
FIRST_RATE, MOST_RATE = 4.0, 256.0
"""Visitors a second."""
THINK_S = 4.0
"""Mean time before a question and before each follow-up."""
FOLLOW_UPS = 0.5
"""Share of visitors who ask once more after each answer."""
RATED, DROPPED, CACHED = 0.1, 0.05, 0.6
"""Shares of answers that are rated, of streams that break, and of visitors whose browser has the widget."""
PATIENCE_S = 60.0
"""How long a visitor waits for an answer."""
MORE = ("What else should I know about that?", "Can you tell me more?", "How do I configure it?")


@dataclass
class Seen:
    """What the visitors of one rate saw."""

    visitors: int = 0
    first_sentence_s: list[float] = field(default_factory=list)
    whole_s: list[float] = field(default_factory=list)
    continued: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def row(self, rate: float) -> dict[str, object]:
        return {
            "visitors_per_s": round(rate, 2),
            "visitors": self.visitors,
            "questions": len(self.whole_s),
            "first_sentence_s": {
                p: round(percentile(self.first_sentence_s or [0], p), 3) for p in (0.5, 0.95)
            },
            "whole_answer_s": {p: round(percentile(self.whole_s or [0], p), 3) for p in (0.5, 0.95)},
            "continued": self.continued,
            "errors": dict(self.errors),
        }


class Visitors:
    """Visitors of one site on one or more addresses."""

    def __init__(self, addresses: Sequence[str], site: str, questions: Sequence[str]) -> None:
        self._addresses = itertools.cycle(addresses)
        self._site, self._drawn = site, random.Random(1)
        self._questions = itertools.cycle(questions)

    async def arrive(self, rate: float, seconds: float, seen: Seen) -> None:
        """Let visitors arrive at this rate, and wait until all have finished."""
        loop, coming = asyncio.get_running_loop(), list[asyncio.Task[None]]()
        end = loop.time() + seconds
        while (now := loop.time()) < end:
            coming.append(asyncio.create_task(self._visit(next(self._addresses), seen)))
            await asyncio.sleep(min(self._drawn.expovariate(rate), end - now))
        await asyncio.gather(*coming)

    async def _visit(self, address: str, seen: Seen) -> None:
        seen.visitors += 1
        connection = Connection(address)
        try:
            await self._talk(connection, seen)
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            seen.errors[type(error).__name__] += 1
        finally:
            connection.close()

    async def _talk(self, connection: Connection, seen: Seen) -> None:
        loader = await self._get(connection, "/widget/embed.js", seen)
        if self._drawn.random() > CACHED:
            for module in dict.fromkeys(re.findall(r"v/[\w.-]+/[\w./-]+\.js", loader)):
                await self._get(connection, f"/widget/{module}", seen)
        await self._get(connection, f"/api/v1/sites/{self._site}/widget", seen)
        made = await connection.ask("/api/v1/visitors", {"site": self._site})
        token, conversation = json.loads(made.text)["token"], None
        question = next(self._questions)
        while True:
            await asyncio.sleep(self._drawn.expovariate(1 / THINK_S))
            body: dict[str, object] = {"message": question, "stream": True}
            if conversation:
                body["conversation_id"] = conversation
            try:
                async with asyncio.timeout(PATIENCE_S):
                    text = await self._read(connection, body, token, seen)
            except TimeoutError:
                seen.errors["not answered"] += 1
                return
            meta = re.search(r'"conversation_id":"([^"]+)","message_id":"([^"]+)"', text)
            if meta is None or "event: done" not in text:
                seen.errors["no whole answer"] += 1
                return
            conversation = meta[1]
            if self._drawn.random() < RATED:
                rating = {"message_id": meta[2], "helpful": self._drawn.random() < 0.8}
                rated = await connection.ask("/api/v1/feedback", rating, token)
                self._count(rated.status, seen)
            if self._drawn.random() > FOLLOW_UPS:
                return
            question = self._drawn.choice(MORE)

    async def _read(self, connection: Connection, body: dict, token: str, seen: Seen) -> str:
        """Read an answer, sometimes over two connections."""
        breaks = self._drawn.random() < DROPPED
        asked = await connection.send("POST", "/api/v1/chat", body, token, hang_up=breaks)
        self._count(asked.status, seen)
        text, words, ended = asked.text, asked.first_words, asked.ended
        if breaks and "event: done" not in text:
            (*_, last) = re.findall(r"^id: (\S+)", text, re.MULTILINE) or [""]
            rest = await connection.send("GET", "/api/v1/chat/events", None, token, last)
            self._count(rest.status, seen)
            seen.continued += rest.status == 200
            text, words, ended = text + rest.text, words or rest.first_words, rest.ended
        seen.first_sentence_s.append((words or ended) - asked.started)  # a refusal comes at once, as a whole
        seen.whole_s.append(ended - asked.started)
        return text

    async def _get(self, connection: Connection, path: str, seen: Seen) -> str:
        got = await connection.send("GET", path)
        self._count(got.status, seen)
        return got.text

    def _count(self, status: int, seen: Seen) -> None:
        if status >= 400:
            seen.errors[f"status {status}"] += 1


def highest_rate(visitors: Visitors, seconds: float, bar_s: float) -> float:
    """Return the highest rate that stays within the bar. Prints every rate that was tried."""

    def holds(rate: float) -> bool:
        seen = Seen()
        asyncio.run(visitors.arrive(rate, seconds, seen))
        print(json.dumps(seen.row(rate)), flush=True)
        return not seen.errors and percentile(seen.first_sentence_s or [0], 0.95) <= bar_s

    held, rate = 0.0, FIRST_RATE
    while rate <= MOST_RATE and holds(rate):
        held, rate = rate, 2 * rate
    failed = rate
    while held and failed - held > 0.1 * held and failed <= MOST_RATE:
        middle = (held + failed) / 2
        held, failed = (middle, failed) if holds(middle) else (held, middle)
    return held


@contextmanager
def own_servers(pages: Path, replicas: int) -> Iterator[tuple[list[str], list[int], list[str]]]:
    """The addresses and processes of servers that answer for a folder, and questions for it. Without
    replicas, it is one server that keeps everything in its own folder."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        values, start = server_values(folder), stack.enter_context(website(pages))
        if replicas:
            values |= {
                "DATABASE_URL": stack.enter_context(postgresql()),
                "REDIS_URL": stack.enter_context(redis_server()),
                "CHROMA_URL": stack.enter_context(chroma_server(folder / "chroma")),
                **{"SECRET_KEY": secrets.token_hex(), "WEB_WORKERS": "1"},
            }
        crawl(start, SITE, values)
        questions = headings(values)
        servers = [stack.enter_context(running(values))] if not replicas else []
        for number in range(replicas):
            own = folder / f"web{number}"
            own.mkdir()
            more = {"DATA_DIR": str(own), "PORT": str(free_port())}
            servers.append(stack.enter_context(running(values | more, "web")))
        addresses, processes = zip(*servers, strict=True)
        yield list(addresses), list(processes), questions


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--address", nargs="+", help="of running servers, or of a proxy in front of them")
    parser.add_argument("--site", default=SITE)
    parser.add_argument("--questions", type=Path, help="a question a line, for --address")
    parser.add_argument("--pages", type=Path, default=MANUAL if MANUAL.is_dir() else ROOT / "docs")
    parser.add_argument("--replicas", type=int, default=0, help="web servers on PostgreSQL and Redis")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--model-s", type=float, default=0.0, help="the model's own time to a sentence")
    given = parser.parse_args()
    bar_s = BAR_S + given.model_s
    if given.address:
        if any(urlsplit(one).hostname not in ("127.0.0.1", "localhost") for one in given.address):
            parser.error("only addresses of this machine")
        questions = given.questions.read_text().splitlines() if given.questions else list(MORE)
        rate = highest_rate(Visitors(given.address, given.site, questions), given.seconds, bar_s)
        print(f"{rate:.1f} visitors/s")
        return
    with own_servers(given.pages, given.replicas) as (addresses, processes, questions):
        rate = highest_rate(Visitors(addresses, SITE, questions), given.seconds, bar_s)
        print(f"{rate:.1f} visitors/s; memory of the servers (PSS): {memory_mb(*processes):.0f} MB")


if __name__ == "__main__":
    main()
