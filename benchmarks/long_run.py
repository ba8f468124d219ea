"""Whether anything grows: a server under load with crawls, edited pages and backups, sampled every minute.

    python -m benchmarks.long_run [--minutes 60] [--rate 2] [--every 60] [--json long_run.json]

The real server answers for a small made website. Visitors of benchmarks.load come at --rate a second. Every
minute some pages of the website change and one more is added, another disappears, the site is crawled again,
an operator corrects a page, and a backup is written. Sampled are memory (PSS), open file handles and threads
of every process of the server, and the disk of its folder.

At the end, each figure has its slope over the second half of the samples with the 95% confidence interval. A
figure levels off when that interval does not lie above 0, or when an hour at this slope adds less than a
twentieth of it. Stored conversations make the disk grow: it is printed per question too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.command_line import argument_parser
from benchmarks.load import Seen, Visitors
from benchmarks.processes import disk_mb, family, use
from benchmarks.question_path import SITE, headings
from benchmarks.scale import Words
from benchmarks.web_load import percentile
from benchmarks.web_server import ROOT, crawl, running, server_values, website
from server.runtime.runtime import Runtime, open_runtime
from server.settings.reading import load_settings

PAGES = 30
CHANGED = 5
"""Pages that change every minute."""
SMALL = 0.05
"""Growth in an hour, as a share, that counts as none."""


class Website:
    """A folder of made pages that changes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._words = folder, Words()
        self._first, self._made = 0, 0
        for _ in range(PAGES):
            self._add()

    def change(self) -> None:
        """Rewrite some pages, add one and remove the oldest."""
        for number in range(self._first + 1, self._first + 1 + CHANGED):
            self._write(number, seed=self._made * 1000 + number)
        self._add()
        (self.folder / f"page-{self._first}.html").unlink()
        self._first += 1
        self._list()

    def _add(self) -> None:
        self._write(self._made, seed=self._made)
        self._made += 1
        self._list()

    def _write(self, number: int, seed: int) -> None:
        page = self._words.page(seed)
        parts = "".join(f"<h2>{block.heading_path[0]}</h2><p>{block.text}</p>" for block in page.blocks)
        self._put(f"page-{number}.html", page.title, f"<h1>{page.title}</h1>{parts}")

    def _list(self) -> None:
        numbers = range(self._first, self._made)
        links = (f'<li><a href="page-{number}.html">Page {number}</a></li>' for number in numbers)
        self._put("index.html", "Pages", f"<ul>{''.join(links)}</ul>")

    def _put(self, name: str, title: str, body: str) -> None:
        start = f'<!DOCTYPE html><html lang="en"><head><title>{title}</title></head><body>'
        (self.folder / name).write_text(f"{start}<main>{body}</main></body></html>")


@dataclass
class Samples:
    """Figures by name, each with its minutes."""

    values: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def take(self, minute: float, server: int, folder: Path) -> None:
        together: dict[str, float] = defaultdict(float)
        for process in sorted(family(server)):
            if found := use(process):
                figures = {"memory MB": found.pss_mb, "handles": found.handles, "threads": found.threads}
                for name, value in figures.items():
                    self.values[f"{found.name} ({process}): {name}"].append((minute, value))
                    together[f"all processes: {name}"] += value
        for name, value in {**together, "disk MB": disk_mb(folder)}.items():
            self.values[name].append((minute, value))

    def verdicts(self) -> list[dict[str, object]]:
        """Slope over the second half of each figure that was there from the beginning of that half."""
        last = max(minute for taken in self.values.values() for minute, _ in taken)
        found = []
        for name, taken in self.values.items():
            late = [(minute, value) for minute, value in taken if minute >= last / 2]
            if len(late) < 3 or taken[-1][0] < last or taken[0][0] > last / 2:
                continue
            minutes, values = np.array(late).T
            fit = stats.linregress(minutes, values)
            wide = float(fit.stderr * stats.t.ppf(0.975, len(late) - 2))
            slope = float(fit.slope)
            levels_off = slope <= wide or 60 * slope < SMALL * float(values.mean())
            figures = {"first": taken[0][1], "last": taken[-1][1], "most": max(value for _, value in taken)}
            figures |= {"per_hour": 60 * slope, "per_hour_95": 60 * wide}
            rounded = {key: round(value, 1) for key, value in figures.items()}
            found.append({"what": name, **rounded, "levels_off": levels_off})
        return found


