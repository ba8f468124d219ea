from __future__ import annotations

import contextlib
import gzip
import multiprocessing
import threading
import time

import pytest

from crawler.crawl import crawl
from crawler.errors import BadFile, BadStart
from crawler.extractors import SourceDocument
from crawler.fetching.fetcher import Validators
from crawler.judging.duplicates import NearDuplicates
from crawler.judging.templates import ENOUGH_PAGES
from crawler.options import CrawlOptions
from crawler.reading import PageReader
from crawler.report import CrawlReport, UrlState
from tests.crawler.conftest import html


def states(found) -> dict[str, str]:
    return {path: outcome.state.value for path, outcome in found.items()}


def crawler_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("crawl-")]


def test_every_linked_page_comes_home_once(site, ends) -> None:
    site.page("/", html("Home", "Welcome to us.", links=("/a", "/b#x", "b", "https://other.example/")))
    site.page("/a", html("A", "About a.", links=("/", "/b", "/c?utm_source=a")))
    site.page("/b", html("B", "About b."))
    site.page("/c", html("C", "About c."))
    found = ends()
    assert states(found) == dict.fromkeys(("/", "/a", "/b", "/c"), "fetched")
    assert found["/c"].depth == 2
    assert found["/a"].page.title == "A"
    assert found["/a"].page.url == site.url("/a")


def test_the_sitemap_leads_to_pages_that_nothing_links_to(site, ends) -> None:
    site.page("/", html("Home", "Welcome to us."))
    site.page("/alone", html("Alone", "Nobody links here."))
    ns = "http://www.sitemaps.org/schemas/sitemap/0.9"
    locs = "".join(f"<url><loc>{u}</loc></url>" for u in (site.url("/alone"), "https://other.example/x"))
    site.page("/sitemap.xml", gzip.compress(f"<urlset xmlns='{ns}'>{locs}</urlset>".encode()))
    assert states(ends()) == {"/": "fetched", "/alone": "fetched"}
    assert states(ends(use_sitemaps=False)) == {"/": "fetched"}


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_the_page_limit_is_exact_and_the_rest_is_named(site, ends, limit: int) -> None:
    site.page("/", html("Home", "Welcome.", links=tuple(f"/{n}" for n in range(12))))
    for n in range(12):
        if n % 3 == 0:
            site.redirect(f"/{n}", f"/to{n}")
            site.page(f"/to{n}", html(f"To {n}", f"Moved page number {n}."))
        elif n % 3 == 1:
            site.page(f"/{n}", html(f"Page {n}", f"Page number {n}."))
    found = ends(max_pages=limit, concurrency=6)
    pages = [o for o in found.values() if o.state is UrlState.FETCHED]
    assert len(pages) == limit
    left = [o for o in found.values() if o.state is UrlState.OVER_LIMIT]
    assert left
    assert f"limit of {limit} pages" in left[0].reason


def test_depth_counts_clicks(site, ends) -> None:
    for n in range(5):
        site.page("/" if n == 0 else f"/{n}", html(f"Level {n}", f"Text of level {n}.", links=(f"/{n + 1}",)))
    found = ends(max_depth=2)
    assert states(found) == {"/": "fetched", "/1": "fetched", "/2": "fetched", "/3": "over_limit"}
    assert found["/3"].reason == "more than 2 clicks from the start"


