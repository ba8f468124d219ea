"""Pages that operators keep out of the answers, and pages that are always looked at."""

from threading import Event

from server.domain.answer import Outcome
from server.jobs.crawl_watch import Interrupt
from server.storage.content.decisions import PageDecisions

BY = "ada@example.com"
REFUNDS = "When are refunds paid?"


def pages_of(hits):
    return {hit.chunk.url for hit in hits}


def test_an_excluded_page_leaves_at_once_and_stays_out(shop):
    assert shop.url("/returns") in shop.answer(REFUNDS).sources
    shop.runtime.crawling.pages.exclude("shop", shop.url("/returns"), BY)
    # Before a worker came to it, too: neither found nor given again from the answers that are remembered.
    assert shop.url("/returns") not in pages_of(shop.found(REFUNDS))
    assert shop.url("/returns") not in shop.answer(REFUNDS).sources
    (run,) = shop.work()
    assert run.message.startswith("the page has left the index")
    assert "/returns" not in shop.paths()
    assert shop.answer(REFUNDS).outcome is Outcome.REFUSED
    shop.check_indexes()
    for _ in range(2):
        run = shop.crawl()
        assert run.state == "done"
        assert run.counts == {"unchanged": 4, "excluded": 1}
        assert "/returns" not in shop.paths()
    (row,) = shop.runtime.stores.crawls.addresses.urls(run.id, "excluded")
    assert (row.url, row.reason) == (shop.url("/returns"), "an operator keeps it out of the answers")


def test_an_excluded_page_is_put_back_as_the_website_has_it_now(shop):
    shop.runtime.crawling.pages.exclude("shop", shop.url("/returns"), BY)
    shop.work()
    title, content = shop.website.pages["/returns"]
    shop.set_page("/returns", title, content.replace("14 days", "20 days"))
    shop.crawl()
    shop.runtime.crawling.pages.put_back("shop", shop.url("/returns"), BY)
    shop.work()
    assert "20 days" in shop.answer(REFUNDS).text
    assert PageDecisions(shop.runtime.database, "shop").get(shop.url("/returns")) is None
    assert shop.crawl().counts == {"unchanged": 5}
    shop.check_indexes()


def test_links_of_an_excluded_page_are_still_followed(shop):
    shop.runtime.crawling.pages.exclude("shop", shop.url("/"), BY)
    shop.work()
    title, content = shop.website.pages["/"]
    shop.set_page("/", title, f"{content}<p><a href='/warranty'>Warranty</a></p>")
    shop.set_page("/warranty", "Warranty", "<p>The warranty lasts three years.</p>")
    shop.crawl()
    assert shop.paths() == {"/delivery", "/returns", "/install", "/prices", "/warranty"}


def test_a_pinned_page_is_always_among_what_is_found_and_the_floor_holds(shop):
    question = "How much is the Glow Mini?"
    shop.runtime.crawling.pages.set_pinned("shop", shop.url("/install"), BY, pinned=True)
    (run,) = shop.work()
    assert run.state == "done"
    assert shop.url("/install") in pages_of(shop.found(question, limit=2))
    assert len(shop.found(question, limit=2)) == 2
    answer = shop.answer(question)
    assert "19.90" in answer.text
    assert answer.sources[0] == shop.url("/prices")
    assert shop.answer("Who won the football game last night?").outcome is Outcome.REFUSED
    shop.crawl()
    assert shop.url("/install") in pages_of(shop.found(question, limit=2))
    shop.runtime.crawling.pages.set_pinned("shop", shop.url("/install"), BY, pinned=False)
    shop.work()
    assert shop.url("/install") not in pages_of(shop.found("Glow Mini price", limit=2))


def test_a_change_makes_remembered_answers_anew(shop):
    generation = shop.runtime.stores.content("shop").live_generation()
    shop.runtime.crawling.pages.set_pinned("shop", shop.url("/prices"), BY, pinned=True)
    shop.work()
    assert shop.runtime.stores.content("shop").live_generation() == generation + 1


def test_a_change_waits_for_the_crawl_that_runs(shop):
    crawl_id = shop.runtime.stores.crawls.wait("shop")
    assert shop.runtime.stores.crawls.claim(crawl_id, "elsewhere 1 x") is not None
    shop.runtime.crawling.pages.exclude("shop", shop.url("/returns"), BY)
    (waiting,) = shop.runtime.stores.crawls.runs("shop", "decision")
    assert not shop.runtime.crawling.refresh("shop", waiting.id), "never two writers on one site"
    assert shop.runtime.stores.crawls.waiting() == []
    assert "/returns" in shop.paths()
    shop.runtime.stores.crawls.finish(crawl_id, "done", "")
    assert [run.id for run in shop.work()] == [waiting.id]
    assert "/returns" not in shop.paths()


def test_a_change_while_a_crawl_is_paused_loses_nothing_of_it(shop):
    title, content = shop.website.pages["/prices"]
    shop.set_page("/prices", title, content.replace("19.90", "17.90"))
    interrupt, released = Interrupt(pauses=True), Event()

    def hold():
        interrupt.event.set()
        released.wait(30)

    shop.website.before = {"/install": hold}
    crawl_id = shop.runtime.stores.crawls.wait("shop")
    assert shop.runtime.crawling.refresh("shop", crawl_id, interrupt=interrupt)
    shop.website.before = {}
    released.set()
    assert shop.runtime.stores.crawls.get(crawl_id).state == "paused"
    shop.runtime.crawling.pages.exclude("shop", shop.url("/returns"), BY)
    shop.work()
    assert "/returns" not in shop.paths()
    shop.runtime.crawling.control.resume("shop")
    shop.work()
    assert shop.runtime.stores.crawls.get(crawl_id).state == "done"
    assert "17.90" in shop.text("/prices")
    assert "/returns" not in shop.paths()
    shop.check_indexes()
