"""Whether the pages of real organisations' sites are cut so that a question finds its fact with its heading.

    python -m benchmarks.visitor_sites FOLDER [FOLDER ...] [--half tuned|aside] [--data DIR] [--misses]

A FOLDER holds `html/` (the root of a website) and `questions.jsonl`: for each question `expected_urls`
(paths below html/, the first holds `evidence` verbatim, the others say the same), `section` (the heading
before the evidence, or "footer") and `history`. Each site is crawled by `python -m server crawl` and searched
as visitors' questions are. Printed for each site and each half of its questions:

- held: the share of the questions whose evidence is in one chunk of its page under its heading;
- first, three: the gold section is first, or among three. A chunk is of the gold section if it holds the
  evidence, has the gold heading on the gold page, or is of another page that says the same;
- page: an expected page is among the first five.

The id of a question decides its half: one to tune on, one to set aside. `--data` keeps the crawl for the
next run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.question_path import website
from benchmarks.web_server import ROOT
from server.domain.chunk import Chunk
from server.domain.question import Question, Turn
from server.runtime.runtime import Runtime, open_runtime
from server.settings.reading import load_settings

HALVES = ("tuned", "aside")
_MARKERS = re.compile(r"(?m)^\s*(?:- |\d{1,3}\. )")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Row:
    """One answerable question and what became of it."""

    site: str
    half: str
    kind: str
    question: str
    held: bool
    rank: int
    """Of the first chunk of the gold section, from 1; 0 for none among ten."""
    page_rank: int


def half_of(question_id: str) -> str:
    """Return which half a question belongs to, always the same."""
    return HALVES[zlib.crc32(question_id.encode()) % 2]


def folded(text: str) -> str:
    """Return the words of a text on one line, without the markers of list items."""
    return _SPACE.sub(" ", _MARKERS.sub("", text)).strip().casefold()


def path_of(url: str) -> str:
    """Return the path below the root of the site."""
    return unquote(urlsplit(url).path).lstrip("/").removesuffix("index.html")


def is_page(url: str, wanted: str) -> bool:
    """Return whether the address is that of an expected page."""
    return path_of(url) == path_of(wanted)


def under_heading(chunk: Chunk, section: str) -> bool:
    """Return whether the chunk stands under the gold heading; the footer has none."""
    headings = {folded(heading) for heading in (*chunk.heading_path, chunk.title)}
    return section == "footer" or folded(section) in headings


def is_gold(chunk: Chunk, question: dict[str, Any]) -> bool:
    """Return whether the chunk is of a gold section."""
    first, *others = question["expected_urls"]
    if is_page(chunk.url, first):
        if folded(question["evidence"]) in folded(chunk.text):
            return True
        return bool(chunk.heading_path) and folded(chunk.heading_path[-1]) == folded(question["section"])
    return any(is_page(chunk.url, other) for other in others)


def measured(runtime: Runtime, name: str, questions: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each answerable question of a site."""
    site = runtime.stores.sites.get(name)
    pipeline = runtime.engine.pipeline(site)
    chunks = list(runtime.stores.content(name).every_chunk())
    for one in questions:
        if not one["expected_urls"]:
            continue
        evidence, first = folded(one["evidence"]), one["expected_urls"][0]
        held = any(
            is_page(chunk.url, first)
            and evidence in folded(f"{chunk.heading}\n{chunk.text}")
            and under_heading(chunk, one["section"])
            for chunk in chunks
        )
        said = [entry["content"] for entry in one["history"]]
        turns = tuple(
            Turn(asked, answer, asked, one["lang"])
            for asked, answer in zip(said[::2], said[1::2], strict=False)
        )
        found = pipeline.search(Question(one["question"], name, turns, one["lang"]), 10)
        ranks = [place for place, hit in enumerate(found, 1) if is_gold(hit.chunk, one)]
        pages = list(dict.fromkeys(path_of(hit.chunk.url) for hit in found))
        wanted = {path_of(url) for url in one["expected_urls"]}
        page_rank = next((place for place, page in enumerate(pages, 1) if page in wanted), 0)
        rank = min(ranks, default=0)
        yield Row(name, half_of(one["id"]), one["type"], one["question"], held, rank, page_rank)


def crawl(folder: Path, values: dict[str, str]) -> None:
    """Crawl one site under the name of its folder."""
    with website(folder / "html") as start:
        command = [sys.executable, "-m", "server", "crawl", start, "--site", folder.name, "--allow-private"]
        subprocess.run(command, cwd=ROOT, env=os.environ | values, check=True, stderr=subprocess.DEVNULL)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':34} {'n':>4} {'held':>6} {'first':>6} {'three':>6} {'page':>6}"
    groups: dict[str, list[Row]] = {}
    for row in rows:
        same = [] if row.kind == "cross_lingual" else [f"all, same language, {row.half}"]
        for name in (f"{row.site}, {row.half}", f"type {row.kind}", *same):
            groups.setdefault(name, []).append(row)
    for name in sorted(groups):
        some = groups[name]
        shares = (
            sum(row.held for row in some),
            sum(row.rank == 1 for row in some),
            sum(1 <= row.rank <= 3 for row in some),
            sum(1 <= row.page_rank <= 5 for row in some),
        )
        figures = " ".join(f"{share / len(some):6.2f}" for share in shares)
        yield f"{name:34} {len(some):4} {figures}"


def main() -> None:
    """Print the table, and with `--misses` the questions of the tuned half that missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--data", type=Path, help="data folder to keep; a site in it is not crawled again")
    parser.add_argument("--misses", action="store_true", help="list the misses of the tuned half")
    given = parser.parse_args()
    given.folders = [folder for folder in given.folders if (folder / "questions.jsonl").is_file()]
    with tempfile.TemporaryDirectory() as temporary:
        values = {"DATA_DIR": str(given.data or temporary), "LOG_LEVEL": "error"}
        runtime = open_runtime(load_settings(values))
        known = {site.id for site in runtime.stores.sites.all() if site.generation}
        runtime.close()
        for folder in given.folders:
            if folder.name not in known:
                crawl(folder, values)
        runtime = open_runtime(load_settings(values))
        rows: list[Row] = []
        for folder in given.folders:
            lines = (folder / "questions.jsonl").read_text().splitlines()
            rows.extend(measured(runtime, folder.name, [json.loads(line) for line in lines if line.strip()]))
        runtime.close()
    rows = [row for row in rows if given.half in (None, row.half)]
    print("\n".join(table(rows)))
    if given.misses:
        for row in rows:
            if row.half == "tuned" and not (row.held and row.rank == 1):
                print(f"{row.site:18} {row.kind:13} held {row.held:d} rank {row.rank:2} {row.question}")


if __name__ == "__main__":
    main()
