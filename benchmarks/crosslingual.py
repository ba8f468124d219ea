"""Whether a question in another language than the site's finds its page among the first five.

    python -m benchmarks.crosslingual [FOLDER ...] [--data DIR] [--half tuned|aside] [--misses]

The questions are those of benchmarks/questions/crosslingual.jsonl, and those of type cross_lingual in the
FOLDERs' `questions.jsonl`. A FOLDER holds `html/`, the root of a website whose name is that of the folder;
the site "docs" is this repository's documentation. No chat model is asked. The id of a question decides its
half: one to tune on, one to set aside. Printed for each half, type, site and pair of languages: the share
whose page is among the first five, and the share whose page is the first; then the processor time of turning
a question into its query.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command_line import argument_parser
from benchmarks.visitor_sites import HALVES, crawled_sites, half_of, page_rank, read_rows
from benchmarks.web_server import ROOT
from server.answering.understanding.language import question_language
from server.api.docs.docs import DocsLibrary
from server.domain.question import Question
from server.runtime.runtime import Runtime

QUESTIONS = ROOT / "benchmarks" / "questions" / "crosslingual.jsonl"


@dataclass(frozen=True)
class Row:
    """One question and the place of its page."""

    site: str
    half: str
    pair: str
    kind: str
    question: str
    query: str
    rank: int
    """Of the first expected page, from 1; 0 for none among ten chunks."""
    milliseconds: float


def questions_of(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the questions of the repository and of the folders."""
    rows = read_rows(QUESTIONS)
    for folder in folders:
        own = read_rows(folder / "questions.jsonl")
        rows += [{**row, "site": folder.name} for row in own if row["type"] == "cross_lingual"]
    known = {"docs", *(folder.name for folder in folders)}
    return [row for row in rows if row["site"] in known and row["expected_urls"]]


def write_docs(folder: Path) -> Path:
    """Write this repository's documentation as the pages of a website."""
    pages = DocsLibrary().pages()
    root = folder / "docs" / "html"
    root.mkdir(parents=True)
    for page in pages:
        head = f'<html lang="en"><head><title>{page.title}</title></head>'
        text = f"{head}<body><main>{page.html}</main></body></html>"
        (root / f"{page.name}.html").write_text(text, encoding="utf-8")
    return root.parent


def measured(runtime: Runtime, one: dict[str, Any]) -> Row:
    """Search for a question as the chat does."""
    site = runtime.stores.sites.get(one["site"])
    pipeline = runtime.engine.pipeline(site)
    language = question_language(one["question"], site.language or "en")
    question = Question(one["question"], site.id, (), language)
    query = pipeline.rewrite(question)
    started = time.process_time()
    pipeline.rewrite(question)
    spent = time.process_time() - started
    found = pipeline.search(question, 10)
    rank = page_rank(found, one["expected_urls"])
    pair = f"{one['lang']} to {site.language or 'en'}"
    half = half_of(one["id"])
    return Row(site.id, half, pair, one["type"], one["question"], query.text, rank, 1000 * spent)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':30} {'n':>4} {'five':>6} {'first':>6}"
    groups: dict[str, list[Row]] = {}
    for row in rows:
        for name in (
            f"all, {row.half}",
            f"type {row.kind}, {row.half}",
            f"{row.site}, {row.half}",
            f"{row.pair}, {row.half}",
        ):
            groups.setdefault(name, []).append(row)
    for name in sorted(groups):
        some = groups[name]
        shares = (sum(1 <= row.rank <= 5 for row in some), sum(row.rank == 1 for row in some))
        yield f"{name:30} {len(some):4} " + " ".join(f"{share / len(some):6.2f}" for share in shares)
    times = sorted(row.milliseconds for row in rows)
    yield f"milliseconds to a query: median {median(times):.1f}, most {times[-1]:.1f}"


def main() -> None:
    """Print the table, and with `--misses` the questions of the tuned half that missed."""
    parser = argument_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--data", type=Path, help="data folder to keep; a site in it is not crawled again")
    parser.add_argument("--misses", action="store_true", help="list the misses of the tuned half")
    given = parser.parse_args()
    given.folders = [folder for folder in given.folders if (folder / "questions.jsonl").is_file()]
    with tempfile.TemporaryDirectory() as temporary:
        folders = [write_docs(Path(temporary)), *given.folders]
        with crawled_sites(folders, given.data) as runtime:
            rows = [measured(runtime, one) for one in questions_of(given.folders)]
    rows = [row for row in rows if given.half in (None, row.half)]
    print("\n".join(table(rows)))
    if given.misses:
        for row in rows:
            if row.half == "tuned" and not 1 <= row.rank <= 5:
                print(f"{row.site:18} {row.pair:9} {row.question}\n{'':28} {row.query}")


if __name__ == "__main__":
    main()