def work(
    runtime: Runtime, site: Website, values: dict[str, str], folder: Path, ends: float
) -> dict[str, int]:
    """Change the website, crawl it, correct a page and write a backup, once a minute until the end."""
    done: dict[str, int] = defaultdict(int)
    while time.monotonic() < ends:
        began = time.monotonic()
        site.change()
        runtime.crawling.start(SITE)
        pages = [page for page in runtime.stores.content(SITE).pages(limit=20) if page.url.endswith(".html")]
        if pages:
            page = pages[-1]
            texts = runtime.crawling.pages.texts(SITE, page.url)
            edit = f"{texts.text}\n\nCorrected {done['edits']} times."
            runtime.crawling.pages.edit(SITE, page.url, texts.title, edit, "", "ada@example.com")
            done["edits"] += 1
        command = [sys.executable, "-m", "server", "backup", str(folder / "backup.zip")]
        subprocess.run(command, cwd=ROOT, env=os.environ | values, check=True, stdout=subprocess.DEVNULL)
        done["backups"] += 1
        time.sleep(max(0.0, min(ends - time.monotonic(), 60 - (time.monotonic() - began))))
    done["crawls"] = len([run for run in runtime.stores.crawls.history(SITE, 1000) if run.state == "done"])
    return dict(done)


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=2, help="visitors a second")
    parser.add_argument("--every", type=float, default=60, help="seconds between two samples")
    parser.add_argument("--json", type=Path, default=Path("long_run.json"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data, pages, backups = (Path(name) / one for one in ("data", "pages", "backups"))
        for folder in (data, pages, backups):
            folder.mkdir()
        made = Website(pages)
        with website(pages) as start:
            values = server_values(data)
            crawl(start, SITE, values)
            questions = headings(values)
            with running(values) as (address, server):
                runtime = open_runtime(load_settings(values))
                samples, seen, began = Samples(), Seen(), time.monotonic()
                ends = began + 60 * given.minutes
                done: dict[str, int] = {}

                def load() -> None:
                    visitors = Visitors([address], SITE, questions)
                    asyncio.run(visitors.arrive(given.rate, 60 * given.minutes, seen))

                def change() -> None:
                    done.update(work(runtime, made, values, backups, ends))

                threads = [threading.Thread(target=one, daemon=True) for one in (load, change)]
                for thread in threads:
                    thread.start()
                while time.monotonic() < ends:
                    minute = (time.monotonic() - began) / 60
                    samples.take(minute, server, data)
                    shown = {name: round(taken[-1][1]) for name, taken in samples.values.items()}
                    short = {key: value for key, value in shown.items() if key.startswith(("all", "disk"))}
                    print(f"minute {minute:5.1f} {short}, {len(seen.whole_s)} answers", flush=True)
                    time.sleep(given.every)
                for thread in threads:
                    thread.join(120)
                samples.take((time.monotonic() - began) / 60, server, data)
                runtime.close()
    report(given, samples, seen, done)


def report(given: argparse.Namespace, samples: Samples, seen: Seen, done: dict[str, int]) -> None:
    verdicts = samples.verdicts()
    for row in verdicts:
        mark = "levels off" if row["levels_off"] else "GROWS"
        print(
            f"{row['what']!s:64} first {row['first']:>8} last {row['last']:>8} most {row['most']:>8} "
            f"per hour {row['per_hour']:>8} ± {row['per_hour_95']:<8} {mark}"
        )
    answers = seen.row(given.rate)
    disk = samples.values["disk MB"]
    per_question = 1000 * (disk[-1][1] - disk[0][1]) / max(1, len(seen.whole_s))
    print(f"{answers} {done}; disk per question: {per_question:.1f} kB; p99 of the first sentence: "
          f"{percentile(seen.first_sentence_s or [0], 0.99):.2f} s")  # fmt: skip
    given.json.write_text(
        json.dumps(
            {"figures": verdicts, "answers": answers, "work": done, "samples": samples.values}, indent=1
        )
    )
    print(f"all figures: {given.json}")


if __name__ == "__main__":
    main()
