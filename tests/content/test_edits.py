"""An operator corrects a page: the answers follow at once, and no crawl undoes it."""

from urllib.parse import quote

import pytest

from crawler.errors import BadFile
from server.domain.answer import Outcome
from server.storage.content.decisions import PageDecisions

BY = "ada@example.com"
REFUNDS = "When are refunds paid?"


def edit(shop, path, old, new, seen=""):
    texts = shop.runtime.crawling.pages.texts("shop", shop.url(path))
    assert old in texts.text
    changed = texts.text.replace(old, new)
    return shop.runtime.crawling.pages.edit(
        "shop", shop.url(path), texts.title, changed, seen or texts.site_hash, BY
    )


def decision(shop, path):
    return PageDecisions(shop.runtime.database, "shop").get(shop.url(path))


def test_a_corrected_page_answers_at_once_and_survives_every_crawl(shop):
    assert "14 days" in shop.answer(REFUNDS).text
    assert edit(shop, "/returns", "within 14 days", "within 30 days")
    (run,) = shop.work()
    assert (run.kind, run.state, run.url) == ("decision", "done", shop.url("/returns"))
    assert "30 days" in shop.answer(REFUNDS).text
    shop.check_indexes()
    for _ in range(2):
        run = shop.crawl()
        assert run.counts == {"unchanged": 5}, "the website's own pages have not changed"
        assert "30 days" in shop.answer(REFUNDS).text
    shop.check_indexes()


def test_a_quote_that_is_not_on_the_page_is_linked_to_the_page_alone_and_marked(shop):
    edit(shop, "/returns", "within 14 days", "within 30 days")
    shop.work()
    (citation,) = shop.answer(REFUNDS).citations
    assert "30 days" in citation.quote
    assert (citation.link, citation.corrected) == (shop.url("/returns"), True)
    (steps,) = shop.answer("How do I return a lamp?").citations
    assert not steps.corrected
    first, last = quote(steps.quote.split(" and ")[0]), quote(steps.quote.rsplit(" ", 3)[-1])
    assert steps.link.startswith(f"{shop.url('/returns')}#:~:text={first}")
    assert steps.link.endswith(last)


def test_the_website_may_change_meanwhile_and_both_versions_are_known(shop):
    edit(shop, "/returns", "within 14 days", "within 30 days")
    shop.work()
    title, content = shop.website.pages["/returns"]
    shop.set_page("/returns", title, content.replace("14 days", "20 days"))
    shop.crawl()
    assert "30 days" in shop.answer(REFUNDS).text
    assert decision(shop, "/returns").has_news
    texts = shop.runtime.crawling.pages.texts("shop", shop.url("/returns"))
    assert "30 days" in texts.text
    assert "20 days" in texts.site_text
    shop.runtime.crawling.pages.keep_edit("shop", shop.url("/returns"), texts.site_hash, BY)
    assert not decision(shop, "/returns").has_news
    shop.runtime.crawling.pages.undo_edit("shop", shop.url("/returns"), BY)
    shop.work()
    assert "20 days" in shop.answer(REFUNDS).text
    assert decision(shop, "/returns") is None
    assert shop.crawl().counts == {"unchanged": 5}
    shop.check_indexes()


def test_an_undone_correction_leaves_the_index_as_it_was(shop):
    before = {chunk.id for chunk in shop.runtime.stores.content("shop").every_chunk()}
    edit(shop, "/delivery", "five working days", "six working days")
    shop.work()
    shop.runtime.crawling.pages.undo_edit("shop", shop.url("/delivery"), BY)
    shop.work()
    assert {chunk.id for chunk in shop.runtime.stores.content("shop").every_chunk()} == before
    shop.crawl()
    assert {chunk.id for chunk in shop.runtime.stores.content("shop").every_chunk()} == before
    shop.check_indexes()


def test_what_says_the_same_as_the_website_corrects_nothing(shop):
    texts = shop.runtime.crawling.pages.texts("shop", shop.url("/prices"))
    assert not shop.runtime.crawling.pages.edit(
        "shop", shop.url("/prices"), texts.title, texts.text + "\n", "", BY
    )
    assert shop.work() == []
    assert decision(shop, "/prices") is None


@pytest.mark.parametrize(
    ("title", "text", "says"),
    [
        ("", "Some text", "title"),
        ("x" * 301, "Some text", "title"),
        ("Returns", "  \n ", "exclude it"),
        ("Returns", "# Only a heading", "exclude it"),
        ("Returns", "x" * 200_001, "200,000 characters"),
    ],
)
def test_what_is_no_page_is_refused_with_the_reason(shop, title, text, says):
    with pytest.raises(BadFile, match=says):
        shop.runtime.crawling.pages.edit("shop", shop.url("/returns"), title, text, "", BY)
    assert shop.work() == []


def test_a_correction_follows_a_page_that_moves(shop):
    edit(shop, "/returns", "within 14 days", "within 30 days")
    shop.work()
    shop.website.pages["/sending-back"] = shop.website.pages["/returns"]
    shop.website.redirects = {"/returns": "/sending-back"}
    shop.crawl()
    assert [run.url for run in shop.work()] == [shop.url("/sending-back")]
    answer = shop.answer(REFUNDS)
    assert "30 days" in answer.text
    assert answer.sources == (shop.url("/sending-back"),)
    assert decision(shop, "/returns") is None
    shop.crawl()
    assert "30 days" in shop.answer(REFUNDS).text
    shop.check_indexes()


def test_a_page_that_is_gone_goes_with_its_correction_and_returns_with_it(shop):
    edit(shop, "/prices", "19.90 EUR", "18.00 EUR")
    shop.work()
    page = shop.website.pages.pop("/prices")
    shop.crawl()
    shop.crawl()
    assert "/prices" not in shop.paths()
    assert shop.answer("How much is the Glow Mini?").outcome is not Outcome.ANSWERED
    shop.website.pages["/prices"] = page
    shop.crawl()
    assert "18.00 EUR" in shop.answer("How much is the Glow Mini?").text