def test_every_end_has_its_reason(site, ends) -> None:
    links = (
        "/gone",
        "/broken",
        "/image",
        "/zip.zip",
        "/cart/1",
        "/secret",
        "/hidden",
        "/header",
        "/blank",
        "/big",
        "/out",
        "/odd",
    )
    site.page("/", html("Home", "Welcome.", links=links))
    site.page("/robots.txt", "User-agent: *\nDisallow: /secret")
    site.page("/gone", "", status=410)
    site.page("/broken", "", status=500)
    site.page("/image", b"GIF89a", content_type="image/gif")
    site.page("/hidden", html("Hidden", "x y", head='<meta name="robots" content="NOINDEX">'))
    site.page(
        "/header", html("Header", "x y"), headers={"X-Robots-Tag": "otherbot: nofollow, docentbot: noindex"}
    )
    site.page("/blank", "<html><body></body></html>")
    site.page("/big", html("Big", "word " * 20_000))
    site.redirect("/out", "https://other.example/")
    site.page("/odd", "", status=302)
    found = ends(exclude=("/cart/*",), max_bytes=50_000)
    reasons = {path: (o.state.value, o.reason, o.status) for path, o in found.items()}
    assert reasons["/gone"] == ("gone", "the server says it is gone (status 410)", 410)
    assert reasons["/broken"] == ("error", "status 500", 500)
    assert reasons["/image"] == ("unsupported", "its type is image/gif, not a web page", 200)
    assert reasons["/zip.zip"] == ("unsupported", "a .zip file, not a web page", 0)
    assert reasons["/cart/1"] == ("excluded", 'matches the exclude pattern "/cart/*"', 0)
    assert reasons["/secret"] == ("disallowed", 'robots.txt line 2: "Disallow: /secret"', 0)
    assert reasons["/hidden"] == ("noindex", "its markup says noindex", 200)
    assert reasons["/header"] == ("noindex", "its X-Robots-Tag says noindex", 200)
    assert reasons["/blank"] == ("empty", "no text on the page", 200)
    assert reasons["/big"][0] == "too_large"
    assert reasons["/out"] == ("redirected", "to https://other.example/, which is another site", 302)
    assert reasons["/odd"][0] == "error"
    assert site.hits("/zip.zip") == site.hits("/cart/1") == site.hits("/secret") == 0


def test_nofollow_is_honoured_on_pages_and_links(site, ends) -> None:
    site.page("/", html("Home", 'Go to <a rel="nofollow" href="/a">a</a>.', links=("/b",)))
    site.page("/b", html("B", "Text.", links=("/c",), head='<meta name="robots" content="nofollow">'))
    assert states(ends()) == {"/": "fetched", "/b": "fetched"}


