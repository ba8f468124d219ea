"""A crawl that is cut off goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from crawler.crawl import crawl
from crawler.journal import FileJournal, JournalEntry
from crawler.report import HAS_PAGE
from tests.crawler.conftest import html

ROOT = Path(__file__).parents[2]
PAGES = 60


@pytest.fixture
def slow_site(site):
    """A home page that links to PAGES pages, each of which takes a moment."""
    links = tuple(f"/page/{number}" for number in range(PAGES))
    site.page("/", html("Home", "Welcome to the garden.", links=links))
    for number in range(PAGES):
        site.page(f"/page/{number}", html(f"Page {number}", f"What page {number} says of plant {number}."))
    answer = site.answer

    def slowly(handler) -> None:
        time.sleep(0.05)
        answer(handler)

    site.answer = slowly
    return site


def command(site, folder: Path, *more: str) -> list[str]:
    files = ["--out", str(folder / "pages.jsonl"), "--state", str(folder / "state.sqlite3")]
    limits = ["--concurrency", "2", "--allow-private", "--quiet"]
    return [sys.executable, "-m", "crawler", site.url("/"), *files, *limits, *more]


def written_urls(folder: Path) -> list[str]:
    return [json.loads(line)["url"] for line in (folder / "pages.jsonl").read_text().splitlines()]


def test_a_crawl_that_goes_on_leaves_a_file_alone_that_no_crawl_wrote(site, tmp_path: Path) -> None:
    site.page("/", html("Home", "Welcome to the garden."))
    journal = FileJournal(tmp_path / "state.sqlite3")
    journal.write([JournalEntry(site.url("/"), 0)])
    journal.close()
    notes = tmp_path / "pages.jsonl"
    notes.write_text("water the plants\nand the last line has no end")
    done = subprocess.run(command(site, tmp_path), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{notes} has lines that no crawl wrote" in done.stderr
    assert "Traceback" not in done.stderr
    assert notes.read_text().endswith("no end")


@pytest.mark.parametrize("requests_before_the_kill", [3, 20, 45])
def test_after_kill_9_every_page_is_written_once_and_none_is_fetched_again(
    slow_site, tmp_path: Path, requests_before_the_kill: int
) -> None:
    running = subprocess.Popen(command(slow_site, tmp_path), cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(slow_site.requests) < requests_before_the_kill and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    before = len(slow_site.requests)
    assert before < PAGES
    done = subprocess.run(command(slow_site, tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Resuming the crawl" in done.stderr
    found = Counter(written_urls(tmp_path))
    assert set(found.values()) == {1}
    assert len(found) == PAGES + 1
    asked = Counter(path for path, _ in slow_site.requests if path.startswith("/page/"))
    again = [path for path, times in asked.items() if times > 1]
    assert len(again) <= 4, "only what was under way may be asked for again"


def test_a_crawl_that_is_over_begins_anew(slow_site, tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run(command(slow_site, tmp_path), cwd=ROOT, capture_output=True, timeout=60)
        assert done.returncode == 0
        assert len(written_urls(tmp_path)) == PAGES + 1
    assert slow_site.hits("/page/1") == 2


def test_ctrl_c_says_how_to_go_on(slow_site, tmp_path: Path) -> None:
    answer = slow_site.answer

    def slower(handler) -> None:
        time.sleep(0.5 if len(slow_site.requests) > 5 else 0)
        answer(handler)

    slow_site.answer = slower
    running = subprocess.Popen(
        command(slow_site, tmp_path), cwd=ROOT, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells have background jobs ignore it
    )  # fmt: skip
    while len(slow_site.requests) < 5:
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "Run the same command to resume" in said


def test_outcomes_that_were_not_settled_are_handed_out_again_without_a_request(
    site, options, tmp_path
) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/b", "/gone")))
    for path in "ab":
        site.page(f"/{path}", html(path, f"Page {path}."))
    journal = FileJournal(tmp_path / "journal")
    first = {outcome.url: outcome for outcome in crawl(options(), journal=journal)}
    asked = len([path for path, _ in site.requests if path != "/robots.txt"])
    journal.settle([site.url("/a")])
    again = {outcome.url: outcome for outcome in crawl(options(use_sitemaps=False), journal=journal)}
    assert len([path for path, _ in site.requests if path != "/robots.txt"]) == asked
    assert again == {url: outcome for url, outcome in first.items() if url != site.url("/a")}


def test_the_page_limit_counts_what_was_read_before(slow_site, options, tmp_path) -> None:
    journal = FileJournal(tmp_path / "journal")
    stop, pages = threading.Event(), []
    for _ in range(2):
        for outcome in crawl(options(max_pages=30), stop=stop, journal=journal):
            if outcome.state in HAS_PAGE:
                pages.append(outcome.url)
            journal.settle([outcome.url])
            if len(pages) == 25:
                stop.set()
        stop = threading.Event()
    assert len(pages) == len(set(pages)) == 30


def test_a_duplicate_of_a_page_from_before_the_cut_is_still_one(site, options, tmp_path) -> None:
    journal = FileJournal(tmp_path / "journal")
    site.page("/", html("Home", "Welcome.", links=("/original",)))
    site.page("/original", html("Roses", "How to cut roses."))
    for outcome in crawl(options(), journal=journal):
        journal.settle([outcome.url])
    journal.write([JournalEntry(site.url("/copy"), 1)])
    site.page("/copy", html("Roses", "How to cut roses."))
    ends = {outcome.url: outcome for outcome in crawl(options(), journal=journal)}
    assert ends[site.url("/copy")].reason == f"same content as {site.url('/original')}"


def test_a_file_that_is_no_journal_says_so(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("Not a journal. " * 100)
    done = subprocess.run(
        [sys.executable, "-m", "crawler", "https://example.com", "--out", "-", "--state", str(other)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "give another file" in done.stderr
