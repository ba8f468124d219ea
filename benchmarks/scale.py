"""What Docent does with many chunks, many sites and many messages.

    python -m benchmarks.scale [--chunks 1000 100000 1000000] [--sites 1000] [--messages 10000000]
                               [--database postgresql://...] [--json scale.json]

Pages are made: words as frequent as in natural language (Zipf), sections as long as those of the Apache
manual, vectors in clusters as those of real embeddings. They are written by Docent's own indexer into its
database and a Chroma server of their own; messages are multiplied by SQL. A made embedder takes no time, so
that the times are those of the indexes. Each figure is printed when it is known, and all of them are written
to --json. Times are those of the clock, on a quiet machine; `cpu` is the processor time of this process,
which other programs disturb less.

For the first answer after start, the real server is started on the same data, with its own embedder. With
--folder, the data stay: a site that is there already is only searched, and one whose making was interrupted
is made to its end.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, insert, literal, select, text

from benchmarks.command_line import argument_parser
from benchmarks.dashboard import addresses, signed_in
from benchmarks.processes import disk_mb, listening, memory_mb
from benchmarks.web_load import Connection, percentile, tokens
from benchmarks.web_server import running
from crawler.page import Block, Page, content_hash
from server.backup.shape import write_backup
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.question import Query
from server.domain.site import Site
from server.indexing.indexer import IndexReport
from server.models.embedded import EmbeddedEmbedder
from server.runtime.runtime import Runtime, open_runtime
from server.runtime.sites import open_indexer
from server.settings import Settings
from server.storage.conversations.search import index_rows
from server.storage.schema.conversations import messages
from server.version import version
from tests.servers import chroma_server, free_port

DIMENSIONS = 384
CLUSTERS = 200
QUERIES = 200
WARMING = 20
DEPTH = 300
"""Results that the hybrid strategy asks each index for."""
SECTIONS_OF_A_PAGE = (3, 4, 5, 7, 10, 12, 15, 24, 30, 60)
WORDS_OF_A_SECTION = (8, 23, 40, 59, 76, 90, 103, 118, 134, 152)
"""Deciles of the 242 pages and 4,564 chunks of the Apache manual; a section becomes a chunk."""
MESSAGES_MADE = 2000
"""Messages written by the product; SQL multiplies them."""
COPIED_WORDS = text(
    "INSERT INTO message_search (number, words) SELECT number + :by, words FROM message_search"
    " WHERE number > :low AND number <= :high"
)
MULTIPLIED = {
    "message_days": ("asked", "opened", "answered", "refused", "clarify"),
    "message_times": ("asked",),
}
"""The columns of the daily sums that the made messages have."""
DASHBOARD_ROUNDS = 3
Row = dict[str, Any]


class Words:
    """Words with the frequencies of natural language; function words, which no index keeps, left out."""

    def __init__(self, count: int = 60_000) -> None:
        drawn = random.Random(1)
        syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
        self.names = list(dict.fromkeys("".join(drawn.choices(syllables, k=4)) for _ in range(count)))
        # Zipf's law without its first hundred words.
        self.weights = list(itertools.accumulate(1 / (rank + 100) for rank in range(len(self.names))))

    def some(self, drawn: random.Random, count: int) -> list[str]:
        return drawn.choices(self.names, cum_weights=self.weights, k=count)

    def page(self, number: int) -> Page:
        """The same page for the same number."""
        drawn = random.Random(number)
        title = " ".join(self.some(drawn, 4)).capitalize()
        blocks = []
        for section in range(drawn.choice(SECTIONS_OF_A_PAGE)):
            heading = " ".join(self.some(drawn, 3)).capitalize()
            sentences: list[str] = []
            left = drawn.choice(WORDS_OF_A_SECTION)
            while left > 0:
                sentences.append(" ".join(self.some(drawn, min(left, 14))).capitalize() + ".")
                left -= 14
            blocks.append(Block(" ".join(sentences), (heading,), anchor=f"s{section}"))
        made = tuple(blocks)
        url = f"https://made.example/{number // 100}/{number}"
        return Page(url, title, "en", made, content_hash=content_hash(title, made))

    def questions(self) -> list[str]:
        """Three words as frequent as those of the pages, three of the middle of the vocabulary."""
        drawn = random.Random(3)
        return [
            " ".join([*self.some(drawn, 3), *drawn.choices(self.names[100:3000], k=3)])
            for _ in range(QUERIES)
        ]


class MadeEmbedder:
    """Implements Embedder: a text's vector lies near the centre of one of CLUSTERS clusters. It has the
    fingerprint of the embedded model, so that the real server searches these vectors too."""

    name = "made"
    fingerprint = EmbeddedEmbedder.fingerprint
    languages: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._centres = np.random.default_rng(7).normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        return [self._vector(one) for one in texts]

    def _vector(self, one: str) -> Any:
        seed = int.from_bytes(hashlib.blake2b(one.encode(), digest_size=8).digest())
        drawn = np.random.default_rng(seed)
        made = self._centres[seed % CLUSTERS] + drawn.standard_normal(DIMENSIONS, np.float32)
        return made / np.linalg.norm(made)


def timed(search: Callable[[int], object]) -> tuple[list[float], list[float]]:
    """Milliseconds of searches for QUERIES questions, by their numbers, after WARMING ones that do not count:
    by the clock, and of the processor in this thread."""
    for at in range(WARMING):
        search(at)
    clock, cpu = [], []
    for at in range(QUERIES):
        began, worked = time.perf_counter(), time.thread_time()
        search(at)
        clock.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.thread_time() - worked))
    return clock, cpu


class Scale:
    """One installation that is filled and measured."""

    def __init__(self, settings: Settings, chroma: str, folder: Path, report: Path) -> None:
        self.runtime: Runtime = open_runtime(settings)
        self.words, self.embedder = Words(), MadeEmbedder()
        self._chroma, self._folder, self._report = chroma, folder, report
        self._roots = {os.getpid(), *listening(int(chroma.rpartition(":")[2]))}
        if settings.storage.database_url.startswith("postgres"):
            self._roots |= listening(int(settings.storage.database_url.rpartition(":")[2].partition("/")[0]))
        self.rows: list[Row] = []

    def note(self, part: str, what: str, figure: float | str, unit: str = "") -> None:
        shown = f"{figure:,.2f}" if isinstance(figure, float) else str(figure)
        print(f"{part:28} {what:44} {shown:>14} {unit}", flush=True)
        self.rows.append({"part": part, "what": what, "figure": figure, "unit": unit})
        self._report.write_text(json.dumps(self.rows, indent=1))

    def site(self, site_id: str, chunks: int, first: int = 0) -> IndexReport:
        """Write a site of at least so many chunks, or the rest of one; return what was written now."""
        sites = self.runtime.stores.sites
        if site_id not in {site.id for site in sites.all()}:
            sites.create(Site(site_id, site_id, site_id.title(), ("https://made.example/",)))
        parts = self.runtime.engine.parts(site_id, self.embedder)
        strategy = self.runtime.engine.strategy(sites.get(site_id), parts)
        indexer = open_indexer(self.runtime.database, parts, strategy, self.runtime.settings)
        written = parts.words.count()  # by a run that was interrupted
        indexer.begin(resume=written > 0)
        pages = 0
        while written + indexer.report.chunks_added < chunks:
            indexer.add(self.words.page(first + pages))
            pages += 1
        indexer.finish()
        return indexer.report

    def one_site(self, chunks: int) -> None:
        part = f"one site, {chunks:,} chunks"
        site_id = f"size-{chunks}"
        if site_id not in {site.id for site in self.runtime.stores.sites.all() if site.generation}:
            disk = disk_mb(self._folder)
            began, cpu = time.perf_counter(), time.process_time()
            report = self.site(site_id, chunks)
            took, spent = time.perf_counter() - began, time.process_time() - cpu
            self.note(part, "pages written and indexed", report.pages_indexed / took, "pages/s")
            self.note(part, "chunks written and indexed", report.chunks_added / took, "chunks/s")
            self.note(part, "chunks, cpu of this process", report.chunks_added / spent, "chunks/s")
            self.note(part, "disk of the folder (SQLite and Chroma)", disk_mb(self._folder) - disk, "MB")
        self.searches(part, site_id)
        began = time.perf_counter()
        parts = self.runtime.engine.parts(site_id, self.embedder)
        if parts.words.count() < chunks or len(parts.vectors.ids()) < chunks:
            raise SystemExit(f"{site_id}: chunks are missing")
        self.note(part, "all ids read, as before a crawl", time.perf_counter() - began, "s")
        self.note(part, "memory of all processes (PSS)", memory_mb(*self._roots), "MB")

    def searches(self, part: str, site_id: str) -> None:
        site = self.runtime.stores.sites.get(site_id)
        parts = self.runtime.engine.parts(site_id, self.embedder)
        retriever = self.runtime.engine.strategy(site, parts).retriever
        questions = self.words.questions()
        # Near a chunk, as questions are.
        near = [self.embedder.embed([one])[0] for one in questions]
        kinds: dict[str, Callable[[int], object]] = {
            "words": lambda at: parts.words.search(questions[at], DEPTH),
            "vectors": lambda at: parts.vectors.search(near[at], DEPTH),
            "hybrid": lambda at: retriever.retrieve(Query(questions[at], "en"), 8),
            "spelling": lambda at: sum(
                len(some.similar("replicaton", 1)) for some in parts.words.vocabulary()
            ),
        }
        for name, search in kinds.items():
            began = time.perf_counter()
            search(0)
            self.note(part, f"search, {name}: first", 1000 * (time.perf_counter() - began), "ms")
            clock, cpu = timed(search)
            for share in (0.5, 0.95):
                named = f"search, {name}: p{share * 100:.0f}"
                self.note(part, named, percentile(clock, share), f"ms (cpu {percentile(cpu, share):.2f})")

    def many_sites(self, count: int, chunks: int) -> None:
        part = f"{count:,} sites, {chunks:,} chunks each"
        began, disk = time.perf_counter(), disk_mb(self._folder)
        for number in range(count):
            self.site(f"many-{number}", chunks, first=number * chunks)
        self.note(part, "written and indexed", count / (time.perf_counter() - began), "sites/s")
        self.note(part, "disk of the folder (SQLite and Chroma)", disk_mb(self._folder) - disk, "MB")
        questions = self.words.questions()
        spent = []
        for number in range(count):
            site = self.runtime.stores.sites.get(f"many-{number}")
            parts = self.runtime.engine.parts(site.id, self.embedder)
            retriever = self.runtime.engine.strategy(site, parts).retriever
            began = time.perf_counter()
            retriever.retrieve(Query(questions[number % QUERIES], "en"), 8)
            spent.append(1000 * (time.perf_counter() - began))
        self.note(part, "first search of each site: p95", percentile(spent, 0.95), "ms")
        self.searches(part, "many-0")
        self.note(part, "memory of all processes (PSS)", memory_mb(*self._roots), "MB")

    def fill_messages(self, count: int) -> None:
        part = f"{count:,} messages"
        site_id = next(site.id for site in self.runtime.stores.sites.all())
        began = time.perf_counter()
        base = min(count, MESSAGES_MADE)
        self._made_messages(site_id, base)
        database = self.runtime.database
        have = base
        while have < count:
            more = min(have, count - have)
            with database.begin() as connection:
                if database.dialect == "postgresql":
                    # In one transaction, to change the sums of a day for each message takes ever longer.
                    connection.execute(text("SET LOCAL session_replication_role = replica"))
                top = connection.execute(select(func.max(messages.c.number))).scalar_one()
                low = top - have
                columns = {column.name: column for column in messages.c}
                changed: dict[str, Any] = {
                    "number": columns["number"] + have,
                    "id": columns["id"] + literal(f"-{have}"),
                }
                copied = select(*(changed.get(name, column).label(name) for name, column in columns.items()))
                copied = copied.where(messages.c.number > low, messages.c.number <= low + more)
                connection.execute(insert(messages).from_select(list(columns), copied))
                if database.dialect == "postgresql":
                    connection.execute(COPIED_WORDS, {"by": have, "low": low, "high": low + more})
            if database.dialect == "sqlite":  # its index does not keep the words that it was given
                self._index_words(top, more)
            have += more
        if database.dialect == "postgresql":
            with database.begin() as connection:
                sequence = "pg_get_serial_sequence('messages', 'number')"
                connection.execute(text(f"SELECT setval({sequence}, max(number)) FROM messages"))
                for table, sums in MULTIPLIED.items():
                    changed_to = ", ".join(f"{one} = {one} * {count // base}" for one in sums)
                    connection.execute(text(f"UPDATE {table} SET {changed_to}"))
                connection.execute(text("ANALYZE"))
        self.note(part, "filled by SQL", count / (time.perf_counter() - began), "messages/s")

    def _made_messages(self, site_id: str, count: int) -> None:
        """Written as the chat writes them, over half a year."""
        drawn, store, now = random.Random(2), self.runtime.dialogue.conversations, datetime.now(UTC)
        questions = self.words.questions()
        conversation = ""
        outcomes = [*[Outcome.ANSWERED] * 6, *[Outcome.REFUSED] * 3, Outcome.CLARIFY]
        for number in range(count):
            if number % 3 == 0:
                conversation = store.start(site_id, f"visitor-{number}")
            url = f"https://made.example/0/{drawn.randrange(100)}"
            citation = Citation(1, url, "Made", " ".join(self.words.some(drawn, 14)), url)
            answer = Answer(
                drawn.choice(outcomes), " ".join(self.words.some(drawn, 60)), (citation,), strategy="hybrid"
            )
            asked = questions[number % QUERIES]
            at = now - timedelta(minutes=drawn.randrange(180 * 1440))
            store.add(Message(f"made-{number}", conversation, site_id, at, asked, asked, "en", answer))

    def _index_words(self, after: int, count: int) -> None:
        wanted = select(messages.c.number, messages.c.question, messages.c.text)
        for low in range(after, after + count, 10_000):
            with self.runtime.database.begin() as connection:
                rows = connection.execute(
                    wanted.where(
                        messages.c.number > low, messages.c.number <= min(low + 10_000, after + count)
                    )
                ).all()
                index_rows(connection, [tuple(row) for row in rows])

    def dashboard(self) -> None:
        app, browser = signed_in(self.runtime)
        site_id = next(site.id for site in self.runtime.stores.sites.all())
        spent = {}
        for name, address in addresses(app, self.runtime.database):
            asked = address.replace("harbour.example", "made.example").replace("harbour", site_id)
            times = []
            for _ in range(DASHBOARD_ROUNDS):
                began = time.perf_counter()
                status = browser.get(asked, buffered=True).status_code
                times.append(1000 * (time.perf_counter() - began))
            if status == 200:
                spent[name] = min(times)
        self.note("dashboard", f"{len(spent)} pages: p95", percentile(list(spent.values()), 0.95), "ms")
        for name, took in sorted(spent.items(), key=lambda item: -item[1])[:8]:
            self.note("dashboard", name[:44], took, "ms")

    def backup(self) -> None:
        began = time.perf_counter()
        file = self._folder / "backup.zip"
        with file.open("wb") as out:
            write_backup(self.runtime.database, out, version())
        self.note("backup", "written", time.perf_counter() - began, "s")
        self.note("backup", "size", file.stat().st_size / 1e6, "MB")
        file.unlink()

    def first_answer(self, settings: dict[str, str]) -> None:
        """Start the real server on these data and ask the largest site."""
        sites = [site.id for site in self.runtime.stores.sites.all() if site.id.startswith("size-")]
        if not sites:
            return
        site_id = max(sites, key=lambda one: int(one.removeprefix("size-")))
        question = self.words.questions()[0]

        async def ask(address: str) -> float:
            (token,) = await tokens(address, site_id, 1)
            connection = Connection(address)
            began = time.perf_counter()
            answer = await connection.ask("/api/v1/chat", {"message": question}, token)
            assert answer.status == 200, answer.text
            connection.close()
            return time.perf_counter() - began

        began = time.perf_counter()
        with running({**settings, "PORT": str(free_port()), "LOG_LEVEL": "error"}) as (address, server):
            self.note("start", "until the server accepts connections", time.perf_counter() - began, "s")
            self.note("start", f"first answer of {site_id}", asyncio.run(ask(address)), "s")
            self.note("start", f"second answer of {site_id}", asyncio.run(ask(address)), "s")
            self.note("start", "memory of the server (PSS)", memory_mb(server), "MB")


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--chunks", type=int, nargs="*", default=[1000, 100_000, 1_000_000])
    parser.add_argument("--sites", type=int, default=1000)
    parser.add_argument("--site-chunks", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--database", default="", help="address of an empty PostgreSQL database")
    parser.add_argument("--folder", type=Path, help="where the data lie, by default a temporary folder")
    parser.add_argument("--json", type=Path, default=Path("scale.json"))
    parser.add_argument("--no-server", action="store_true", help="without the first answer after start")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        chroma = stack.enter_context(chroma_server(folder / "chroma"))
        database = given.database or f"sqlite:///{folder / 'docent.db'}"
        values = {"DATA_DIR": str(folder), "DATABASE_URL": database, "CHROMA_URL": chroma}
        settings = Settings.of(data_dir=folder, database_url=database, chroma_url=chroma)
        scale = Scale(settings, chroma, folder, given.json)
        for chunks in given.chunks:
            scale.one_site(chunks)
        if given.sites:
            scale.many_sites(given.sites, given.site_chunks)
        if given.messages:
            scale.fill_messages(given.messages)
        scale.dashboard()
        scale.backup()
        if not given.no_server:
            scale.first_answer(values)
        scale.runtime.close()
    print(f"all figures: {given.json}")


if __name__ == "__main__":
    main()
