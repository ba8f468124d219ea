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

import json
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.command_line import argument_parser
from benchmarks.web_server import crawl, website
from server.domain.chunk import Chunk, ScoredChunk
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


def is_expected(url: str, wanted: str) -> bool:
    """Return whether the address is that of an expected page, which may be named from any folder of it on."""
    page = "/" + path_of(url).removesuffix(".en")
    return is_page(url, wanted) or page.endswith(f"/{wanted.lstrip('/')}")


def page_rank(found: Sequence[ScoredChunk], wanted: Sequence[str]) -> int:
    """Return the place of the first expected page among the pages found, from 1; 0 for none."""
    pages = dict.fromkeys(path_of(hit.chunk.url) for hit in found)
    paths = {path_of(url) for url in wanted}
    return next((place for place, page in enumerate(pages, 1) if page in paths), 0)


def turns_of(question: dict[str, Any]) -> tuple[Turn, ...]:
    """Return the earlier turns of a question."""
    said = [turn.get("content") for turn in question.get("history") or () if "content" in turn]
    pairs = list(zip(said[::2], said[1::2], strict=False)) or [
        (turn["question"], turn["answer"]) for turn in question.get("history") or ()
    ]
    return tuple(Turn(asked, answer, asked, question["lang"]) for asked, answer in pairs)


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one JSON object a line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


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
        found = pipeline.search(Question(one["question"], name, turns_of(one), one["lang"]), 10)
        ranks = [place for place, hit in enumerate(found, 1) if is_gold(hit.chunk, one)]
        rank, of_page = min(ranks, default=0), page_rank(found, one["expected_urls"])
        yield Row(name, half_of(one["id"]), one["type"], one["question"], held, rank, of_page)


@contextmanager
def crawled_sites(folders: Sequence[Path], data: Path | None) -> Iterator[Runtime]:
    """The data folder, or a temporary one, opened once the site of each folder is in it under the folder's
    name. No answer comes from the cache."""
    with tempfile.TemporaryDirectory() as temporary:
        values = {"DATA_DIR": str(data or temporary), "LOG_LEVEL": "error", "TUNE_ANSWER_CACHE": "0"}
        with closing(open_runtime(load_settings(values))) as runtime:
            known = {site.id for site in runtime.stores.sites.all() if site.generation}
        for folder in folders:
            if folder.name not in known:
                with website(folder / "html") as start:
                    crawl(start, folder.name, values)
        with closing(open_runtime(load_settings(values))) as runtime:
            yield runtime


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
    parser = argument_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--data", type=Path, help="data folder to keep; a site in it is not crawled again")
    parser.add_argument("--misses", action="store_true", help="list the misses of the tuned half")
    given = parser.parse_args()
    given.folders = [folder for folder in given.folders if (folder / "questions.jsonl").is_file()]
    rows: list[Row] = []
    with crawled_sites(given.folders, given.data) as runtime:
        for folder in given.folders:
            rows.extend(measured(runtime, folder.name, read_rows(folder / "questions.jsonl")))
    rows = [row for row in rows if given.half in (None, row.half)]
    print("\n".join(table(rows)))
    if given.misses:
        for row in rows:
            if row.half == "tuned" and not (row.held and row.rank == 1):
                print(f"{row.site:18} {row.kind:13} held {row.held:d} rank {row.rank:2} {row.question}")


if __name__ == "__main__":
    main()
