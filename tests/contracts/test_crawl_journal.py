"""What a crawl remembers of itself, in the database and in a file: the same promises."""

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.journal import READ, WAITING, FileJournal, JournalEntry
from server.domain.site import Site
from server.storage.crawls.journal import BATCH, CrawlJournal
from server.storage.crawls.runs import CrawlStore
from server.storage.database import Database
from server.storage.errors import UnknownRecord
from server.storage.sites.sites import SiteStore
from tests.crawl_runs import begin_crawl

ROOT = "https://shop.example"


@pytest.fixture(params=["sqlite", "postgresql", "file"])
def reopen(request, tmp_path):
    """Opens the journal of one crawl: each time as another process would."""
    if request.param == "file":
        return _files(tmp_path / "crawl.journal", request)
    database = _database(request, tmp_path)
    SiteStore(database).create(Site("shop", "Shop", "", (f"{ROOT}/",)))
    crawl_id = begin_crawl(CrawlStore(database), "shop")
    return lambda: CrawlJournal(database, crawl_id)


def _files(path, request):
    opened = []

    def reopen():
        for journal in opened:
            journal.close()
        opened[:] = [FileJournal(path)]
        return opened[0]

    request.addfinalizer(lambda: [journal.close() for journal in opened])
    return reopen


def _database(request, tmp_path):
    if request.param == "sqlite":
        file = shutil.copyfile(request.getfixturevalue("migrated_sqlite"), tmp_path / "docent.db")
        url = f"sqlite:///{file}"
    else:
        url = request.getfixturevalue("new_migrated_postgresql")()
    database = Database(url)
    request.addfinalizer(database.close)
    return database


@pytest.fixture
def journal(reopen):
    return reopen()


def entry(path, depth=0, **values):
    return JournalEntry(f"{ROOT}/{path}", depth, **values)


def test_what_was_written_comes_back_whole_and_lowest_depth_first(journal, reopen):
    written = [
        entry("deep", 3, hops=2, found_on=f"{ROOT}/", state="gone", reason='says "gone" – 410', status=410),
        entry("", 0, state="fetched", status=200, content_hash="ab" * 32, fingerprint=-(2**63), visit="{}"),
        entry("b", 1, state=READ, fingerprint=2**63 - 1, visit='{"page": "Straße 東京"}'),
        entry("a", 1),
    ]
    journal.write(written)
    back = list(reopen().entries())
    assert [found.depth for found in back] == [0, 1, 1, 3]
    assert sorted(back, key=repr) == sorted(written, key=repr)


def test_an_entry_of_the_same_address_is_replaced(journal, reopen):
    journal.write([entry("a"), entry("b")])
    journal.write([entry("a", 1, state="fetched", visit="text")])
    journal.write([])
    assert {found.url[-1]: found.state for found in reopen().entries()} == {"a": "fetched", "b": WAITING}


def test_a_settled_entry_loses_its_visit_and_nothing_else(journal, reopen):
    kept = entry("a", 2, state="fetched", status=200, content_hash="ff", fingerprint=7, visit="long")
    journal.write([kept, entry("b", state="fetched", visit="long")])
    journal.settle([f"{ROOT}/a", f"{ROOT}/unknown"])
    journal.settle([])
    found = {found.url[-1]: found for found in reopen().entries()}
    assert found["a"] == replace(kept, visit="", settled=True)
    assert (found["b"].visit, found["b"].settled) == ("long", False)


def test_notes_are_remembered_and_replaced(journal, reopen):
    assert journal.notes() == {}
    journal.note("template", "first")
    journal.note("template", "x" * 100_000)
    journal.note("other", "")
    assert reopen().notes() == {"template": "x" * 100_000, "other": ""}


def test_more_than_one_batch_is_read_once_each(journal, reopen):
    many = [entry(f"{number:05}", number % 3) for number in range(BATCH + 7)]
    journal.write(many)
    journal.settle([found.url for found in many[: BATCH + 3]])
    back = list(reopen().entries())
    assert [found.depth for found in back] == sorted(found.depth for found in many)
    assert {found.url for found in back} == {found.url for found in many}
    assert sum(found.settled for found in back) == BATCH + 3


def test_a_journal_is_written_while_it_is_read(journal):
    journal.write([entry(f"{number}") for number in range(10)])
    reading = journal.entries()
    next(reading)
    journal.write([entry("new", 1)])
    journal.settle([f"{ROOT}/3"])
    assert len(list(reading)) >= 9


def test_crawls_do_not_mix(database):
    SiteStore(database).create(Site("shop", "Shop", "", (f"{ROOT}/",)))
    crawls = CrawlStore(database)
    one, other = (CrawlJournal(database, begin_crawl(crawls, "shop")) for _ in range(2))
    one.write([entry("a", visit="x")])
    one.note("template", "one")
    other.settle([f"{ROOT}/a"])
    assert [found.visit for found in one.entries()] == ["x"]
    assert (list(other.entries()), other.notes()) == ([], {})


def test_the_journal_of_a_deleted_crawl_says_so(database):
    lost = CrawlJournal(database, 99)
    for write in (lambda: lost.write([entry("a")]), lambda: lost.note("a", "b")):
        with pytest.raises(UnknownRecord, match="crawl 99"):
            write()
    assert list(lost.entries()) == []


KILLED = """
import sys
from crawler.journal import JournalEntry
from server.storage.crawls.journal import CrawlJournal
from server.storage.database import Database

journal = CrawlJournal(Database(sys.argv[1]), int(sys.argv[2]))
number = 0
while True:
    urls = [f"https://shop.example/{number}/{part}" for part in range(50)]
    journal.write([JournalEntry(url, 1, visit="x" * 2000) for url in urls])
    journal.settle(urls)
    number += 1
    print(number, flush=True)
"""


def test_what_a_call_wrote_survives_kill_9_and_no_call_is_there_by_half(database, database_url):
    SiteStore(database).create(Site("shop", "Shop", "", (f"{ROOT}/",)))
    crawl_id = begin_crawl(CrawlStore(database), "shop")
    code = [sys.executable, "-c", KILLED, database_url, str(crawl_id)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(code, stdout=subprocess.PIPE, text=True, cwd=root) as writer:
        told = [writer.stdout.readline() for _ in range(10)]
        writer.kill()
        told += writer.stdout.readlines()
    found = list(CrawlJournal(database, crawl_id).entries())
    parts = Counter(entry.url.split("/")[3] for entry in found)
    assert set(parts.values()) == {50}
    settled = Counter(entry.url.split("/")[3] for entry in found if entry.settled)
    assert set(settled.values()) == {50}
    assert len(settled) >= len([line for line in told if line.endswith("\n")])
