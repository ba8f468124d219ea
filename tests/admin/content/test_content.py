"""What visitors are answered from, page by page, and what an operator may change about it."""

import re
from html import unescape
from urllib.parse import quote

import pytest

from server.jobs.after_crawl import check_quotes
from server.storage.content.content import ContentStore
from server.storage.content.decisions import MOST_PINS, PageDecisions
from tests.admin.conftest import queued
from tests.admin.samples import ask, make_site
from tests.admin.samples_content import DELIVERY, ROOT, cite, fill, put_page

LIST = "/admin/sites/lantern/pages"
TWO_DAYS = "Parcels inside the country arrive within two working days."


def page_of(url, site="lantern"):
    return f"/admin/sites/{site}/content/page?url={quote(url, safe='')}"


def edit_of(url):
    return f"/admin/sites/lantern/content/edit?url={quote(url, safe='')}"


def titles(answer):
    return [
        unescape(title) for title in re.findall(r'rowheader" scope="row"><a [^>]*>(.*?)</a>', answer.text)
    ]


def decision(runtime, path):
    return PageDecisions(runtime.database, "lantern").get(f"{ROOT}{path}")


@pytest.fixture
def filled(runtime, site):
    ask(runtime)
    fill(runtime)
    check_quotes(runtime.database, "lantern", runtime.configuration.settings.serving.base_url)
    cite(runtime, f"{ROOT}returns", "About Returns.", 3)
    return runtime


LISTED = {
    "": ["Guide", "Delivery", "Lamp care", "Prices <script>alert(1)</script>", "Returns"],
    "?search=RETURN": ["Returns"],
    "?search=lamp-care": ["Lamp care"],
    "?search=100%25": [],
    "?state=cited": ["Delivery", "Returns"],
    "?state=uncited": ["Guide", "Lamp care", "Prices <script>alert(1)</script>"],
    "?state=broken": ["Delivery"],
    "?state=edited": ["Lamp care"],
    "?state=news": ["Lamp care"],
    "?state=pinned": ["Returns"],
    "?state=excluded": ["Old terms"],
    "?state=excluded&search=nothing": [],
    "?state=lost": [],
    "?source=elsewhere": ["Guide"],
    "?source=website&state=uncited": ["Lamp care", "Prices <script>alert(1)</script>"],
    "?language=de": [],
    "?sort=times&state=cited": ["Returns", "Delivery"],
    "?sort=last&state=cited": ["Returns", "Delivery"],
}
"""Query of the list -> the titles that it shows, in order."""


def test_pages_are_filtered_and_sorted(operator, filled):
    shown = {query: operator.get(LIST + query) for query in LISTED}
    assert {query: titles(answer) for query, answer in shown.items()} == LISTED
    assert [query for query, answer in shown.items() if "<script>alert" in answer.text] == []


def test_a_page_without_a_state_shows_no_empty_line_on_a_phone(operator, filled):
    row = next(row for row in operator.get(LIST).text.split("<tr")[2:] if 'class="badge' not in row)
    assert 'data-label="State"></td>' in row, "cells without content are hidden there"


def test_a_query_that_no_link_leads_to_lists_pages_too(operator, filled):
    answer = operator.get(LIST + "?sort=nonsense&state=nonsense&source=nonsense&page=nonsense")
    assert answer.status_code == 200


def test_the_list_says_how_often_each_page_is_cited_and_what_is_wrong(operator, filled):
    page = operator.get(LIST).text
    row = page[page.index(">Returns</a>") :]
    assert re.search(r'href="/admin/conversations\?site=lantern&amp;page_url=[^"]*returns">3</a>', row)
    assert "1 broken quote" in page
    assert 'state=news">Corrected pages that the website changed <b>1</b>' in page
    assert 'href="/admin/sites/lantern/sources"' in page


def test_a_page_shows_its_pieces_its_quotes_and_which_of_them_broke(operator, filled):
    page = operator.get(page_of(DELIVERY)).text
    assert "Parcels arrive within three working days." in page
    broken = page[page.index("are no longer on the page") :]
    assert TWO_DAYS in broken
    assert "Shown once, <time" in broken
    assert "0 of 1" in page
    assert "page_url=https" in page
    page = operator.get(page_of(f"{ROOT}returns")).text
    assert "1 of 1" in page
    assert "do not stand" not in page
    assert "3 times, last" in page


def test_what_stands_on_pages_can_do_nothing_here(operator, filled):
    page = operator.get(page_of(f"{ROOT}prices")).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<td>Glow Maxi &lt;b&gt;</td><td>49.90 EUR</td>" in page
    assert "<code>sh lamp-driver.sh --quiet</code>" in page


def test_a_quoted_page_that_is_gone_is_listed_and_shown(operator, filled):
    ContentStore(filled.database, "lantern").remove_page(DELIVERY)
    ContentStore(filled.database, "lantern").go_live()
    check_quotes(filled.database, "lantern", filled.settings.serving.base_url)
    listed = operator.get(f"{LIST}?state=lost").text
    assert DELIVERY in listed
    assert "Gone" in listed
    page = operator.get(page_of(DELIVERY)).text
    assert "Not in the answers" in page
    assert TWO_DAYS in page


