"""Speed of the indexes: words against SQLite's FTS5, vectors against Chroma's own client.

    python benchmarks/indexing.py [--chunks 100000] [--vectors 20000] [--postgresql URL]

The text is made: words with the frequencies of natural language (Zipf), vectors with the few degrees
of freedom of real embeddings. Queries mix rare and frequent words, as questions do. Times are those
of the wall clock, `cpu` those of the calling thread, which other programs disturb less.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scale import QUERIES, Words, timed
from server.domain.chunk import Chunk
from server.indexes.tokens import tokens
from server.indexes.vectors import ChromaVectorIndex, open_chroma
from server.indexes.words import SqlWordIndex
from server.storage.database import Database
from tests.servers import chroma_server

VOCABULARY = 30_000
WORDS_OF_A_CHUNK = 150
DIMENSIONS = 384
BATCH = 256
LIMIT = 40


def main() -> None:
    arguments = parse()
    random.seed(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in dict.fromkeys((1000, arguments.chunks)):
            words(folder, size, f"sqlite:///{folder}/{size}.db", "SQLite")
            if arguments.postgresql:
                words(folder, size, arguments.postgresql, "PostgreSQL")
            fts5(folder, size)
        vectors(folder, arguments.vectors)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--postgresql", default="", help="address of an empty database")
    return parser.parse_args()


def words(folder: Path, size: int, url: str, name: str) -> None:
    """Builds our word index and asks it."""
    database = Database(url)
    index = SqlWordIndex(database, "benchmark")
    index.drop()
    with stopwatch(f"words, {name}: build", size):
        for batch in batches(size):
            index.add(batch)
    ask(
        f"words, {name}, {size:,} chunks",
        Words(VOCABULARY).questions(),
        lambda text: index.search(text, LIMIT),
    )
    database.close()


def fts5(folder: Path, size: int) -> None:
    """The same tokens in SQLite's own full text."""
    connection = sqlite3.connect(folder / f"fts5-{size}.db")
    connection.execute("PRAGMA journal_mode = WAL")
    tokenizer = "ascii tokenchars '_-.+#'"
    connection.execute(f'CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize="{tokenizer}")')
    with stopwatch("words, FTS5: build", size):
        for batch in batches(size):
            rows = [(" ".join(tokens(c.title, "en")), " ".join(tokens(c.text, "en"))) for c in batch]
            with connection:
                connection.executemany("INSERT INTO words VALUES (?, ?)", rows)

    def search(text: str) -> object:
        match = " OR ".join(f'"{token}"' for token in tokens(text, "en"))
        best = (
            "SELECT rowid, bm25(words, 3, 1) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT ?"
        )
        return connection.execute(best, (match, LIMIT)).fetchall()

    ask(f"words, FTS5, {size:,} chunks", Words(VOCABULARY).questions(), search)
    connection.close()


def vectors(folder: Path, size: int) -> None:
    """Vectors on a Chroma server: our requests and those of its client, recall against exact search."""
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(40, DIMENSIONS))
    stored, asked = (embedding_like(rng, axes, count) for count in (size, QUERIES))
    with chroma_server(folder / "chroma") as address:
        chroma = open_chroma(address)
        index = ChromaVectorIndex(chroma, "benchmark", "0123456789abcdef")
        chunks = [Chunk(str(i), f"https://site.example/{i % 500}", "", (), "", 0) for i in range(size)]
        with stopwatch("vectors: build", size):
            for start in range(0, size, BATCH):
                index.add(chunks[start : start + BATCH], stored[start : start + BATCH])
        found = [{int(key) for key, _ in index.search(vector, 20)} for vector in asked]
        exact = [set(np.argsort(-(stored @ vector))[:20].tolist()) for vector in asked]
        recall = sum(len(a & b) for a, b in zip(found, exact, strict=True)) / (20 * QUERIES)
        print(f"vectors, {size:,}: recall@20 against exact search {recall:.4f}")
        ask("vectors through our connections", asked, lambda vector: index.search(vector, 20))
        collection = chroma.client.get_collection(index.name, embedding_function=None)
        ask(
            "vectors through Chroma's client, distances only",
            asked,
            lambda vector: collection.query(query_embeddings=[vector], n_results=20, include=["distances"]),
        )
        ask(
            "vectors through Chroma's client, its defaults, collection opened each time",
            asked,
            lambda vector: chroma.client.get_collection(index.name, embedding_function=None).query(
                query_embeddings=[vector], n_results=20
            ),
        )
        chroma.close()


def batches(size: int) -> Iterator[list[Chunk]]:
    drawn = random.Random(size)
    words = Words(VOCABULARY)
    for start in range(0, size, BATCH):
        count = min(BATCH, size - start)
        text = words.some(drawn, count * WORDS_OF_A_CHUNK)
        yield [
            Chunk(
                id=f"{start + i:032x}",
                url="https://site.example/",
                title=" ".join(text[i * WORDS_OF_A_CHUNK : i * WORDS_OF_A_CHUNK + 4]),
                heading_path=(),
                text=" ".join(text[i * WORDS_OF_A_CHUNK : (i + 1) * WORDS_OF_A_CHUNK]),
                position=i,
                language="en",
            )
            for i in range(count)
        ]


def embedding_like(rng: np.random.Generator, axes: np.ndarray, count: int) -> np.ndarray:
    made = rng.normal(size=(count, len(axes))) @ axes + rng.normal(size=(count, DIMENSIONS))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def ask(name: str, asked: Sequence[Any], search: Callable[[Any], object]) -> None:
    wall, cpu = timed(lambda at: search(asked[at]))
    print(
        f"{name}: p50 {at(wall, 50):.2f} ms, p95 {at(wall, 95):.2f} ms; "
        f"cpu p50 {at(cpu, 50):.2f}, p95 {at(cpu, 95):.2f}",
        flush=True,
    )


def at(times: list[float], percent: int) -> float:
    return float(np.percentile(times, percent))


@contextmanager
def stopwatch(name: str, count: int) -> Iterator[None]:
    before, before_cpu = time.perf_counter(), time.thread_time()
    yield
    wall, cpu = time.perf_counter() - before, time.thread_time() - before_cpu
    print(f"{name} {count:,}: {count / wall:,.0f} a second; cpu {count / cpu:,.0f} a second")


if __name__ == "__main__":
    main()
