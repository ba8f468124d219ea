from __future__ import annotations

import pytest

from crawler.fetcher import Fetcher
from crawler.robots import Robots


@pytest.fixture
def robots(site, options):
    made: list[Fetcher] = []

    def make(text: str | None = None, **changes) -> Robots:
        if text is not None:
            site.page("/robots.txt", text, content_type="text/plain")
        chosen = options(**changes)
        made.append(Fetcher(chosen))
        return Robots(chosen, made[-1])

    yield make
    for one in made:
        one.close()


def test_the_line_that_forbids_is_named(site, robots) -> None:
    rules = robots("User-agent: *\nDisallow: /private/\nDisallow: /cart # no\nAllow: /private/terms\n")
    assert rules.verdict(site.url("/private/terms")).allowed
    verdict = rules.verdict(site.url("/private/x"))
    assert (verdict.allowed, verdict.reason) == (False, 'robots.txt forbids it ("Disallow: /private/")')
    assert "Disallow: /cart" in rules.verdict(site.url("/cart?id=1")).reason


def test_rules_for_our_name_come_before_those_for_all(site, robots) -> None:
    rules = robots("User-agent: *\nDisallow: /\n\nUser-agent: DocentBot\nDisallow: /secret\n")
    assert rules.verdict(site.url("/open")).allowed
    assert not rules.verdict(site.url("/secret")).allowed


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_missing_file_allows_everything(site, robots, status: int) -> None:
    site.page("/robots.txt", "User-agent: *\nDisallow: /", status=status)
    assert robots().verdict(site.url("/x")).allowed


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failing_server_forbids_everything_for_now(site, robots, status: int) -> None:
    site.page("/robots.txt", "", status=status)
    verdict = robots().verdict(site.url("/x"))
    assert not verdict.allowed
    assert f"status {status}" in verdict.reason


def test_redirects_are_followed(site, robots) -> None:
    site.redirect("/robots.txt", "/elsewhere.txt", 301)
    site.page("/elsewhere.txt", "User-agent: *\nDisallow: /x", content_type="text/plain")
    assert not robots().verdict(site.url("/x")).allowed


def test_the_file_is_asked_for_once(site, robots) -> None:
    rules = robots("User-agent: *\nDisallow: /x")
    for path in ("/a", "/b", "/x"):
        rules.verdict(site.url(path))
    assert site.hits("/robots.txt") == 1


def test_a_crawl_delay_is_obeyed_up_to_a_limit(site, robots) -> None:
    assert robots("User-agent: *\nCrawl-delay: 2.5\n").delay_s(site.url("/")) == 2.5
    assert robots("User-agent: *\nCrawl-delay: 86400\n", max_delay_s=10).delay_s(site.url("/")) == 10
    assert robots("User-agent: *\nDisallow:\n").delay_s(site.url("/")) == 0


def test_sitemap_lines_are_found_relative_ones_too(site, robots) -> None:
    rules = robots("Sitemap: /a.xml\nUser-agent: *\nDisallow: /x\nSitemap: https://cdn.example/b.xml\n")
    assert rules.sitemaps(site.url("/")) == [site.url("/a.xml"), "https://cdn.example/b.xml"]


def test_junk_instead_of_rules_allows_everything(site, robots) -> None:
    assert robots("<html>\x00 not a robots file \ufeff").verdict(site.url("/x")).allowed
