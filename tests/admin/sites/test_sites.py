import re

import pytest

from crawler.journal import JournalEntry
from server.storage.crawls.journal import CrawlJournal
from tests.admin.conftest import Browser, log_in, make_app
from tests.admin.samples import make_crawl, make_site
from tests.crawl_runs import begin_crawl


def add(browser, address, name=""):
    return browser.send("/admin/new-site", {"address": address, "name": name})


def test_a_site_is_made_of_its_address_and_read_at_once(operator, runtime):
    answer = add(operator, "www.Example.com")
    assert answer.location == "/admin/sites/example-com/start/crawl"
    site = runtime.stores.sites.get("example-com")
    assert (site.name, site.start_urls) == ("www.example.com", ("https://www.example.com/",))
    assert runtime.stores.crawls.latest("example-com").state == "waiting"
    assert "The crawl begins now." in operator.get(answer.location).text


def test_two_sites_of_one_host_get_two_ids(operator, runtime):
    add(operator, "https://example.com/shop", "Shop")
    add(operator, "https://example.com/docs", "Docs")
    assert [site.id for site in runtime.stores.sites.all()] == ["example-com", "example-com-2"]


def test_two_sites_of_one_host_are_told_apart_by_their_names(operator, runtime):
    for address in ("https://example.com/", "https://example.com/docs", "https://example.com/shop"):
        add(operator, address)
    names = [site.name for site in runtime.stores.sites.all()]
    assert names == ["example.com", "example.com/docs", "example.com/shop"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("", "Write the address of the site"),
        ("   ", "Write the address of the site"),
        ("ftp://example.com/", "starts with http:// or https://"),
        ("http://192.168.1.1/", "CRAWL_ALLOW_PRIVATE=1"),
        ("localhost:3000", "CRAWL_ALLOW_PRIVATE=1"),
        ("https://lantern.example/", "starts at this address already"),
    ],
)
def test_a_bad_address_is_explained_beside_the_field_and_kept(operator, runtime, site, address, says):
    answer = add(operator, address)
    assert answer.status_code == 422
    wrong = re.search(r'<p class="error" id="address-error">(.*?)</p>', answer.text)[1]
    assert says in wrong
    assert 'aria-describedby="address-hint address-error"' in answer.text
    assert [known.id for known in runtime.stores.sites.all()] == ["lantern"]


def test_a_name_that_is_too_long_is_explained(operator):
    answer = add(operator, "https://example.com/", "x" * 101)
    assert answer.status_code == 422
    assert "at most 100 characters" in answer.text


def test_a_private_address_is_fine_where_it_is_permitted(make_runtime, password_hash):
    runtime = make_runtime(crawl_allow_private=True)
    runtime.people.operators.create("ada@example.com", password_hash)
    browser = Browser(make_app(runtime))
    log_in(browser)
    assert add(browser, "http://127.0.0.1:9000/").location == "/admin/sites/127-0-0-1-9000/start/crawl"


def test_a_second_crawl_is_not_begun_while_one_waits_or_runs(operator, runtime, site):
    for state in ("waiting", "running"):
        answer = operator.send("/admin/sites/lantern", {}, "/admin/sites/lantern/crawls")
        assert answer.location == "/admin/sites/lantern"
        assert len(runtime.stores.crawls.history("lantern")) == 1, state
        begin_crawl(runtime.stores.crawls, "lantern")
    assert "is already under way" in operator.get("/admin/sites/lantern").text


def test_a_site_can_be_crawled_again(operator, runtime, site):
    make_crawl(runtime)
    operator.send("/admin/sites/lantern", {}, "/admin/sites/lantern/crawls")
    assert [run.state for run in runtime.stores.crawls.history("lantern")] == ["waiting", "done"]


def test_the_page_shows_what_was_found_fetched_and_indexed(operator, runtime, site):
    make_crawl(runtime)
    page = operator.get("/admin/sites/lantern").text
    assert re.findall(r"<dt>([^<]+)</dt><dd>(?:<a [^>]+>)?(\d+)", page) == [
        ("Pages found", "6"),
        ("Fetched", "3"),
        ("Indexed", "3"),
        ("Live for visitors", "3"),
    ]


def test_a_failed_crawl_shows_its_message(operator, runtime, site):
    make_crawl(runtime, state="failed", message="lantern.example does not answer: is it running?")
    page = operator.get("/admin/sites/lantern").text
    assert "lantern.example does not answer: is it running?" in page
    assert "lantern.example does not answer: is it running?" in operator.get("/admin/").text


def test_progress_changes_its_version_only_when_there_is_something_new(operator, runtime, site):
    def progress():
        return operator.get("/admin/sites/lantern/progress").json

    crawl_id = make_crawl(runtime, state="running")
    first = progress()
    assert first["active"]
    assert progress()["version"] == first["version"]
    runtime.stores.crawls.progress(crawl_id, 9, 4, 3)
    second = progress()
    assert second["version"] != first["version"]
    assert ">9</dd>" in second["html"]
    runtime.stores.crawls.finish(crawl_id, "done", "4 pages indexed")
    assert not progress()["active"]


