"""The history of a site's crawls, what two of them tell differently, and one page that is read again."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from crawler.journal import JournalEntry
from server.storage.crawls.journal import CrawlJournal
from server.storage.crawls.runs import DECISION, PAGE
from server.storage.schema.sites import crawls
from tests.admin.conftest import queued
from tests.admin.samples import make_crawl, make_long_crawl, make_site
from tests.admin.samples_content import ROOT, make_other_crawl

HISTORY = "/admin/sites/lantern/crawls"


@pytest.fixture
def two(runtime, site):
    return make_crawl(runtime), make_other_crawl(runtime)


def addresses(answer):
    return re.findall(r'class="address"><a href="([^"]*)"', answer.text)


def test_the_history_shows_every_crawl_with_its_figures(operator, runtime, two):
    page_run = runtime.stores.crawls.wait("lantern", PAGE, f"{ROOT}delivery")
    runtime.stores.crawls.finish(page_run, "done", "unchanged")
    decided = runtime.stores.crawls.wait("lantern", DECISION, f"{ROOT}returns")
    page = operator.get(HISTORY).text
    shown = re.findall(r'scope="row" class="when"><a href="/admin/sites/lantern/crawls/(\d+)">', page)
    assert shown == [str(decided), str(page_run), str(two[1]), str(two[0])]
    assert "The whole site" in page
    assert 'One page</span><p class="address">/delivery</p>' in page
    assert "Waiting to start" in page
    assert "Unchanged." in page
    assert f'href="{HISTORY}/{two[1]}/against/{two[0]}"' in page
    assert "crawls of the site are kept with all their addresses" in page
    shown = operator.get(f"{HISTORY}?kind=site").text
    assert "One page<p" not in shown
    assert "None of this kind" not in operator.get(f"{HISTORY}?kind=nonsense&page=-3").text


def test_the_days_of_crawls_to_compare_are_in_the_readers_language(operator, runtime, two):
    with runtime.database.begin() as connection:
        connection.execute(crawls.update().values(started_at=datetime(2026, 10, 3, 9, 5, tzinfo=UTC)))
    options = operator.get(HISTORY, headers={"Accept-Language": "de"}).text.split('id="earlier"')[1]
    assert "03.10.2026, 09:05 UTC" in options
    assert "Oct" not in options


def test_an_address_that_cannot_be_crawled_is_kept_in_its_field(operator, runtime, two):
    page = f"{HISTORY}/page"
    answer = operator.send(HISTORY, {"url": "lantern"}, page, follow_redirects=True)
    assert "is no web address" in answer.text
    field = re.search(r'<input id="url"[^>]*>', answer.text)[0]
    assert 'value="lantern"' in field
    assert '<details class="panel more" open' in answer.text.split('id="url"')[0]
    answer = operator.send(HISTORY, {"url": "lantern.example/delivery"}, page)
    assert runtime.stores.crawls.runs("lantern", PAGE)[0].url == "https://lantern.example/delivery"


def test_a_site_that_was_never_crawled_says_so(operator, runtime, site):
    page = operator.get(HISTORY).text
    assert "has not been crawled yet" in page
    assert "Compare two crawls" not in page
    assert operator.get("/admin/sites/nobody/crawls").status_code == 404


def test_a_crawl_under_way_shows_what_is_indexed_and_the_newest_problems(operator, runtime):
    crawl_id = make_long_crawl(runtime)
    CrawlJournal(runtime.database, crawl_id).note(
        "index_report", '{"pages_indexed": 41, "pages_unchanged": 7, "chunks_embedded": 205, "seconds": 1.5}'
    )
    for address in (
        f"/admin/sites/atlas/crawls/{crawl_id}",
        f"/admin/sites/atlas/crawls/{crawl_id}/progress",
    ):
        answer = operator.get(address)
        page = answer.json["html"] if answer.is_json else answer.text
        assert "<dt>Pages indexed</dt><dd>41</dd>" in page
        assert "<dt>Sections indexed</dt><dd>205</dd>" in page
        assert "<dt>Errors so far</dt><dd>50</dd>" in page
        assert page.count("https://atlas.example/lamps/") >= 5
        assert "Newest problems" in page
    live = operator.get("/admin/sites/atlas/crawls/progress").json
    assert live["active"]
    assert "12.3 addresses a second" in live["html"]


def test_addresses_are_filtered_by_reason(operator, runtime, two):
    page = operator.get(f"{HISTORY}/{two[1]}").text
    options = [unescape(text) for text in re.findall(r"<option [^>]*>(.*?)</option>", page)]
    assert options[:2] == ["Any reason", "same content as … (2)"]
    found = addresses(operator.get(f"{HISTORY}/{two[1]}?reason=same content as …"))
    assert found == [f"{ROOT}copy", f"{ROOT}copy-2"]
    assert addresses(operator.get(f"{HISTORY}/{two[1]}?reason=same content as …&search=copy-2")) == [
        f"{ROOT}copy-2"
    ]
    nothing = operator.get(f"{HISTORY}/{two[1]}?reason=100%25&state=gone").text
    assert "No address matches" in nothing
    lines = operator.get(f"{HISTORY}/{two[1]}.csv?reason=not modified").text.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [f"{ROOT}lamp-care"]


def test_two_crawls_are_compared(operator, runtime, two):
    earlier, later = two
    against = f"{HISTORY}/{later}/against/{earlier}"
    page = operator.get(against).text
    counts = dict(re.findall(r">(All|New|Not found again|Changed|Different result) <b>(\d+)</b>", page))
    told = {"New": "3", "Not found again": "3", "Changed": "0", "Different result": "1"}
    assert counts == {"All": "7", **told}
    assert addresses(operator.get(f"{against}?kind=added")) == [f"{ROOT}copy", f"{ROOT}copy-2", f"{ROOT}new"]
    assert addresses(operator.get(f"{against}?kind=state")) == [f"{ROOT}returns"]
    assert len(addresses(operator.get(f"{against}?kind=missing"))) == 3
    assert addresses(operator.get(f"{against}?search=COPY-2")) == [f"{ROOT}copy-2"]
    assert "No address matches" in operator.get(f"{against}?kind=changed").text
    assert operator.get(f"{against}?kind=nonsense&page=0").status_code == 200
    lines = operator.get(f"{against}.csv?kind=state").text.splitlines()
    assert lines[0] == "address,difference,before,reason before,now,reason now"
    assert lines[1:] == [f"{ROOT}returns,state,fetched,,gone,the server says it is gone (status 404)"]


def test_a_page_with_another_text_has_changed(operator, runtime, two):
    again = make_other_crawl(runtime)
    CrawlJournal(runtime.database, again).write(
        [JournalEntry(f"{ROOT}delivery", 1, state="fetched", status=200, content_hash="newer")]
    )
    against = f"{HISTORY}/{again}/against/{two[1]}"
    assert addresses(operator.get(against)) == [f"{ROOT}delivery"]
    assert addresses(operator.get(f"{against}?kind=changed")) == [f"{ROOT}delivery"]


def test_crawls_are_chosen_for_a_comparison(operator, runtime, two):
    first, second = two
    for query in (f"earlier={first}&later={second}", f"earlier={second}&later={first}"):
        answer = operator.get(f"{HISTORY}/compare?{query}")
        assert answer.location == f"{HISTORY}/{second}/against/{first}"
    answer = operator.get(f"{HISTORY}/compare?earlier={first}&later={first}")
    assert answer.location == HISTORY
    assert "Choose two different crawls" in operator.get(HISTORY).text
    for query in ("", "earlier=x&later=y", f"earlier={first}&later=99"):
        assert operator.get(f"{HISTORY}/compare?{query}").status_code == 404


def test_crawls_of_another_site_or_of_single_pages_are_not_compared(operator, runtime, two):
    make_site(runtime, "other", "Other", "https://other.example/")
    other = make_crawl(runtime, "other")
    single = runtime.stores.crawls.wait("lantern", PAGE, f"{ROOT}delivery")
    for later, earlier in ((other, two[0]), (two[0], two[1]), (two[0], two[0]), (single, two[0])):
        for suffix in ("", ".csv"):
            assert operator.get(f"{HISTORY}/{later}/against/{earlier}{suffix}").status_code == 404
    assert operator.get(f"/admin/sites/other/crawls/{two[1]}/against/{two[0]}").status_code == 404
    assert operator.get(f"{HISTORY}/{other}").status_code == 404


def test_one_page_is_read_again(operator, runtime, two):
    fields = {"url": f"{ROOT}delivery"}
    answer = operator.send(f"{HISTORY}/{two[1]}", fields, f"{HISTORY}/page")
    run = runtime.stores.crawls.latest_of_page("lantern", f"{ROOT}delivery")
    assert (run.kind, run.state) == ("page", "waiting")
    assert answer.location == f"{HISTORY}/{run.id}"
    assert queued(runtime) == [("lantern", run.id)]
    page = operator.get(answer.location).text
    assert "<h1>One page</h1>" in page
    assert "as soon as the queue is free" in page
    again = operator.send(f"{HISTORY}/{two[1]}", fields, f"{HISTORY}/page")
    assert again.location == answer.location, "one that waits is that one"


@pytest.mark.parametrize("url", ["", "ftp://lantern.example/", "javascript:alert(1)", "mailto:x", "http://"])
def test_what_is_no_address_is_explained(operator, runtime, two, url):
    answer = operator.send(HISTORY, {"url": url}, f"{HISTORY}/page")
    assert answer.location.split("?")[0] == HISTORY
    assert 'class="notice problem"' in operator.get(HISTORY).text
    assert queued(runtime) == []
