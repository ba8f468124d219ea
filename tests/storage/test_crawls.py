"""Crawls are on record: how far they came and what became of each address."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from crawler.journal import JournalEntry
from server.storage.columns import now
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import KEPT_CRAWLS, CrawlStore
from server.storage.errors import UnknownRecord, UnknownSite
from server.storage.leases import LEASE_S, new_holder
from server.storage.schema.sites import crawls as crawl_table
from server.storage.sites.sites import SiteStore
from tests.crawl_runs import begin_crawl


@pytest.fixture
def crawls(database):
    return CrawlStore(database)


def test_a_crawl_is_followed_from_start_to_end(crawls, site):
    assert crawls.latest("shop") is None
    id = begin_crawl(crawls, "shop")
    running = crawls.latest("shop")
    assert (running.id, running.site_id, running.state, running.finished_at) == (id, "shop", "running", None)
    crawls.progress(id, found=9, fetched=5, indexed=3)
    crawls.finish(id, "done", "3 pages indexed")
    done = crawls.latest("shop")
    assert (done.found, done.fetched, done.indexed) == (9, 5, 3)
    assert (done.state, done.message, done.counts) == ("done", "3 pages indexed", {})
    assert done.finished_at >= done.started_at


def test_the_crawl_that_waits_is_the_one_that_starts(crawls, site):
    id = crawls.wait("shop")
    assert crawls.wait("shop") == id
    assert crawls.latest("shop").state == "waiting"
    assert crawls.claim(id, "somebody 1 x").id == id
    assert crawls.latest("shop").state == "running"
    assert crawls.wait("shop") != id


def test_addresses_are_shown_with_their_last_state(database, crawls, site):
    id = begin_crawl(crawls, "shop")
    journal = CrawlJournal(database, id)
    journal.write(
        [
            JournalEntry("u/1", 0),
            JournalEntry("u/2", 1, found_on="u/1", state="error", reason="robots", status=5),
        ]
    )
    journal.write([JournalEntry("u/1", 0, state="fetched", status=200, visit="text")])
    first, second = crawls.addresses.urls(id)
    assert (first.url, first.state, first.status) == ("u/1", "fetched", 200)
    assert (second.reason, second.found_on, second.depth) == ("robots", "u/1", 1)
    assert now() - second.at < timedelta(minutes=1)
    assert crawls.latest("shop").counts == {"fetched": 1, "error": 1}
    assert list(crawls.addresses.ends(id, {"fetched", "gone"})) == [("u/1", "fetched", "")]
    assert [row.url for row in crawls.addresses.at_start(id)] == ["u/1"]


def test_addresses_are_filtered_and_paged(database, crawls, site):
    id = begin_crawl(crawls, "shop")
    CrawlJournal(database, id).write(
        [
            JournalEntry(
                f"u/{n}", 0, state="fetched" if n % 2 else "failed", reason="Timed out" if n == 4 else ""
            )
            for n in range(6)
        ]
    )
    assert [row.url for row in crawls.addresses.urls(id, state="failed")] == ["u/0", "u/2", "u/4"]
    assert [row.url for row in crawls.addresses.urls(id, search="TIMED")] == ["u/4"]
    assert [row.url for row in crawls.addresses.urls(id, search="U/3")] == ["u/3"]
    assert crawls.addresses.urls(id, search="%") == []
    assert [row.url for row in crawls.addresses.urls(id, limit=2, offset=1)] == ["u/1", "u/2"]
    assert [row.url for row in crawls.addresses.every_url(id)] == [f"u/{n}" for n in range(6)]
    assert [row.url for row in crawls.addresses.every_url(id, "failed", "timed")] == ["u/4"]


def test_of_a_crawl_that_ended_the_counts_are_stored(database, crawls, site):
    id = begin_crawl(crawls, "shop")
    journal = CrawlJournal(database, id)
    journal.write([JournalEntry("u/1", 0, state="fetched")])
    crawls.finish(id, "done")
    journal.write([JournalEntry("u/2", 0, state="fetched")])
    assert crawls.get(id).counts == {"fetched": 1}


def test_a_crawl_is_claimed_by_one_and_one_of_a_site_runs_at_a_time(crawls, site):
    first = crawls.wait("shop")
    holder = new_holder()
    run = crawls.claim(first, holder)
    assert (run.state, run.holder) == ("running", holder)
    assert crawls.claim(first, new_holder()) is None
    second = crawls.wait("shop")
    assert crawls.claim(second, new_holder()) is None
    assert crawls.waiting() == []
    assert crawls.interrupted() == []
    crawls.finish(first, "done")
    assert [waits.id for waits in crawls.waiting()] == [second]
    assert crawls.claim(first, new_holder()) is None
    assert crawls.claim(second, new_holder()).id == second
    assert crawls.claim(99, new_holder()) is None


def age(database, crawl_id, seconds):
    with database.begin() as connection:
        old = update(crawl_table).where(crawl_table.c.id == crawl_id)
        connection.execute(old.values(beat_at=now() - timedelta(seconds=seconds)))


def test_a_crawl_whose_worker_was_not_heard_of_is_claimed_by_the_next(database, crawls, site):
    id = crawls.wait("shop")
    lost, next_one = new_holder(), new_holder()
    began = crawls.claim(id, lost).started_at
    age(database, id, LEASE_S + 1)
    assert [run.id for run in crawls.interrupted()] == [id]
    assert crawls.claim(id, next_one).started_at == began
    assert crawls.beat(id, lost) is None
    assert crawls.beat(id, next_one) == ""
    assert not crawls.finish(id, "failed", "it was paused", lost)
    assert crawls.finish(id, "done", "30 pages", next_one)
    with pytest.raises(UnknownRecord):
        crawls.progress(id, 30, 5, 5)
    assert (crawls.get(id).state, crawls.get(id).message) == ("done", "30 pages")


def test_a_worker_that_is_heard_of_keeps_its_crawl_and_hears_what_is_wanted(database, crawls, site):
    id = crawls.wait("shop")
    holder = new_holder()
    run = crawls.claim(id, holder)
    age(database, id, LEASE_S + 1)
    assert crawls.want(run, "pause")
    assert crawls.beat(id, holder) == "pause"
    assert crawls.interrupted() == []


def test_a_change_of_a_crawl_that_changed_meanwhile_is_refused(crawls, site):
    seen = crawls.get(crawls.wait("shop"))
    crawls.claim(seen.id, new_holder())
    assert not crawls.set_aside(seen)
    assert not crawls.want(seen, "stop")
    assert not crawls.release(seen)
    running = crawls.get(seen.id)
    assert crawls.want(running, "stop")
    assert crawls.release(running)
    waiting = crawls.get(seen.id)
    assert (waiting.state, waiting.wanted, waiting.holder) == ("waiting", "stop", "")
    assert crawls.set_aside(waiting)
    assert (crawls.get(seen.id).state, crawls.get(seen.id).wanted) == ("paused", "")


def test_crawls_that_a_crash_cut_off_are_found(crawls, site):
    ended, cut = begin_crawl(crawls, "shop"), begin_crawl(crawls, "shop")
    crawls.finish(ended, "failed", "no page")
    crawls.wait("shop")
    assert [run.id for run in crawls.interrupted()] == [cut]
    crawls.finish(cut, "stopped")
    assert crawls.interrupted() == []


def test_only_the_newest_crawls_are_kept(database, crawls, site):
    ids = [begin_crawl(crawls, "shop") for _ in range(KEPT_CRAWLS + 3)]
    CrawlJournal(database, ids[-1]).write([JournalEntry("u", 0, state="fetched")])
    assert [run.id for run in crawls.history("shop", 100)] == ids[:2:-1]
    assert [run.id for run in crawls.history("shop", 2)] == ids[:-3:-1]
    assert crawls.history("shop", 1)[0].counts == {"fetched": 1}


def test_unknown_crawls_and_sites_are_named(crawls, site):
    with pytest.raises(UnknownSite, match="'none'"):
        begin_crawl(crawls, "none")
    for write in (
        lambda: crawls.progress(99, 1, 1, 1),
        lambda: crawls.finish(99, "done"),
        lambda: crawls.get(99),
    ):
        with pytest.raises(UnknownRecord, match="no crawl 99"):
            write()
    assert crawls.addresses.urls(99) == []


def test_crawls_go_with_their_site(database, crawls, site):
    id = begin_crawl(crawls, "shop")
    CrawlJournal(database, id).write([JournalEntry("u", 0, state="fetched")])
    SiteStore(database).delete("shop")
    assert crawls.addresses.urls(id) == []
    assert crawls.interrupted() == []
