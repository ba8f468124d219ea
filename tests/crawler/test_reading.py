"""Where pages are read: here, or in processes that a big crawl is worth."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crawler.errors import BadFile
from crawler.extractors import SourceDocument
from crawler.reading import AUTOMATIC, PageReader
from tests.crawler.conftest import html


def source(number: int) -> SourceDocument:
    return SourceDocument(
        f"https://example.com/{number}", html(f"Page {number}", "Some words to read.").encode()
    )


@pytest.fixture
def reader():
    made: list[PageReader] = []

    def make(*args, **kwargs) -> PageReader:
        made.append(PageReader(*args, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.close()


def helpers(one: PageReader) -> list[int]:
    return list(one._pool._processes) if one._pool is not None and one._pool._processes else []


def wait_until_helped(one: PageReader) -> None:
    deadline = time.monotonic() + 30
    while not all(future.done() for future in one._starting) and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_small_crawl_starts_no_process(reader) -> None:
    one = reader(2, big_crawl=5)
    for number in range(5):
        assert one.read(source(number)).page.title == f"Page {number}"
    assert helpers(one) == []


def test_a_big_crawl_is_read_in_helpers_too_and_nothing_is_lost(reader) -> None:
    one = reader(1, big_crawl=3)
    for number in range(4):
        one.read(source(number))
    assert len(helpers(one)) == 1
    wait_until_helped(one)
    with ThreadPoolExecutor(6) as threads:
        titles = list(threads.map(lambda number: one.read(source(number)).page.title, range(60)))
    assert titles == [f"Page {number}" for number in range(60)]


def test_zero_reads_here_however_big_the_crawl_is(reader) -> None:
    one = reader(0, big_crawl=1)
    for number in range(4):
        one.read(source(number))
    assert helpers(one) == []


def test_automatic_leaves_one_core_to_the_threads(reader) -> None:
    assert reader(AUTOMATIC)._processes == len(os.sched_getaffinity(0)) - 1


def test_a_helper_that_is_killed_costs_its_page_at_most(reader) -> None:
    one = reader(1, big_crawl=0)
    one.read(source(0))
    wait_until_helped(one)
    (pid,) = helpers(one)
    os.kill(pid, 9)
    lost = 0
    for number in range(10):
        try:
            assert one.read(source(number)).page.title == f"Page {number}"
        except BadFile:
            lost += 1
    assert lost <= 1


def test_markup_that_no_extractor_reads_is_an_error_in_words(reader) -> None:
    for one in (reader(0), reader(1, big_crawl=0)):
        with pytest.raises(BadFile, match="KeyError"):
            one.read(SourceDocument("https://example.com/", b"x", content_type="video/mp4"))


def test_closing_does_not_wait(reader) -> None:
    one = reader(1, big_crawl=0)
    one.read(source(0))
    began = time.monotonic()
    one.close()
    assert time.monotonic() - began < 5
    assert one.read(source(1)).page.title == "Page 1"


def test_helpers_end_when_the_crawl_is_killed(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "from crawler.extractors import SourceDocument\n"
        "from crawler.reading import PageReader\n"
        "if __name__ == '__main__':\n"
        "    one = PageReader(1, big_crawl=0)\n"
        "    one.read(SourceDocument('https://example.com/', b'<p>x', content_type='text/html'))\n"
        "    [future.result() for future in one._starting]\n"
        "    print(*one._pool._processes, flush=True)\n"
        "    time.sleep(60)\n"
    )
    script = tmp_path / "crawl.py"  # alone in its folder: Python imports what lies next to a script
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    crawl = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert crawl.stdout is not None
    pid = int(crawl.stdout.readline())
    crawl.kill()
    crawl.wait()
    crawl.stdout.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < deadline:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{pid}").exists()
