"""One test per trap: the honest pages come home, the trap ends with a reason, and it costs little."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from crawler.crawl import crawl
from crawler.options import CrawlOptions
from crawler.report import UrlOutcome, UrlState
from tests.crawler.conftest import html
from tests.crawler.trap_site import HONEST, LAUGHS, OUTSIDE, TrapSite

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
Found = dict[str, UrlOutcome]


@pytest.fixture
def site() -> Iterator[TrapSite]:
    served = TrapSite()
    yield served
    served.close()


@pytest.fixture
def trapped(site, options) -> Callable[..., Found]:
    """Crawls the honest pages and what the given paths lead to; the ends by path."""

    def run(*paths: str, **changes: object) -> Found:
        starts = tuple(map(site.url, ("/", *paths)))
        quick = {"page_time_s": 5.0, "max_bytes": 2_000_000, "render": "never", "processes": 0}
        chosen: CrawlOptions = options(**{"start_urls": starts, "soft_404": False, **quick, **changes})
        found: Found = {}
        began = time.monotonic()
        for outcome in crawl(chosen):
            path = "/" + outcome.url.split("/", 3)[3]
            assert path not in found, f"{path} ended twice"
            found[path] = outcome
        assert time.monotonic() - began < 30
        if "/" in found and found["/"].state is UrlState.FETCHED:
            assert {path: found[path].state.value for path in HONEST} == dict.fromkeys(HONEST, "fetched")
        return found

    return run


def reasons(found: Found, state: str) -> set[str]:
    return {outcome.reason for outcome in found.values() if outcome.state.value == state}


def end(found: Found, path: str) -> tuple[str, str]:
    return found[path].state.value, found[path].reason


def test_an_endless_calendar_is_closed_when_it_says_nothing_new(site, trapped) -> None:
    found = trapped("/calendar/2026/6", endless_after=10)
    assert 'the pattern "/calendar/#/#" looks endless: 10 pages brought nothing new' in reasons(
        found, "over_limit"
    )
    assert site.asked("/calendar/") < 80


def test_a_calendar_does_not_lead_into_other_centuries(site, trapped) -> None:
    found = trapped("/calendar/2019/12", max_date_years=1, endless_after=1000, max_depth=500)
    assert any("its date lies far from today" in reason for reason in reasons(found, "over_limit"))
    assert site.asked("/calendar/") < 450


def test_filters_that_combine_without_end_are_limited(site, trapped) -> None:
    found = trapped("/shop", max_query_variants=15)
    assert reasons(found, "over_limit") == {'more than 15 different queries of "/shop"'}
    assert site.asked("/shop") <= 16


@pytest.mark.parametrize(
    ("path", "state", "reason"),
    [
        ("/loop/self", "error", "redirects to itself"),
        ("/loop/a", "redirected", "/loop/b"),
        ("/loop/out", "redirected", "to http://other.example/landing, which is another site"),
        ("/loop/private", "redirected", "to http://10.0.0.1/router, which is another site"),
        ("/loop/metadata", "redirected", "which is another site"),
        ("/loop/nowhere", "error", "redirect without a usable target (status 302)"),
    ],
)
def test_redirects_that_lead_nowhere_end(site, trapped, path: str, state: str, reason: str) -> None:
    found = trapped(path)
    assert found[path].state.value == state
    assert reason in found[path].reason
    assert site.asked("/loop/") <= 2


def test_a_chain_of_redirects_ends(site, trapped) -> None:
    found = trapped("/chain/1", max_redirects=5)
    assert end(found, "/chain/6") == ("error", "more than 5 redirects in a row")
    assert site.asked("/chain/") == 6


def test_an_endless_row_of_copies_is_closed(site, trapped) -> None:
    others = (f"/item/{n}" for n in range(30))  # enough to tell what stands on most pages of the site
    found = trapped(*others, "/copy/1", endless_after=8, concurrency=1, max_depth=200)
    assert end(found, "/copy/2") == ("duplicate", f"same content as {site.url('/copy/1')}")
    assert reasons(found, "over_limit") == {
        'the pattern "/copy/#" looks endless: 8 pages brought nothing new'
    }
    assert site.asked("/copy/") < 50


def test_a_print_version_is_a_near_duplicate_and_a_variant_is_not(site, trapped) -> None:
    found = trapped("/near/page", near_duplicates=0.9, concurrency=1)
    assert found["/near/page"].state is UrlState.FETCHED
    assert found["/near/blue"].state is UrlState.FETCHED
    state, reason = end(found, "/near/print")
    assert state == "duplicate"
    assert reason.startswith(f"nearly the same as {site.url('/near/page')} (9")


def test_a_page_that_only_says_that_it_is_gone_is_gone(site, trapped) -> None:
    found = trapped("/soft/", soft_404=True)
    for path in ("/soft/old-offer", "/soft/older"):
        assert end(found, path) == (
            "gone", "the server gives the same page for an address that does not exist (status 200)",
        )  # fmt: skip
    assert found["/soft/chair"].state is found["/soft/"].state is UrlState.FETCHED
    assert site.asked("/soft/") == 5, "four addresses, and one that was made up"


def test_very_deep_paths_end(site, trapped) -> None:
    found = trapped("/deep/", max_path_depth=6)
    assert reasons(found, "over_limit") == {"its path has 7 parts, the limit is 6"}
    assert site.asked("/deep/") == 6


def test_links_that_grow_end(site, trapped) -> None:
    found = trapped("/grow/")
    assert any(reason.startswith('its path repeats "grow"') for reason in reasons(found, "over_limit"))
    assert any("help" in reason and "its path repeats" in reason for reason in reasons(found, "over_limit"))
    assert site.asked("/grow/") < 60


def test_a_page_that_changes_at_each_look_ends(site, trapped) -> None:
    found = trapped("/changing", max_query_variants=10)
    assert reasons(found, "over_limit") == {'more than 10 different queries of "/changing"'}
    assert site.asked("/changing") == 11


def test_a_loop_of_refreshing_pages_ends(site, trapped) -> None:
    found = trapped("/refresh/a", "/refresh/1", max_redirects=4)
    assert end(found, "/refresh/b") == ("redirected", f"to {site.url('/refresh/a')}")
    assert end(found, "/refresh/5") == ("error", "more than 4 redirects in a row")
    assert site.asked("/refresh/") == 7


def test_session_ids_do_not_multiply_pages(site, trapped) -> None:
    found = trapped("/session")
    assert {path for path in found if path.startswith("/session")} == {"/session", "/session?page=2"}
    assert site.asked("/session") == 2


def test_a_page_of_ten_thousand_links_is_bounded_by_the_limits(site, trapped) -> None:
    found = trapped("/index-of-all", max_pages=9, max_urls=300)
    assert len(found) == 301, "300 addresses, and one that tells of the others"
    assert "the limit of 9 pages was reached" in reasons(found, "over_limit")
    assert site.asked("/item/") <= 9


def test_ten_thousand_addresses_of_one_shape_are_limited_on_request(site, trapped) -> None:
    found = trapped("/index-of-all", max_shape_urls=12)
    assert reasons(found, "over_limit") == {'more than 12 addresses of the pattern "/item/#"'}
    assert site.asked("/item/") == 12


@pytest.mark.parametrize("path", ["/slow/headers", "/slow/body", "/slow/silent"])
def test_a_server_that_trickles_is_given_up(site, trapped, path: str) -> None:
    began = time.monotonic()
    state, reason = end(trapped(path, page_time_s=1.0, timeout_s=0.8), path)
    assert state == "error"
    assert "not finished after 1 s" in reason or "did not answer within 0.8 s" in reason
    assert time.monotonic() - began < 10


def test_an_endless_answer_is_cut(trapped) -> None:
    assert end(trapped("/endless"), "/endless") == ("too_large", "more than 2,000,000 bytes")


@pytest.mark.parametrize("kind", ["gzip", "gzip-twice", "deflate", "brotli"])
def test_a_bomb_does_not_go_off(trapped, kind: str) -> None:
    tracemalloc.start()
    found = trapped(f"/bomb/{kind}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    state, reason = end(found, f"/bomb/{kind}")
    assert (state, reason) == ("too_large", "more than 2,000,000 bytes") or "not understood" in reason
    assert peak < 25_000_000


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("/type/binary-as-html", ("fetched", "empty", "unsupported")),
        ("/type/html-as-binary", ("unsupported", "fetched")),
        ("/type/html-without-type", ("fetched",)),
        ("/type/image", ("unsupported",)),
        ("/type/nonsense", ("fetched",)),
    ],
)
def test_wrong_types_end_in_a_state(trapped, path: str, state: tuple[str, ...]) -> None:
    outcome = trapped(path)[path]
    assert outcome.state.value in state
    assert outcome.reason or outcome.page is not None


@pytest.mark.parametrize(
    "name",
    [
        "garbage",
        "nothing",
        "status",
        "header",
        "headers",
        "length-too-long",
        "length-huge",
        "chunks-cut",
        "chunks-nonsense",
        "gzip",
    ],
)
def test_broken_answers_are_errors_with_a_reason(trapped, name: str) -> None:
    # The server closes the connection that it spoilt, so a request on it may need a second try.
    state, reason = end(trapped(f"/broken/{name}", retries=1), f"/broken/{name}")
    assert state == ("too_large" if name == "length-huge" else "error")
    assert reason


@pytest.mark.parametrize("name", ["length-too-short", "length-nonsense"])
def test_a_wrong_length_costs_at_most_its_page(trapped, name: str) -> None:
    assert trapped(f"/broken/{name}", retries=1)[f"/broken/{name}"].state in (
        UrlState.FETCHED,
        UrlState.ERROR,
        UrlState.EMPTY,
    )


def test_a_line_of_5_megabytes_is_read(site, trapped) -> None:
    site.page("/line", html("Line", "word " * 1_000_000))
    assert trapped("/line", max_bytes=6_000_000)["/line"].state is UrlState.FETCHED


def test_other_hosts_are_not_asked_however_many_there_are(site, trapped) -> None:
    port = site.server.server_port
    site.page(
        "/hosts", html("Hosts", "Many.", links=tuple(f"http://h{n}.localhost:{port}/" for n in range(30)))
    )
    found = trapped("/hosts")
    assert set(found) == {*HONEST, "/hosts"}
    assert {headers["host"] for _, headers in site.requests} == {f"127.0.0.1:{port}"}


def sitemap(*addresses: str) -> str:
    return (
        f"<urlset {NS}>" + "".join(f"<url><loc>{address}</loc></url>" for address in addresses) + "</urlset>"
    )


@pytest.mark.parametrize("kind", ["bomb", "laughs", "outside", "endless", "chain"])
def test_bad_sitemaps_cost_little_and_no_page(site, trapped, kind: str) -> None:
    good = site.url("/listed")
    site.page("/listed", html("Listed", "Only the sitemap leads here."))
    if kind == "chain":
        for n in range(40):
            site.page(
                f"/map{n}",
                f"<sitemapindex {NS}><sitemap><loc>{site.url(f'/map{n + 1}')}</loc></sitemap></sitemapindex>",
            )
        site.page(
            "/sitemap.xml",
            f"<sitemapindex {NS}><sitemap><loc>{site.url('/map0')}</loc></sitemap></sitemapindex>",
        )
    elif kind == "endless":
        site.routes["/sitemap.xml"] = site.traps["/endless"]
    else:
        body = {
            "bomb": gzip.compress((sitemap(good).removesuffix("</urlset>") + " " * 30_000_000).encode()),
            "laughs": (LAUGHS + sitemap(good, f"{good}?&j;")).encode(),
            "outside": (OUTSIDE + sitemap(good, "&x;", "http://127.0.0.1/&x;&y;")).encode(),
        }[kind]
        site.page("/sitemap.xml", body, content_type="application/xml")
    tracemalloc.start()
    found = trapped(sitemap_max_bytes=1_000_000, sitemap_max_files=6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25_000_000
    assert all(len(path) < 100 for path in found)
    assert ("/listed" in found) is (kind in ("bomb", "laughs", "outside"))
    assert site.asked("/map") <= 5


@pytest.mark.parametrize("kind", ["endless", "huge", "slow", "loop", "error"])
def test_bad_robots_files_end_with_a_reason(site, trapped, kind: str) -> None:
    rules = "User-agent: *\nDisallow: /prices\n"
    if kind == "endless":
        site.routes["/robots.txt"] = site.traps["/endless"]
    elif kind == "slow":
        site.routes["/robots.txt"] = site.traps["/slow/"]
    elif kind == "huge":
        site.page("/robots.txt", rules + "# filler\n" * 100_000, content_type="text/plain")
    elif kind == "loop":
        site.redirect("/robots.txt", "/robots.txt")
    else:
        site.page("/robots.txt", "", status=500)
    outcomes = {}
    for outcome in crawl(
        CrawlOptions(
            start_urls=(site.url("/"), site.url("/prices")), allow_private=True, retries=0, page_time_s=1.0,
            timeout_s=1.0, render="never", processes=0, soft_404=False,
        )
    ):  # fmt: skip
        outcomes["/" + outcome.url.split("/", 3)[3]] = end({"x": outcome}, "x")
    if kind in ("endless", "loop"):
        assert set(outcomes) == set(HONEST)
        assert {state for state, _ in outcomes.values()} == {"fetched"}
    elif kind == "huge":
        assert outcomes["/prices"] == ("disallowed", 'robots.txt line 2: "Disallow: /prices"')
        assert outcomes["/"][0] == "fetched"
    else:
        assert "robots.txt could not be read" in outcomes["/"][1]
        assert site.hits("/") == 0


def test_an_xhtml_page_with_entities_is_read_without_them(site, trapped) -> None:
    site.page(
        "/laughs",
        LAUGHS + "<html><body><p>Funny: &j;</p></body></html>",
        content_type="application/xhtml+xml",
    )
    site.page(
        "/outside",
        OUTSIDE + "<html><body><p>Outside: &x; &y;</p></body></html>",
        content_type="application/xhtml+xml",
    )
    found = trapped("/laughs", "/outside")
    assert len(found["/laughs"].page.text) < 2000
    assert "&x;" in found["/outside"].page.text or found["/outside"].page.text.startswith("Outside:")


def test_all_traps_at_once_end_in_bounded_time(site, options) -> None:
    """With the limits of a small site; nothing here is endless, however much the site tries."""
    starts = ("/", "/calendar/2026/6", "/shop", "/loop/a", "/chain/1", "/copy/1", "/near/page", "/soft/", "/deep/", "/grow/",
              "/changing", "/refresh/1", "/session", "/index-of-all", "/slow/headers", "/slow/body", "/slow/silent", "/endless",
              "/bomb/gzip", "/bomb/brotli", "/type/image", "/broken/garbage", "/broken/nothing", "/broken/gzip")  # fmt: skip
    site.routes["/sitemap.xml"] = site.traps["/slow/"]
    chosen = options(
        start_urls=tuple(map(site.url, starts)), render="never", processes=0, retries=1, page_time_s=1.0,
        timeout_s=0.5, max_bytes=2_000_000, max_pages=300, max_urls=2000, max_query_variants=20,
        endless_after=10, concurrency=8,
    )  # fmt: skip
    began = time.monotonic()
    found = {"/" + outcome.url.split("/", 3)[3]: outcome for outcome in crawl(chosen)}
    assert time.monotonic() - began < 60
    assert {path: found[path].state.value for path in HONEST} == dict.fromkeys(HONEST, "fetched")
    assert set(starts) <= set(found)
    assert len(site.requests) < 700
