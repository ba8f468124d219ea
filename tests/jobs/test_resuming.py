"""kill -9 of the job worker at any moment: the next one goes on where it was cut off."""

import signal

from crawler.journal import WAITING
from server.indexing.calibration import HEADINGS, OFF_TOPIC
from server.storage.content.content import ContentStore
from server.storage.crawls.journal import CrawlJournal
from tests.jobs.sabotaged_worker import MOMENTS

CALIBRATION = 2 * HEADINGS + len(OFF_TOPIC)
"""Texts that it embeds at most."""


def test_a_crawl_that_is_killed_at_every_moment_loses_nothing_and_repeats_nothing(slow):
    slow.runtime.crawling.start("shop")
    crawl_id = slow.run.id
    slow.website.hold_after = 12
    worker = slow.worker()
    slow.until(lambda: slow.website.is_holding, "fetching")
    worker.kill()
    slow.die(worker)
    slow.website.hold_after = None
    assert slow.run.state == "running"
    read_once = [requests_of_what_was_read(slow)]
    for moment in MOMENTS:
        nth = 2 if moment in ("before the vectors", "before they are settled") else 1
        if moment != "while clearing away":  # nothing is to be cleared away in a first crawl
            slow.die(slow.worker(moment, nth))
        assert slow.run.state == "running", moment
        read_once.append(requests_of_what_was_read(slow))
    worker = slow.worker()
    slow.until_state("done")
    slow.end(worker)

    assert slow.run.id == crawl_id
    assert slow.pages() == set(slow.website.pages)
    chunks = slow.check_indexes()
    requests = slow.website.page_requests
    for read in read_once:
        assert {path: requests[path] for path in read} == read, "fetched again although it was remembered"
    # A batch of 8 chunks, with their sentences, is lost where the vectors were not written yet; the rest are
    # questions of the calibration.
    texts = chunks + slow.sentences()
    assert slow.embedded <= texts + 4 * 8 * -(-texts // chunks) + 2 * CALIBRATION
    assert slow.run.counts == {"fetched": 30, "gone": 2}
    assert slow.runtime.stores.sites.get("shop").options["calibration"]


def requests_of_what_was_read(installation):
    """How often each page was asked for that the journal no longer has among those that wait."""
    entries = CrawlJournal(installation.runtime.database, installation.run.id).entries()
    root = installation.website.url
    read = {entry.url.removeprefix(root) for entry in entries if entry.state != WAITING}
    requests = installation.website.page_requests
    return {path: requests[path] for path in read & requests.keys()}


def test_a_second_crawl_that_is_killed_keeps_the_live_index_until_the_next_worker_ends_it(slow):
    slow.runtime.crawling.start("shop")
    worker = slow.worker()
    slow.until_state("done")
    slow.end(worker)
    before = slow.embedded
    for number in range(5):
        slow.website.set_page(number, "Other words")
    del slow.website.pages["/p29"]
    slow.runtime.crawling.start("shop")
    for moment in ("before the vectors", "before going live", "while clearing away"):
        slow.die(slow.worker(moment, 1))
    worker = slow.worker()
    slow.until_state("done")
    slow.end(worker)
    assert slow.pages() == {*slow.website.pages, "/p29"}, "missing once is not gone"
    assert ContentStore(slow.runtime.database, "shop").known_pages()[f"{slow.website.url}/p29"].missed == 1
    slow.check_indexes()
    texts = "\n".join(chunk.text for chunk in slow.runtime.stores.content("shop").every_chunk())
    assert texts.count("Other words") == 5 * 3
    # The sentences that the first worker had not come to are the second one's.
    assert slow.embedded - before <= 15 + 3 * 8 + CALIBRATION + slow.sentences()


def test_a_worker_that_is_asked_to_end_leaves_its_crawl_to_the_next_one_at_once(slow):
    slow.runtime.crawling.start("shop")
    slow.website.hold_after = 12
    worker = slow.worker()
    slow.until(lambda: slow.website.is_holding, "fetching")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(10) == 0
    assert slow.run.state == "waiting"
    slow.website.hold_after = None
    worker = slow.worker()
    slow.until_state("done")
    slow.end(worker)
    assert slow.pages() == set(slow.website.pages)
    assert sum(slow.website.page_requests.values()) <= 30 + 4


def test_what_kills_its_worker_every_time_is_given_up_with_a_reason(slow):
    slow.runtime.crawling.start("shop")
    slow.die(slow.worker("at the calibration", 1))
    slow.die(slow.worker("at the calibration", 1))
    journal = CrawlJournal(slow.runtime.database, slow.run.id)
    done, _, cuts = journal.notes()["cuts"].partition("/")
    assert (int(done), int(cuts)) == (32, 0)
    journal.note("cuts", f"{done}/5")
    worker = slow.worker("at the calibration", 1)
    slow.until(lambda: slow.run.state == "failed", "giving up")
    slow.end(worker)
    assert "cut off 6 times without getting on" in slow.run.message