def test_a_redirect_loop_ends(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/self", "/1")))
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    site.redirect("/self", "/self")
    for n in range(1, 30):
        site.redirect(f"/{n}", f"/{n + 1}")
    found = ends(max_redirects=4)
    assert states(found)["/b"] == "redirected"
    assert found["/self"].reason == "redirects to itself"
    assert found["/5"].reason == "more than 4 redirects in a row"
    assert "/6" not in found


def test_a_meta_refresh_is_a_redirect(site, ends) -> None:
    site.page(
        "/", '<html><head><meta http-equiv="refresh" content="0; url=new/"></head><body>Moved</body></html>'
    )
    site.page("/new/", html("New", "Here we are."))
    assert states(ends()) == {"/": "redirected", "/new/": "fetched"}


def test_equal_pages_are_duplicates_of_the_first(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/print/a", "/a?copy=1")))
    for path in ("/a", "/print/a", "/a?copy=1"):
        site.page(path, html("A", "The very same text."))
    found = ends(concurrency=1)
    assert sorted(states(found).values()) == ["duplicate", "duplicate", "fetched", "fetched"]
    assert found["/print/a"].reason == f"same content as {site.url('/a')}"


def test_index_files_are_learned_from_the_first_pairs(site, ends) -> None:
    folders = [f"/{number}/" for number in range(30)]
    links = ("/index.html", *(path for folder in folders for path in (folder, f"{folder}index.html")))
    for path in ("/", "/index.html"):
        site.page(path, html("Home", "Welcome.", links=links))
    for folder in folders:
        for path in (folder, f"{folder}index.html"):
            site.page(path, html(folder, f"All about {folder}."))
    found = ends(concurrency=1)
    assert states(found)["/index.html"] == "duplicate"
    assert {states(found)[f"{folder}index.html"] for folder in folders} == {"duplicate"}
    assert site.hits("/29/index.html") == 0


def test_index_files_that_differ_from_their_folder_stay_pages(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/index.html",)))
    site.page("/index.html", html("The old home", "Another text altogether."))
    assert states(ends()) == {"/": "fetched", "/index.html": "fetched"}


def test_a_relative_canonical_makes_the_copy_a_duplicate(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/shoes?sort=price", "/shoes")))
    site.page(
        "/shoes?sort=price", html("Shoes", "Sorted by price.", head='<link rel="canonical" href="shoes">')
    )
    site.page("/shoes", html("Shoes", "All shoes.", head='<link rel="canonical" href="shoes">'))
    found = ends()
    assert states(found) == {"/": "fetched", "/shoes": "fetched", "/shoes?sort=price": "duplicate"}
    assert found["/shoes?sort=price"].reason == f"says it is a copy of {site.url('/shoes')}"


@pytest.mark.parametrize(
    "target", ["/missing", "https://other.example/a", "file:///a.html", "/a", "/b"],
    ids=["gone", "another site", "no web address", "itself", "each other"],
)  # fmt: skip
def test_a_canonical_that_leads_nowhere_loses_no_page(site, ends, target: str) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/b")))
    site.page("/a", html("A", "Text of a.", head=f'<link rel="canonical" href="{target}">'))
    site.page(
        "/b", html("B", "Text of b.", head='<link rel="canonical" href="/a">' if target == "/b" else "")
    )
    found = ends()
    assert states(found)["/a"] == "fetched"
    assert states(found)["/b"] == "fetched"


def test_a_template_that_calls_every_page_a_copy_of_the_home_page_is_not_believed(site, ends) -> None:
    head = '<link rel="canonical" href="/">'
    site.page("/", html("Home", "Welcome.", links=("/a", "/b"), head=head))
    for name in "ab":
        site.page(f"/{name}", html(name, f"Text of {name}.", head=head))
    assert set(states(ends()).values()) == {"fetched"}


def test_the_page_limit_holds_with_canonicals(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", head='<link rel="canonical" href="/home">', links=("/x",)))
    site.page("/home", html("Home", "Welcome home.", head='<link rel="canonical" href="/home">'))
    site.page("/x", html("X", "Text."))
    found = ends(max_pages=1)
    assert list(states(found).values()).count("fetched") == 1


def test_an_unchanged_site_costs_one_304_a_page(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a",)), headers={"ETag": '"h1"'})
    site.page("/a", html("A", "Text of a."), headers={"Last-Modified": "Tue, 01 Oct 2024 10:00:00 GMT"})
    first = ends()
    known = {
        o.page.url: Validators(o.page.etag, o.page.last_modified, o.page.content_hash)
        for o in first.values()
        if o.page
    }
    site.page("/", "", status=304)
    site.page("/a", "", status=304)
    again = ends(known)
    assert states(again) == {"/": "unchanged", "/a": "unchanged"}
    assert again["/a"].page is None
    conditions = {
        path: headers
        for path, headers in site.requests
        if "if-none-match" in headers or "if-modified-since" in headers
    }
    assert set(conditions) == {"/", "/a"}


def test_equal_content_without_validators_is_unchanged_and_changed_content_is_fetched(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a",)))
    site.page("/a", html("A", "Old text."))
    known = {o.page.url: Validators(content_hash=o.page.content_hash) for o in ends().values() if o.page}
    site.page("/a", html("A", "New text."))
    again = ends(known)
    assert states(again) == {"/": "unchanged", "/a": "fetched"}
    assert again["/"].page is not None


def test_known_pages_are_visited_though_nothing_links_to_them(site, ends) -> None:
    site.page("/", html("Home", "Welcome."))
    site.page("/kept", html("Kept", "Still here."))
    known = {site.url("/kept"): Validators(content_hash="x"), site.url("/lost"): Validators(content_hash="y")}
    assert states(ends(known)) == {"/": "fetched", "/kept": "fetched", "/lost": "gone"}


def test_a_page_that_moved_is_no_duplicate_of_its_old_address(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/new", "/new2")))
    site.page("/old", html("Moved", "The text that moves."))
    known = {
        o.page.url: Validators(content_hash=o.page.content_hash)
        for o in ends(start_urls=(site.url("/old"),)).values()
    }
    site.page("/old", "", status=404)
    site.page("/new", html("Moved", "The text that moves."))
    site.page("/new2", html("Moved", "The text that moves."))
    found = states(ends(known))
    assert found.pop("/old") == "gone"
    assert sorted(found.values()) == ["duplicate", "fetched", "fetched"]


def test_429_is_waited_out_as_asked(site, ends) -> None:
    asked: list[float] = []
    page = html("Home", "Welcome.")

    def busy(handler) -> None:
        asked.append(time.monotonic())
        first = len(asked) == 1
        body = b"" if first else page.encode()
        handler.send_response(429 if first else 200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Retry-After", "1")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    site.routes["/"] = busy
    assert states(ends(retries=2)) == {"/": "fetched"}
    assert asked[1] - asked[0] >= 1.0


def test_a_pause_that_is_too_long_is_not_waited_for(site, ends) -> None:
    site.page("/", "", status=503, headers={"Retry-After": "86400"})
    found = ends(retries=2)
    assert found["/"].reason == "status 503, asks to come back after 86400"
    assert site.hits("/") == 1


def test_robots_with_a_server_error_stops_everything_for_now(site, ends) -> None:
    site.page("/robots.txt", "", status=503)
    site.page("/", html("Home", "Welcome."))
    found = ends()
    assert found["/"].state is UrlState.DISALLOWED
    assert "nothing is fetched for now" in found["/"].reason
    assert site.hits("/") == 0


def test_a_path_prefix_keeps_the_crawl_in_its_part(site, ends) -> None:
    site.page("/docs/", html("Docs", "Welcome.", links=("/docs/a", "/blog/b")))
    site.page("/docs/a", html("A", "Text."))
    found = ends(start_urls=(site.url("/docs/"),), path_prefix="/docs/")
    assert states(found) == {"/docs/": "fetched", "/docs/a": "fetched", "/blog/b": "excluded"}


def test_include_patterns_choose(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/help/a", "/news/b")))
    site.page("/help/a", html("A", "Text."))
    assert states(ends(include=("/help/*",))) == {"/": "fetched", "/help/a": "fetched", "/news/b": "excluded"}


def test_no_more_requests_at_once_than_allowed(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=tuple(f"/{n}" for n in range(20))))
    for n in range(20):
        site.page(f"/{n}", html(f"Page {n}", f"Number {n}."))
    ends(concurrency=3)
    assert site.most_at_once <= 4  # three threads and the reader of sitemaps


def test_a_delay_spreads_the_requests(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/b", "/c")))
    for name in "abc":
        site.page(f"/{name}", html(name, f"Text of {name}."))
    began = time.monotonic()
    ends(delay_s=0.1)
    assert time.monotonic() - began >= 0.3


def test_a_slow_consumer_holds_the_crawl_back(site, options) -> None:
    site.page("/", html("Home", "Welcome.", links=tuple(f"/{n}" for n in range(200))))
    for n in range(200):
        site.page(f"/{n}", html(f"Page {n}", f"Number {n}."))
    outcomes = crawl(options(concurrency=2))
    next(outcomes)
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline and len(site.requests) < 150:
        time.sleep(0.02)
    assert len(site.requests) < 60
    assert sum(1 for _ in outcomes) == 200


def test_closing_early_ends_all_threads_at_once(site, options) -> None:
    quick = tuple(f"/{number}" for number in range(ENOUGH_PAGES))
    site.page("/", html("Home", "Welcome.", links=("/slow1", "/slow2", *quick)))
    for path in quick:
        site.page(path, html(path, f"Text of {path}."))
    for path in ("/slow1", "/slow2"):
        site.routes[path] = lambda handler: site.released.wait(20)
    outcomes = crawl(options(timeout_s=30))
    next(outcomes)
    began = time.monotonic()
    outcomes.close()
    assert time.monotonic() - began < 5
    assert crawler_threads() == []


def test_the_stop_event_ends_the_crawl_soon_and_keeps_what_was_read(site, options) -> None:
    site.page("/", html("Home", "Welcome.", links=("/slow",)))
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def slow(handler) -> None:
        threads.append(threading.Timer(0.2, stop.set))
        threads[0].start()
        site.released.wait(20)

    site.routes["/slow"] = slow
    began = time.monotonic()
    found = [outcome.url for outcome in crawl(options(timeout_s=30), stop=stop)]
    assert found == [site.url("/")]
    assert time.monotonic() - began < 5
    assert crawler_threads() == []


def test_progress_counts_up_to_the_end(site, options) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/gone")))
    site.page("/a", html("A", "Text."))
    seen = []
    list(crawl(options(), on_progress=seen.append))
    last = seen[-1]
    assert (last.discovered, last.done, last.pages) == (3, 3, 2)
    assert last.counts == {UrlState.FETCHED: 2, UrlState.GONE: 1}


def test_pages_are_read_in_other_processes_as_here(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/a", "/b")))
    for name in "ab":
        site.page(f"/{name}", html(name, f"Text of {name}."))
    here = {path: o.page for path, o in ends().items()}
    assert {path: o.page for path, o in ends(processes=1).items()} == here


def test_a_site_with_10_000_links_on_a_page_is_no_trouble(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=tuple(f"/item/{n}" for n in range(10_000))))
    found = ends(max_pages=1, max_urls=500)
    assert len(found) == 501, "500 addresses, and one that tells of the others"


def test_a_line_of_5_megabytes_and_deep_nesting_are_read(site, ends) -> None:
    site.page("/", html("Home", "word " * 1_000_000, links=("/deep",)))
    site.page("/deep", "<html><body>" + "<div>" * 1500 + "the bottom of it all" + "</div>" * 1500)
    found = ends()
    assert states(found) == {"/": "fetched", "/deep": "fetched"}
    assert "the bottom of it all" in found["/deep"].page.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start_urls": ()}, "No start address"),
        ({"start_urls": ("ftp://example.com/",)}, "only http:// and https://"),
        ({"start_urls": ("what is this",)}, "is no web address"),
        ({"start_urls": ("https://example.com/",), "max_pages": 0}, "max_pages should be greater"),
        ({"start_urls": ("https://example.com/",), "delay_s": -1}, "delay_s should be greater"),
        ({"start_urls": ("https://example.com/",), "max_delay_s": -1}, "max_delay_s should be greater"),
        ({"start_urls": ("https://example.com/",), "max_wait_s": -1}, "max_wait_s should be greater"),
        ({"start_urls": ("https://example.com/",), "share_from": 0}, "share_from should be greater"),
        ({"start_urls": ("https://example.com/",), "exclude": ("cart",)}, 'Pattern "cart"'),
    ],
)
def test_options_that_cannot_work_say_so(changes, message: str) -> None:
    with pytest.raises(BadStart, match=message):
        CrawlOptions(**changes)


def test_a_bare_host_means_https() -> None:
    assert CrawlOptions(start_urls=("Example.com/docs",)).start_urls == ("https://example.com/docs",)


def test_a_start_that_redirects_to_another_site_says_where_to_start(site, options) -> None:
    site.redirect("/", "https://other.example/home")
    report = CrawlReport()
    for outcome in crawl(options()):
        report.add(outcome)
    assert (
        "redirects to https://other.example/home, which is another site. Start from there" in report.problem()
    )


def test_a_crawl_that_nobody_asks_for_outcomes_starts_nothing(site, options) -> None:
    crawl(options())
    assert crawler_threads() == []
    assert site.requests == []


def test_a_killed_reading_process_costs_one_page_and_no_more() -> None:
    reader = PageReader(processes=1)
    source = SourceDocument("https://example.com/", b"<p>Words of the page.</p>")
    assert reader.read(source).page.text == "Words of the page."
    for child in multiprocessing.active_children():
        child.kill()
        child.join()
    with contextlib.suppress(BadFile):
        reader.read(source)
    assert reader.read(source).page.text == "Words of the page."
    reader.close()


def test_a_page_that_defeats_its_extractor_is_an_error_of_that_page() -> None:
    with pytest.raises(BadFile, match="KeyError"):
        PageReader().read(SourceDocument("https://example.com/", b"", content_type="no/such"))


def test_a_sitemap_with_a_fault_is_listed_with_its_reason(site, ends) -> None:
    site.page("/", html("Home", "Welcome."))
    site.page("/robots.txt", f"User-agent: *\nSitemap: {site.url('/gone.xml')}")
    found = ends()
    assert (found["/gone.xml"].state, found["/gone.xml"].reason) == ("unsupported", "a sitemap: status 404")


def test_a_feed_leads_to_pages_that_nothing_links_to(site, ends) -> None:
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    site.page("/", html("Home", "Welcome.", head=feed))
    items = "".join(f"<item><link>{site.url(path)}</link></item>" for path in ("/new", "/newer"))
    site.page("/feed.xml", f"<rss><channel>{items}</channel></rss>", content_type="application/rss+xml")
    for path in ("/new", "/newer"):
        site.page(path, html(path, f"What is {path}."))
    assert states(ends())["/newer"] == "fetched"
    assert site.hits("/feed.xml") == 1


def test_slashes_are_learned_and_twins_not_asked_for_again(site, ends) -> None:
    folders = [f"/{number}" for number in range(40)]
    site.page("/", html("Home", "Welcome.", links=(*folders, *(f"{folder}/" for folder in folders))))
    for folder in folders:
        for path in (folder, f"{folder}/"):
            site.page(path, html(folder, f"All about {folder}."))
    found = ends(concurrency=1)
    assert {states(found)[f"{folder}/"] for folder in folders} == {"duplicate"}
    assert site.hits("/39/") == 0


def test_slashes_that_tell_pages_apart_are_left_alone(site, ends) -> None:
    folders = [f"/{number}" for number in range(30)]
    site.page("/", html("Home", "Welcome.", links=tuple(path for f in folders for path in (f, f"{f}/"))))
    for folder in folders:
        site.page(folder, html(folder, f"All about {folder}."))
        site.page(f"{folder}/", html(f"{folder} list", f"All things in {folder}."))
    assert set(states(ends()).values()) == {"fetched"}


LONG = "The old rose garden opens at nine and closes at six on every day of the week in summer and winter alike. "


def test_a_known_page_that_did_not_change_stays_the_original_of_its_near_copy(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/rose", "/rose/print")))
    head = {"ETag": '"1"'}
    site.page("/rose", html("Roses", LONG * 6), headers=head)
    site.page("/rose/print", html("Roses", LONG * 6, "Printed for you."))
    first = ends(concurrency=1)
    assert "nearly the same as" in first["/rose/print"].reason
    fingerprint = NearDuplicates(CrawlOptions(start_urls=("e.com",))).fingerprint(first["/rose"].page)

    def not_modified(handler) -> None:
        handler.send_response(304)
        handler.end_headers()

    site.routes["/rose"] = not_modified
    known = {site.url("/rose"): Validators(etag='"1"', content_hash="known", fingerprint=fingerprint)}
    assert "nearly the same as" in ends(known)["/rose/print"].reason


def test_a_page_that_moved_and_grew_is_no_copy_of_where_it_was(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=("/new",)))
    site.page("/new", html("Roses", LONG * 6, "Printed for you."))
    old = ends()["/new"].page
    fingerprint = NearDuplicates(CrawlOptions(start_urls=("e.com",))).fingerprint(old)
    known = {site.url("/old"): Validators(content_hash="known", fingerprint=fingerprint)}
    assert states(ends(known))["/new"] == "fetched"


def test_addresses_beyond_the_limit_of_addresses_are_not_passed_over_in_silence(site, ends) -> None:
    site.page("/", html("Home", "Welcome.", links=tuple(f"/{n}" for n in range(9))))
    found = ends(max_urls=4, use_sitemaps=False)
    told = [outcome.reason for outcome in found.values() if outcome.state is UrlState.OVER_LIMIT]
    assert told == ["the limit of 4 addresses was reached: this one and others were not noted"]