def test_the_embed_tag_names_the_public_address_and_the_site(make_runtime, password_hash):
    runtime = make_runtime(public_url="https://chat.example.com")
    runtime.people.operators.create("ada@example.com", password_hash)
    make_site(runtime)
    browser = Browser(make_app(runtime))
    log_in(browser, base_url="https://localhost")
    tag = re.search(
        r'<code id="tag">(.*?)</code>', browser.get("/admin/sites/lantern", base_url="https://localhost").text
    )[1]
    assert tag == (
        "&lt;script src=&#34;https://chat.example.com/widget/embed.js&#34; data-site=&#34;lantern&#34; async&gt;&lt;/script&gt;"
    )


def test_without_a_public_address_the_operator_is_warned(operator, site):
    assert "PUBLIC_URL set to" in operator.get("/admin/sites/lantern").text


def test_origins_are_saved_as_they_are_meant(operator, runtime, site):
    typed = "https://Shop.Lantern.example/\n\n https://lantern.example:8443 \nhttps://shop.lantern.example"
    answer = operator.send("/admin/sites/lantern", {"origins": typed}, "/admin/sites/lantern/origins")
    assert answer.location == "/admin/sites/lantern"
    stored = runtime.stores.sites.get("lantern")
    assert stored.origins == ("https://shop.lantern.example", "https://lantern.example:8443")
    assert stored.generation == site.generation
    assert (
        "https://shop.lantern.example\nhttps://lantern.example:8443"
        in operator.get("/admin/sites/lantern").text
    )


def test_wrong_origins_change_nothing_and_stay_in_the_field(operator, runtime, site):
    typed = "https://good.example\nbad.example/shop"
    answer = operator.send("/admin/sites/lantern", {"origins": typed}, "/admin/sites/lantern/origins")
    assert answer.status_code == 422
    assert "needs http:// or https:// in front" in answer.text
    assert "bad.example/shop</textarea>" in answer.text
    assert runtime.stores.sites.get("lantern").origins == ()


def test_origins_can_all_be_removed(operator, runtime, site):
    operator.send("/admin/sites/lantern", {"origins": "https://a.example"}, "/admin/sites/lantern/origins")
    operator.send("/admin/sites/lantern", {"origins": ""}, "/admin/sites/lantern/origins")
    assert runtime.stores.sites.get("lantern").origins == ()


def test_addresses_of_a_crawl_are_filtered_searched_and_counted(operator, runtime, site):
    crawl_id = make_crawl(runtime)

    def shown(query=""):
        page = operator.get(f"/admin/sites/lantern/crawls/{crawl_id}{query}").text
        return re.findall(r'<th role="rowheader"[^>]*><a href="https://lantern.example/([\w-]+)"', page)

    assert len(shown()) == 6
    assert shown("?state=gone") == ["old"]
    assert shown("?search=ROBOTS") == ["cart"]
    assert shown("?state=fetched&search=ret") == ["returns"]
    assert shown("?state=fetched&search=cart") == []
    assert "No address matches" in operator.get(f"/admin/sites/lantern/crawls/{crawl_id}?search=%25").text
    page = operator.get(f"/admin/sites/lantern/crawls/{crawl_id}?state=gone&search=o").text
    assert "/crawls/1?state=error&amp;search=o" in page, "a filter keeps the search"


def test_a_crawl_is_shown_under_its_own_site_only(operator, runtime, site):
    crawl_id = make_crawl(runtime)
    make_site(runtime, "other", "Other", "https://other.example/")
    assert operator.get(f"/admin/sites/other/crawls/{crawl_id}").status_code == 404


def test_long_lists_are_cut_into_pages(operator, runtime, site):
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern")
    CrawlJournal(runtime.database, crawl_id).write(
        [JournalEntry(f"https://lantern.example/{n:03}", 1, state="fetched") for n in range(230)]
    )
    address = f"/admin/sites/lantern/crawls/{crawl_id}"
    first, last = operator.get(address).text, operator.get(f"{address}?state=fetched&page=10").text
    assert 'rel="next"' in first
    assert 'rel="prev"' not in first
    assert last.count('role="rowheader"') == 5
    assert 'rel="next"' not in last
    assert f'href="{address}?state=fetched&amp;page=9"' in last
    for odd in ("0", "-1", "x", "99999999999999999999"):
        assert operator.get(f"{address}?page={odd}", follow_redirects=True).status_code == 200


def test_live_pages_are_listed_and_searched(operator, site):
    assert operator.get("/admin/sites/lantern/pages").text.count('role="rowheader"') == 3
    found = operator.get("/admin/sites/lantern/pages?search=lamp").text
    assert "https://lantern.example/lamp-care" in found
    assert found.count('role="rowheader"') == 1
    assert "No page matches" in operator.get("/admin/sites/lantern/pages?search=zzz").text
