"""What workers look after by themselves, several at once."""

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest

from server.domain.site import JITTER, MOST_JITTER, PERIODS, Site, next_time
from server.jobs.crawl_control import CrawlControl
from server.jobs.queue import JobQueue
from server.jobs.upkeep import REMOVAL_S, Upkeep
from server.storage.crawls.runs import CrawlStore, ScheduleStore
from server.storage.database import Database
from server.storage.errors import StorageError, UnknownSite
from server.storage.sites.sites import SiteStore
from tests.crawl_runs import begin_crawl
from tests.servers import redis_server

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def schedules(database):
    for id in ("shop", "docs"):
        SiteStore(database).create(Site(id, id, "", (f"https://{id}.example/",)))
    return ScheduleStore(database)


def upkeep_of(database, queued, waiting=0):
    crawls = CrawlStore(database)

    def queue(site_id, crawl_id):
        queued.append((site_id, crawl_id))

    control = CrawlControl(crawls, queue)
    return Upkeep(crawls, ScheduleStore(database), control, queue, lambda: waiting)


def test_times_lie_a_period_ahead_with_some_jitter():
    for every, period in PERIODS.items():
        jitter = min(period * JITTER, MOST_JITTER)
        assert next_time(every, NOON, lambda low, high: low) == NOON + period - jitter
        assert next_time(every, NOON, lambda low, high: high) == NOON + period + jitter
        assert len({next_time(every, NOON) for _ in range(5)}) > 1


def test_a_schedule_is_kept_replaced_and_cleared(schedules):
    assert schedules.get("shop") is None
    schedules.set("shop", "daily", NOON)
    schedules.set("shop", "weekly", NOON)
    assert (schedules.get("shop").every, schedules.get("shop").next_at) == ("weekly", NOON)
    schedules.clear("shop")
    schedules.clear("shop")
    assert schedules.get("shop") is None
    with pytest.raises(UnknownSite, match="'none'"):
        schedules.set("none", "daily", NOON)


def test_of_many_workers_one_starts_a_crawl_whose_time_has_come(database, database_url, schedules):
    schedules.set("shop", "hourly", NOON)
    schedules.set("docs", "hourly", NOON + timedelta(hours=2))
    queued, start = [], Barrier(4)

    def work():
        own = Database(database_url)
        keeper = upkeep_of(own, queued)
        start.wait()
        keeper.start_due(NOON + timedelta(minutes=1))
        own.close()

    workers = [Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [site_id for site_id, _ in queued] == ["shop"]
    assert len(CrawlStore(database).history("shop")) == 1
    assert schedules.get("shop").next_at > NOON + timedelta(minutes=30)
    assert schedules.due(NOON + timedelta(minutes=30)) == []


@pytest.mark.parametrize("state", ["waiting", "running", "paused"])
def test_a_site_whose_crawl_goes_on_waits_for_its_next_time(database, schedules, state):
    crawls = CrawlStore(database)
    crawl_id = begin_crawl(crawls, "shop") if state == "running" else crawls.wait("shop")
    if state == "paused":
        crawls.set_aside(crawls.get(crawl_id))
    schedules.set("shop", "daily", NOON)
    queued = []
    upkeep_of(database, queued).start_due(NOON)
    assert queued == []
    assert len(crawls.history("shop")) == 1
    assert schedules.get("shop").next_at > NOON + timedelta(hours=20)


def test_crawls_that_wait_without_a_job_are_queued_and_those_of_a_busy_site_are_not(database, schedules):
    crawls = CrawlStore(database)
    crawls.claim(crawls.wait("shop"), "somebody 1 x")
    behind, free = crawls.wait("shop"), crawls.wait("docs")
    queued = []
    upkeep_of(database, queued, waiting=1).queue_waiting()
    assert queued == []
    upkeep_of(database, queued).queue_waiting()
    assert queued == [("docs", free)]
    assert crawls.get(behind).state == "waiting"


def test_a_crawl_that_was_left_is_queued_once(database, schedules):
    crawls = CrawlStore(database)
    left = begin_crawl(crawls, "shop")
    queued = []
    for _ in range(2):
        upkeep_of(database, queued).take_up_left()
    assert queued == [("shop", left)]


def test_a_removal_whose_job_was_lost_is_queued_again(database):
    removed = []
    upkeep = Upkeep(None, None, None, None, None, lambda: ["shop"], removed.append)
    for at in (1.0, 6.0, REMOVAL_S + 2, REMOVAL_S + 7):
        upkeep.queue_removals(at)
    assert removed == ["shop"]


def test_a_queue_that_does_not_answer_ends_no_upkeep_and_loses_no_crawl(tmp_path, caplog):
    with redis_server() as address:
        jobs = JobQueue(tmp_path, address)
        add = jobs.register("refresh_site", lambda site_id, crawl_id: None)
        add("shop", 1)
        assert len(jobs) == 1
    add("shop", 2)
    assert "refresh_site ('shop', 2) is queued later" in caplog.text
    with pytest.raises(StorageError, match="Redis at"):
        len(jobs)
