"""What operators decide about pages, what pages contribute, and what two crawls tell differently."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from crawler.journal import JournalEntry
from server.domain.answer import Answer, Citation, Message, Outcome
from server.domain.chunk import Chunk
from server.storage.content.content import ContentStore
from server.storage.content.decisions import MOST_PINS, PageDecision, PageDecisions
from server.storage.content.page_list import PageFilter, PageList
from server.storage.content.quotes import CitedPages, PageQuotes
from server.storage.content.reader import PageRecord
from server.storage.conversations.conversations import ConversationStore
from server.storage.crawls.addresses import CrawlDifference
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import DECISION, PAGE, CrawlStore
from server.storage.errors import TooManyPins, UnknownSite
from server.storage.leases import new_holder
from tests.crawl_runs import begin_crawl

ROOT = "https://shop.example"
BASE = "https://docent.example"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def put(database, url, title="Page", language="en", source=""):
    content = ContentStore(database, "shop")
    record = PageRecord(url, title, language, f"hash of {url}", "", "", 0, NOON, source=source)
    content.put_page(record, [Chunk(f"c{url}", url, title, (), "Words.", 0)], [])
    content.go_live()


def cite(database, *cited, at=NOON, visitor="v"):
    """One answer that cites (url, quote)s."""
    store = ConversationStore(database)
    citations = tuple(Citation(n, url, "T", quote, url) for n, (url, quote) in enumerate(cited, 1))
    answer = Answer(Outcome.ANSWERED, "Words [1].", citations)
    store.add(Message(uuid4().hex, store.start("shop", visitor), "shop", at, "Q", "Q", "en", answer))


@pytest.fixture
def decisions(database, site):
    return PageDecisions(database, "shop")


def test_a_decision_is_kept_replaced_moved_and_forgotten(decisions):
    page = {"url": "u", "title": "T", "blocks": []}
    decisions.put(
        PageDecision("u", edited=True, title="T", text="ü", accepted_hash="a", site_hash="a", site_page=page),
        "ada",
    )
    found = decisions.get("u")
    assert (found.edited, found.text, found.site_page, found.changed_by) == (True, "ü", page, "ada")
    assert not found.has_news
    decisions.note_site_version("u", "b", {"url": "u", "title": "New", "blocks": []})
    assert decisions.get("u").has_news
    assert decisions.site_hashes() == {"u": "b"}
    assert decisions.counts() == {"excluded": 0, "pinned": 0, "edited": 1, "news": 1}
    assert decisions.move("u", "v")
    assert not decisions.move("u", "v")
    assert decisions.get("u") is None
    decisions.tidy("v")
    assert decisions.get("v").edited, "what is decided is not tidied away"
    decisions.put(PageDecision("v"))
    assert decisions.get("v").site_page is None
    decisions.tidy("v")
    assert decisions.get("v") is None


def test_a_page_that_something_is_decided_about_is_not_moved_over(decisions):
    decisions.put(PageDecision("old", excluded=True))
    decisions.put(PageDecision("new", pinned=True))
    assert not decisions.move("old", "new")
    assert decisions.get("new").pinned


def test_only_so_many_pages_are_pinned(decisions):
    for number in range(MOST_PINS):
        decisions.put(PageDecision(f"u{number}", pinned=True))
    decisions.put(PageDecision("u0", pinned=True, excluded=True))  # again
    with pytest.raises(TooManyPins, match="unpin one first"):
        decisions.put(PageDecision("one more", pinned=True))
    assert decisions.get("one more") is None


def test_the_search_hears_of_excluded_hits_and_of_every_pin(decisions):
    decisions.put(PageDecision("out", excluded=True))
    decisions.put(PageDecision("out too", excluded=True))
    decisions.put(PageDecision("pin", pinned=True))
    decisions.put(PageDecision("both", pinned=True, excluded=True))
    assert decisions.for_search({"out", "other"}) == ({"out", "both"}, ["pin"])
    assert decisions.for_search(set()) == ({"both"}, ["pin"])
    assert [row.url for row in decisions.excluded(2)] == ["both", "out"]
    assert [row.url for row in decisions.excluded(9, search="TOO")] == ["out too"]


def test_nothing_is_kept_for_an_unknown_site(database):
    with pytest.raises(UnknownSite):
        PageDecisions(database, "nobody").put(PageDecision("u"))
    with pytest.raises(UnknownSite):
        PageQuotes(database, "nobody").put("u", "h", 1, 0)


def test_citations_are_counted_as_they_come_and_go(database, site):
    figures = CitedPages(database, "shop")
    cite(database, (f"{ROOT}/a", "one"), (f"{ROOT}/b", "two"), at=NOON)
    cite(database, (f"{ROOT}/a", "three"), at=NOON + timedelta(hours=1), visitor="w")
    assert figures.figures([f"{ROOT}/a", f"{ROOT}/b", "none"]) == {
        f"{ROOT}/a": (2, NOON + timedelta(hours=1)),
        f"{ROOT}/b": (1, NOON),
    }
    assert [quote.text for quote in figures.quotes(f"{ROOT}/a", 10)] == ["three", "one"]
    ConversationStore(database).erase_visitor("shop", "w")
    assert figures.figures([f"{ROOT}/a"]) == {f"{ROOT}/a": (1, NOON)}
    ConversationStore(database).erase_visitor("shop", "v")
    assert figures.urls() == set()


def test_quotes_are_told_apart_and_limited(database, site):
    for hour in range(3):
        cite(database, (f"{ROOT}/a", "often"), (f"{ROOT}/a", f"once {hour}"), at=NOON + timedelta(hours=hour))
    found = CitedPages(database, "shop").quotes(f"{ROOT}/a", 3)
    assert [(quote.text, quote.times) for quote in found] == [("often", 3), ("once 2", 1), ("once 1", 1)]


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        (PageFilter(), ["/sources/shop/1", "/a", "/b_1", "/c"]),
        (PageFilter(search="B_1"), ["/b_1"]),
        (PageFilter(search="title of C"), ["/c"]),
        (PageFilter(search="my own"), ["/b_1"]),
        (PageFilter(search="Äpfel"), ["/a"]),
        (PageFilter(language="de"), ["/c"]),
        (PageFilter(source="elsewhere"), ["/sources/shop/1"]),
        (PageFilter(source="website", state="uncited"), ["/b_1", "/c"]),
        (PageFilter(state="cited"), ["/sources/shop/1", "/a"]),
        (PageFilter(state="broken"), ["/a"]),
        (PageFilter(state="edited"), ["/b_1"]),
        (PageFilter(state="news"), ["/b_1"]),
        (PageFilter(state="pinned"), ["/c"]),
        (PageFilter(sort="times"), ["/a", "/sources/shop/1", "/b_1", "/c"]),
        (PageFilter(sort="last"), ["/sources/shop/1", "/a", "/b_1", "/c"]),
        (PageFilter(state="cited", sort="last"), ["/sources/shop/1", "/a"]),
    ],
)
def test_pages_are_listed_by_what_is_asked(database, site, wanted, paths):
    put(database, f"{ROOT}/a", "Title of A: Äpfel")
    put(database, f"{ROOT}/b_1", "Title of B")
    put(database, f"{ROOT}/c", "Title of C", language="de")
    put(database, "/sources/shop/1", "Upload", source="source")
    for _ in range(2):
        cite(database, (f"{ROOT}/a", "q"))
    cite(database, (f"{BASE}/sources/shop/1", "q"), at=NOON + timedelta(days=1))
    decisions = PageDecisions(database, "shop")
    decisions.put(PageDecision(f"{ROOT}/b_1", edited=True, title="My own", accepted_hash="1", site_hash="2"))
    decisions.put(PageDecision(f"{ROOT}/c", pinned=True))
    PageQuotes(database, "shop").put(f"{ROOT}/a", "h", 2, 1)
    PageQuotes(database, "shop").put(f"{ROOT}/gone", "", 3, 3)
    pages = PageList(database, "shop", BASE)
    assert [page.url.removeprefix(ROOT) for page in pages.find(wanted, 10)] == paths
    assert [page.url.removeprefix(ROOT) for page in pages.find(wanted, 1, 1)] == paths[1:2]
    assert pages.languages() == ["de", "en"]
    assert PageQuotes(database, "shop").counts() == (1, 1)
    assert [page.url for page in PageQuotes(database, "shop").lost(5)] == [f"{ROOT}/gone"]


def test_runs_about_single_pages_are_no_crawls_of_the_site(database, site):
    crawls = CrawlStore(database, kept=2)
    whole = begin_crawl(crawls, "shop")
    crawls.finish(whole, "done")
    page = crawls.wait("shop", PAGE, "u")
    assert crawls.wait("shop", PAGE, "u") == page, "one that waits is that one"
    decision = crawls.wait("shop", DECISION, "u")
    assert len({page, decision, crawls.wait("shop", PAGE, "v")}) == 3
    assert crawls.latest("shop").id == whole
    assert [run.kind for run in crawls.runs("shop")] == ["page", "decision", "page", "site"]
    assert crawls.latest_of_page("shop", "u").id == decision
    assert [run.id for run in crawls.waiting()][:2] == [page, decision]
    assert crawls.claim(page, new_holder()) is not None
    assert crawls.claim(decision, new_holder()) is None, "of a site one thing runs at a time"
    assert crawls.waiting() == []
    assert crawls.wait("shop") > decision, "a crawl of the site waits beside them"


def test_old_runs_of_each_kind_are_forgotten(database, site):
    crawls = CrawlStore(database, kept=2)
    for number in range(4):
        crawls.finish(begin_crawl(crawls, "shop"), "done")
        for part in range(5):
            crawls.finish(crawls.wait("shop", PAGE, f"{number}-{part}"), "done")
    assert len(crawls.runs("shop", "site", 99)) == 2
    assert len(crawls.runs("shop", "page", 99)) == 10


def test_two_crawls_are_told_apart(database, site):
    crawls = CrawlStore(database)
    first, second = begin_crawl(crawls, "shop"), begin_crawl(crawls, "shop")
    CrawlJournal(database, first).write(
        [
            JournalEntry("same", 1, state="fetched", content_hash="1"),
            JournalEntry("changed", 1, state="fetched", content_hash="1"),
            JournalEntry("said so", 1, state="unchanged"),
            JournalEntry("gone", 1, state="fetched", content_hash="1"),
            JournalEntry("missing", 1, state="error", reason="r"),
        ]
    )
    CrawlJournal(database, second).write(
        [
            JournalEntry("same", 1, state="unchanged", content_hash="1"),
            JournalEntry("changed", 1, state="fetched", content_hash="2"),
            JournalEntry("said so", 1, state="fetched", content_hash="2"),
            JournalEntry("gone", 1, state="gone", reason="404"),
            JournalEntry("added_1", 1, state="fetched", content_hash="1"),
        ]
    )
    difference = CrawlDifference(database, first, second)
    assert difference.counts() == {"added": 1, "missing": 1, "changed": 2, "state": 1}
    found = [(row.url, row.kind, row.before, row.now) for row in difference.rows()]
    assert found == [
        ("added_1", "added", "", "fetched"),
        ("changed", "changed", "fetched", "fetched"),
        ("gone", "state", "fetched", "gone"),
        ("missing", "missing", "error", ""),
        ("said so", "changed", "unchanged", "fetched"),
    ]
    for kind in ("added", "missing", "changed", "state"):
        assert [row.url for row in difference.rows(kind)] == [row[0] for row in found if row[1] == kind]
    assert [row.url for row in difference.rows(limit=2, offset=2)] == ["gone", "missing"]
    assert [row.url for row in difference.rows(search="D_1")] == ["added_1"]
    assert [row.url for row in difference.every()] == [row[0] for row in found]


def test_reasons_are_counted_without_their_addresses(database, site):
    crawls = CrawlStore(database)
    crawl_id = begin_crawl(crawls, "shop")
    CrawlJournal(database, crawl_id).write(
        [
            JournalEntry("1", 1, state="duplicate", reason="same content as https://shop.example/a"),
            JournalEntry("2", 1, state="duplicate", reason="same content as https://shop.example/b"),
            JournalEntry("3", 1, state="redirected", reason="to https://x.example/, which is another site"),
            JournalEntry("4", 1, state="error", reason="100% wrong"),
            JournalEntry("5", 1, state="fetched"),
        ]
    )
    assert crawls.addresses.reasons(crawl_id)[0] == ("same content as …", 2)
    assert sorted(crawls.addresses.reasons(crawl_id)[1:]) == [
        ("100% wrong", 1),
        ("to …, which is another site", 1),
    ]
    assert crawls.addresses.reasons(crawl_id, "error") == [("100% wrong", 1)]
    for reason, urls in (
        ("same content as …", ["1", "2"]),
        ("100% wrong", ["4"]),
        ("100", []),
        ("to …", ["3"]),
    ):
        assert [row.url for row in crawls.addresses.urls(crawl_id, reason=reason)] == urls
        assert [row.url for row in crawls.addresses.every_url(crawl_id, reason=reason)] == urls
    crawls.addresses.keep_out(crawl_id, ["5"])
    assert [row.url for row in crawls.addresses.urls(crawl_id, "excluded")] == ["5"]
    assert [row.url for row in crawls.addresses.newest(crawl_id, {"error"}, 5)] == ["4"]
