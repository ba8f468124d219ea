"""What each retrieval strategy takes: time and memory to build, size, and time of a query, against hybrid.

    python benchmarks/strategies.py FOLDER [FOLDER ...] [--pages 2500] [--strategies a,b[option=value]]
        [--questions FILE.jsonl] [--data DIR]

The folders hold HTML pages. They are indexed once, without crawling; then each strategy is built in a process
of its own, without a chat model, so that its memory can be told. Hybrid is the baseline: its index is the
one that all others keep beside their own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))

from crawler.extractors import SourceDocument, extract
from crawler.page import Page
from server.domain.derived import Unwatched
from server.domain.question import Query
from server.domain.site import Site
from server.retrieval.options import split_specs
from server.retrieval.table import STRATEGIES
from server.runtime.runtime import Runtime, open_runtime
from server.runtime.sites import open_indexer, open_strategy
from server.settings import Settings
from server.settings.reading import load_settings
from server.storage.content.derived import DerivedStore

SITE = Site("bench", "Bench", "Bench", ("https://bench.example/",))
WARM_UP = 5


def main() -> None:
    arguments = parse()
    if arguments.one:
        print(json.dumps(one(arguments)))
        return
    with tempfile.TemporaryDirectory() as made:
        data = arguments.data or Path(made)
        rows = [run(arguments, data, spec) for spec in ("", *split_specs(arguments.strategies))]
    base = next((row for row in rows if row["strategy"] == "hybrid"), None)
    print(f"{rows[0]['pages']} pages, {rows[0]['chunks']} chunks; indexed in {rows[0]['seconds']:.0f} s")
    print("strategy | build s | peak MiB | derived MB | records | p50 ms | p95 ms | p50 / hybrid")
    for row in rows[1:]:
        ratio = f"{row['p50'] / base['p50']:.1f}" if base else "-"
        print(
            f"{row['strategy']} | {row['seconds']:.1f} | {row['peak_mib']:.0f} | {row['bytes'] / 1e6:.1f} | "
            f"{row['records']} | {row['p50']:.1f} | {row['p95']:.1f} | {ratio}"
        )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=2500)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument(
        "--questions", type=Path, default=Path(__file__).parent / "questions/postgresql.jsonl"
    )
    parser.add_argument("--data", type=Path, help="folder that keeps the index for another run")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def run(arguments: argparse.Namespace, data: Path, spec: str) -> dict[str, object]:
    """One strategy in a process of its own; the pages themselves for ""."""
    folders = [str(folder) for folder in arguments.folders]
    command = [sys.executable, __file__, *folders, "--data", str(data), "--pages", str(arguments.pages)]
    more = ["--questions", str(arguments.questions), "--one", spec or "pages"]
    done = subprocess.run([*command, *more], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(arguments: argparse.Namespace) -> dict[str, object]:
    settings = load_settings({"DATA_DIR": str(arguments.data), "LOG_LEVEL": "warning"})
    with closing(open_runtime(settings)) as runtime:
        started = time.monotonic()
        if arguments.one == "pages":
            site = runtime.stores.sites.find(SITE.id) or runtime.stores.sites.create(SITE)
            if not site.generation:
                index(runtime, settings, arguments)
            pages, chunks = runtime.stores.content(SITE.id).counts()
            return {"strategy": "", "pages": pages, "chunks": chunks, "seconds": time.monotonic() - started}
        site = replace(runtime.stores.sites.get(SITE.id), strategy=arguments.one)
        runtime.engine.preparation(site).run(Unwatched())
        seconds = time.monotonic() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        states = [
            s for s in DerivedStore(runtime.database, SITE.id).states() if s.figures["spec"] == site.strategy
        ]
        figures = states[0].figures if states else {"bytes": 0, "records": {}}
        return {
            "strategy": site.strategy,
            "seconds": seconds,
            "peak_mib": peak,
            "bytes": figures["bytes"],
            "records": sum(figures["records"].values()),
            **latency(runtime, settings, site, arguments.questions),
        }


def index(runtime: Runtime, settings: Settings, arguments: argparse.Namespace) -> None:
    parts = runtime.engine.parts(SITE.id, runtime.engine.document_embedder)
    indexer = open_indexer(
        runtime.database, parts, open_strategy(SITE, parts, runtime.stores.incidents, settings), settings
    )
    indexer.begin(resume=True)
    for number, page in enumerate(pages_of(arguments.folders)):
        if number == arguments.pages:
            break
        indexer.add(page)
    indexer.finish()


def pages_of(folders: list[Path]) -> Iterator[Page]:
    for folder in folders:
        for file in sorted(folder.rglob("*.html")):
            url = f"https://bench.example/{folder.name}/{quote(str(file.relative_to(folder)))}"
            found = extract(SourceDocument(url, file.read_bytes()))
            if found.page.blocks:
                yield found.page


def latency(runtime: Runtime, settings: Settings, site: Site, questions: Path) -> dict[str, float]:
    parts = runtime.engine.parts(SITE.id, runtime.engine.query_embedder)
    strategy = open_strategy(site, parts, runtime.stores.incidents, settings)
    asked = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    times = []
    for question in asked:
        started = time.perf_counter()
        strategy.retriever.retrieve(Query(question["question"], question.get("lang", "en")), 10)
        times.append(1000 * (time.perf_counter() - started))
    times = times[WARM_UP:]
    return {"p50": median(times), "p95": quantiles(times, n=20)[-1]}


if __name__ == "__main__":
    main()