@pytest.mark.parametrize(
    "path",
    [
        page_of(f"{ROOT}nothing"),
        page_of(""),
        page_of("javascript:alert(1)"),
        "/admin/sites/lantern/content/page",
        page_of(DELIVERY, "nobody"),
        edit_of(f"{ROOT}nothing"),
        "/admin/sites/lantern/content/edit",
    ],
)
def test_a_page_that_the_site_does_not_have_is_not_found(operator, filled, path):
    assert operator.get(path).status_code == 404


def test_pages_of_another_site_are_not_found(operator, filled):
    make_site(filled, "other", "Other Shop", "https://other.example/")
    assert operator.get(page_of("https://other.example/delivery")).status_code == 404
    assert operator.get(page_of("https://other.example/delivery", "other")).status_code == 200
    for action in ("exclude", "pin", "undo", "keep", "put-back", "unpin", "edit"):
        fields = {"url": "https://other.example/delivery", "title": "T", "text": "Words"}
        answer = operator.send(LIST, fields, f"/admin/sites/lantern/content/{action}")
        assert answer.status_code == 404, action
    assert PageDecisions(filled.database, "other").get("https://other.example/delivery") is None


def send(operator, action, url=DELIVERY, **fields):
    answer = operator.send(LIST, {"url": url, **fields}, f"/admin/sites/lantern/content/{action}")
    assert answer.status_code == 302, answer.text
    return operator.get(answer.location).text


def test_a_page_is_excluded_and_put_back(operator, filled):
    assert "is excluded from all answers" in send(operator, "exclude")
    assert decision(filled, "delivery").excluded
    assert [run.kind for run in filled.stores.crawls.waiting()] == ["decision"]
    assert queued(filled)[-1][0] == "lantern"
    page = operator.get(page_of(DELIVERY)).text
    assert ">Excluded</span>" in page
    assert "Include again" in page
    assert "is included again" in send(operator, "put-back")
    assert not decision(filled, "delivery").excluded
    assert "put a page back" in [entry.action for entry in filled.people.audit.recent(5)]


def test_pages_are_pinned_up_to_a_number(operator, filled):
    for number in range(MOST_PINS):
        put_page(filled, f"more-{number}", f"More {number}", [("More", "More text.")])
    for number in range(MOST_PINS - 1):  # one is pinned already
        assert "is pinned" in send(operator, "pin", f"{ROOT}more-{number}")
    page = send(operator, "pin", f"{ROOT}more-{MOST_PINS - 1}")
    assert f"Only {MOST_PINS} pages of a site may be pinned: unpin one first." in page
    send(operator, "unpin", f"{ROOT}more-0")
    assert "is pinned" in send(operator, "pin", f"{ROOT}more-{MOST_PINS - 1}")


def test_a_page_is_corrected_and_shown_beside_the_website(operator, filled):
    page = operator.get(edit_of(DELIVERY)).text
    assert "Parcels arrive within three working days." in page
    answer = operator.send(
        edit_of(DELIVERY),
        {"url": DELIVERY, "title": "Delivery", "text": "# Delivery\n\nParcels arrive at once.", "seen": "9"},
        "/admin/sites/lantern/content/edit",
    )
    assert answer.location == page_of(DELIVERY).replace("%3A", ":").replace("%2F", "/")
    assert "The page is corrected." in operator.get(answer.location).text
    page = unescape(operator.get(edit_of(DELIVERY)).text)
    assert "-Parcels arrive within three working days." in page
    assert "+Parcels arrive at once." in page
    assert "uses the website’s version again" in send(operator, "undo")
    assert not decision(filled, "delivery").edited


def test_news_from_the_website_are_told_and_settled(operator, filled):
    url = f"{ROOT}lamp-care"
    assert "has changed this page since" in operator.get(page_of(url)).text
    page = operator.get(edit_of(url)).text
    assert "Keep mine" in page
    seen = re.findall(r'name="seen" value="(.*?)"', page)[0]
    send(operator, "keep", url, seen=seen)
    assert not decision(filled, "lamp-care").has_news
    assert "has changed this page since" not in operator.get(page_of(url)).text


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"title": "", "text": "Words"}, "title", "Write the title"),
        ({"title": "x" * 301, "text": "Words"}, "title", "300"),
        ({"title": "T", "text": "  "}, "text", "exclude it"),
        ({"title": "T", "text": "# Only a heading"}, "text", "There is no text in it"),
        ({"title": "T", "text": "y" * 200_001}, "text", "200,000"),
    ],
)
def test_a_bad_correction_is_explained_beside_its_field_and_kept(operator, filled, fields, field, says):
    answer = operator.send(
        edit_of(DELIVERY), {"url": DELIVERY, **fields}, "/admin/sites/lantern/content/edit"
    )
    assert answer.status_code == 422
    assert says in re.search(rf'id="{field}-error">(.*?)</p>', answer.text)[1]
    assert f'name="url" value="{DELIVERY}"' in answer.text
    assert decision(filled, "delivery") is None


def test_the_search_says_what_to_do_where_nothing_is_live(operator, runtime):
    make_site(runtime)
    runtime.stores.sites.create(
        runtime.stores.sites.get("lantern").__class__("empty", "Empty", "", ("https://e.example/",))
    )
    assert "Ask something" in operator.get("/admin/sites/lantern/content/search").text
    page = operator.get("/admin/sites/empty/content/search?q=Hello").text
    assert "Crawl it first" in page
    assert "No page is live yet" in operator.get("/admin/sites/empty/pages").text
