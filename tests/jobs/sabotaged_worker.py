"""Job workers that are killed with SIGKILL when they call MOMENT for the NTH time: see test_resuming.py.

Each is a process of its own, forked from this one, which has imported what takes seconds. Each line of the standard
input starts one: an object with the MOMENT and the NTH time, or empty texts, the environment of the worker, the file
for its log, and the file that gets a line with the number of texts whenever it embeds some. "started PID" and
"ended PID STATUS" come back. Batches are small, so that a small site has many of them.
"""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from server.indexing import indexer
from server.models.embedded import EmbeddedEmbedder
from server.runtime.runtime import open_runtime
from server.settings.reading import load_settings

MOMENTS = {
    "before the vectors": ("server.retrieval.chunk_indexes:ChunkIndexes.index", "before"),
    "between vectors and words": ("server.indexes.words:SqlWordIndex.add", "before"),
    "before pages are marked": ("server.storage.content.content:ContentStore.mark_indexed", "before"),
    "before they are settled": ("server.storage.crawls.journal:CrawlJournal.settle", "before"),
    "before going live": ("server.storage.content.content:ContentStore.go_live", "before"),
    "after going live": ("server.storage.content.content:ContentStore.go_live", "after"),
    "while clearing away": ("server.storage.content.content:ContentStore.purge", "before"),
    "at the calibration": ("server.jobs.site_profile:calibrate", "before"),
    "at the very end": ("server.storage.crawls.runs:CrawlStore.finish", "before"),
}
RARE_MOMENTS = {
    "in the quality gate": ("server.quality.gate:_row", "before"),
}
"""Those that not every crawl has."""


def sabotage(moment: str, nth: str) -> None:
    path, when = (MOMENTS | RARE_MOMENTS)[moment]
    module, _, names = path.partition(":")
    *owners, name = names.split(".")
    owner = import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    real = getattr(owner, name)
    calls = []

    def killed(*arguments, **options):
        calls.append(1)
        if when == "before" and len(calls) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **options)
        if when == "after" and len(calls) == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, killed)


def count_embedded(log: str) -> None:
    real = EmbeddedEmbedder.embed

    def counted(self, texts):
        vectors = real(self, texts)
        with Path(log).open("a") as file:
            file.write(f"{len(texts)}\n")
        return vectors

    EmbeddedEmbedder.embed = counted


def work(order: dict) -> None:
    os.environ.clear()
    os.environ.update(order["environment"])
    with Path(order["log"]).open("ab") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
    count_embedded(order["embedded"])
    indexer.BATCH = 8
    if order["moment"]:
        sabotage(order["moment"], order["nth"])
    runtime = open_runtime(load_settings())
    runtime.work()
    runtime.close()


def start(order: dict) -> None:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            work(order)
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.write(1, f"started {child}\n".encode())


def report_ended(number: int, frame: object) -> None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        os.write(1, f"ended {child} {os.waitstatus_to_exitcode(status)}\n".encode())


def main() -> None:
    import_module("server.indexes.vectors")
    signal.signal(signal.SIGCHLD, report_ended)
    while line := sys.stdin.readline():
        start(json.loads(line))


if __name__ == "__main__":
    main()
