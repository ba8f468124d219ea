"""`python -m crawler` as somebody at a shell sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawler.conftest import html

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crawler", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_pages_are_written_one_a_line(site, tmp_path) -> None:
    site.page("/", html("Home", "Welcome — 您好.", links=("/a", "/gone")))
    site.page("/a", html("A", "Text of a."))
    out, report = tmp_path / "pages.jsonl", tmp_path / "report.jsonl"
    done = run(site.url(), "--out", str(out), "--report", str(report), "--allow-private")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 pages, 3 of 3 addresses done" in done.stderr
    pages = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert sorted(page["title"] for page in pages) == ["A", "Home"]
    assert any("您好" in page["blocks"][0]["text"] for page in pages)
    ends = {row["url"]: row["state"] for row in map(json.loads, report.read_text("utf-8").splitlines())}
    assert ends[site.url("/gone")] == "gone"


def test_a_dash_writes_to_standard_output(site) -> None:
    site.page("/", html("Home", "Welcome."))
    done = run(site.url(), "--out", "-", "--allow-private", "--max-pages", "1")
    assert json.loads(done.stdout)["title"] == "Home"


def test_loopback_is_refused_with_the_way_out(site) -> None:
    done = run(site.url(), "--out", "-")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "CRAWL_ALLOW_PRIVATE=1" in done.stderr
    assert "--allow-private" in done.stderr
    assert site.requests == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("http://127.0.0.1:9/",), "connection refused"),
        (("http://no-such-host.invalid/",), "was not found"),
    ],
)
def test_an_unreachable_start_is_said_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments, "--out", "-", "--allow-private")
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_start_that_is_no_html_or_empty_says_what_to_do(site) -> None:
    site.page("/", b"GIF89a", content_type="image/gif")
    site.page("/empty", "<html><body><div id=root></div></body></html>")
    picture = run(site.url(), "--out", "-", "--allow-private")
    assert picture.returncode == 1
    assert "image/gif, not a web page. Start from an HTML page." in picture.stderr
    empty = run(site.url("/empty"), "--out", "-", "--allow-private")
    assert empty.returncode == 1
    assert "JavaScript" in empty.stderr


def test_wrong_arguments_are_named(tmp_path) -> None:
    assert "only http:// and https://" in run("ftp://example.com", "--out", "-").stderr
    assert (
        "max_pages should be greater than or equal to 1"
        in run("https://example.com", "--out", "-", "--max-pages", "0").stderr
    )
    missing = run("http://127.0.0.1:9/", "--allow-private", "--out", str(tmp_path / "no" / "such" / "folder"))
    assert (missing.returncode, "Cannot write" in missing.stderr) == (2, True)


def test_help_names_every_option() -> None:
    done = run("--help")
    assert done.returncode == 0
    for option in (
        "--out",
        "--max-pages",
        "--max-depth",
        "--allow-private",
        "--include",
        "--exclude",
        "--delay",
        "--concurrency",
    ):
        assert option in done.stdout
