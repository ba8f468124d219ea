"""A large site crawled, indexed and crawled again by several job workers: time, memory of each process, disk.

    python -m benchmarks.large_site [--pages 3000] [--workers 2] [--kill] [--database URL]

The site is the one of benchmarks/crawl_memory.py, whose pages have ETags. The workers are processes as
`python -m server worker` starts them, in a data folder of their own that is removed at the end. With `--kill`
one worker after the other is killed with -9 during the crawl and replaced. Printed are, for the first crawl
and for one of the unchanged pages: the seconds until the last request and until the index is live, pages a
second, the pages that are live, the highest resident memory of each process, and the size of the data
folder. `--trace` names what held the most memory in each worker at its end.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.crawl_memory import ROOT, SITE, serving
from benchmarks.processes import family
from server.domain.site import Site
from server.runtime.runtime import Runtime, open_runtime
from server.settings import Settings
from tests.servers import chroma_server

_WORKER = """
import os, sys, tracemalloc
tracemalloc.start(1)
from server.__main__ import main
try:
    main(["worker"])
finally:
    print(f"what worker {os.getpid()} holds:", file=sys.stderr)
    for line in tracemalloc.take_snapshot().statistics("lineno")[:40]:
        print("  ", line, file=sys.stderr)
"""


@dataclass
class Watched:
    """The processes of one crawl, by what they are, with the highest resident memory of each in MB."""

    peaks: dict[str, float] = field(default_factory=dict)

    def look(self, workers: list[subprocess.Popen[bytes]]) -> None:
        """Note the peaks of the workers and of the processes below them."""
        for place, worker in enumerate(workers, 1):
            for number, pid in enumerate([worker.pid, *sorted(family(worker.pid) - {worker.pid})]):
                name = f"worker {place} ({worker.pid})" + (f", helper {number}" if number else "")
                self.peaks[name] = max(self.peaks.get(name, 0.0), _peak(pid))


def _peak(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def main() -> None:
    """Crawl the site twice and print the figures of both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--paragraphs", type=int, default=6, help="of 60 words, on each page")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", action="store_true", help="kill -9 each worker once during the first crawl")
    parser.add_argument("--database", default="", help="DATABASE_URL; SQLite in the folder without it")
    parser.add_argument("--trace", action="store_true", help="say which lines hold the memory (slow)")
    args = parser.parse_args()
    # Workers that share a data folder need a Chroma server, as `make run` starts one.
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(SITE, str(args.pages), str(args.paragraphs)) as url,
        chroma_server(Path(folder) / "chroma") as chroma,
    ):
        _run(args, Path(folder), url, chroma)


def _run(args: argparse.Namespace, folder: Path, url: str, chroma: str) -> None:
    chosen = {"data_dir": folder, "crawl_allow_private": True, "crawl_max_pages": args.pages}
    chosen |= {"crawl_max_urls": 2 * args.pages + 100, "crawls_at_once": 1}
    chosen |= {"database_url": args.database} if args.database else {}
    chosen |= {"chroma_url": chroma}
    environment = os.environ | {name.upper(): str(value) for name, value in chosen.items()}
    environment["CRAWL_ALLOW_PRIVATE"] = "1"
    runtime = open_runtime(Settings.of(**chosen))
    runtime.stores.sites.create(Site("large", "Large", "", (url,)))
    command = ["-c", _WORKER] if args.trace else ["-m", "server", "worker"]

    def worker() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *command], env=environment, cwd=ROOT)

    workers = [worker() for _ in range(args.workers)]
    try:
        for name in ("first crawl", "crawl of unchanged pages"):
            _crawl(name, args, runtime, workers, worker if args.kill and name == "first crawl" else None)
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            print(f"  data folder {size / 2**20:.0f} MB", flush=True)
    finally:
        for process in workers:
            process.send_signal(signal.SIGTERM)
        for process in workers:
            process.wait()
        runtime.close()


def _crawl(
    name: str,
    args: argparse.Namespace,
    runtime: Runtime,
    workers: list[subprocess.Popen[bytes]],
    replacement: Callable[[], subprocess.Popen[bytes]] | None,
) -> None:
    crawls, watched, killed = runtime.stores.crawls, Watched(), 0
    began = time.monotonic()
    read_s = 0.0
    crawl_id = runtime.crawling.start("large")
    while (run := crawls.get(crawl_id)).is_open:
        watched.look(workers)
        counts = run.counts
        done = sum(number for state, number in counts.items() if state not in ("waiting", "read"))
        if not read_s and done and not counts.get("waiting"):
            read_s = time.monotonic() - began
        due = args.pages * (killed + 1) / (len(workers) + 2)
        if replacement is not None and killed < len(workers) and done > due:
            workers[killed].kill()
            workers[killed].wait()
            workers[killed] = replacement()
            killed += 1
        time.sleep(0.5)
    seconds = time.monotonic() - began
    print(
        f"{name}: {run.state}, {run.message or 'no message'}; {run.counts}\n"
        f"  {read_s:.0f} s until the last page was read, {seconds:.0f} s until all was live, "
        f"{args.pages / seconds:.1f} pages/s, {killed} workers killed\n"
        f"  live: {runtime.stores.content('large').counts()[0]} of {args.pages} pages"
    )
    for process, peak in watched.peaks.items():
        print(f"  {process}: {peak:.0f} MB at most")


if __name__ == "__main__":
    main()
