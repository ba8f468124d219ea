"""Job workers that are killed with SIGKILL when they call MOMENT for the NTH time: see test_resuming.py.

Each is a process of its own, forked from this one, which has imported what takes seconds. A line "MOMENT/NTH" or
"/" on the standard input starts one; "started PID" and "ended PID STATUS" come back. Batches are small, so that a
small site has many of them. Each line of the file that is named as the argument is a number of texts embedded.
"""

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


def work(moment: str) -> None:
    indexer.BATCH = 8
    if moment:
        sabotage(*moment.split("/"))
    runtime = open_runtime(load_settings())
    runtime.work()
    runtime.close()


def start(moment: str) -> None:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            work(moment)
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
    count_embedded(sys.argv[1])
    import_module("server.indexes.vectors")
    signal.signal(signal.SIGCHLD, report_ended)
    while line := sys.stdin.readline():
        start(line.strip().strip("/"))


if __name__ == "__main__":
    main()
