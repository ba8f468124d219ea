from __future__ import annotations

import time

import pytest

from crawler.fetching.fetcher import Fetcher
from crawler.fetching.robots import Robots, RobotsRules


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
    assert (verdict.allowed, verdict.reason) == (False, 'robots.txt line 2: "Disallow: /private/"')
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


def parsed(*lines: str, token: str = "DocentBot") -> RobotsRules:
    return RobotsRules.parse("\n".join(lines), token)


def allowed(path: str, *rules: str) -> bool:
    return parsed("User-agent: *", *rules).forbidding_line(f"https://example.com{path}") is None


@pytest.mark.parametrize(
    ("path", "rules", "may"),
    [
        ("/a", ("Allow: /a", "Disallow: /"), True),
        ("/page", ("Disallow: /*.htm", "Allow: /page"), True),
        ("/page.htm", ("Allow: /page", "Disallow: /*.htm"), False),
        ("/same", ("Disallow: /same", "Allow: /same"), True),
        ("/fish", ("Disallow: /fish$",), False),
        ("/fish.html", ("Disallow: /fish$",), True),
        ("/x/y.php", ("Disallow: /*.php$",), False),
        ("/x/y.php?a", ("Disallow: /*.php$",), True),
        ("/foo/bar?baz=http%3A%2F%2Ffoo.bar", ("Disallow: /foo/bar?baz=http%3A%2F%2Ffoo.bar",), False),
        ("/foo/bar/%E3%83%84", ("Disallow: /foo/bar/ツ",), False),
        ("/foo/bar/%E3%83%84", ("Disallow: /foo/bar/%E3%83%84",), False),
        ("/foo/bar/baz", ("Disallow: /foo/bar/%62%61%7A",), False),
        ("/Fish", ("Disallow: /fish",), True),
        ("/anything", ("Disallow:",), True),
        ("/a?x=1", ("Disallow: /*?",), False),
        ("/robots.txt", ("Disallow: /",), True),
    ],
)
def test_the_longest_match_decides(path: str, rules: tuple[str, ...], may: bool) -> None:
    assert allowed(path, *rules) is may


@pytest.mark.parametrize(
    ("agents", "bound"),
    [
        (("docentbot",), True),
        (("DOCENTBOT/2.0",), True),
        (("otherbot", "DocentBot"), True),
        (("Docent",), False),
        (("DocentBotNews",), False),
        (("*",), True),
    ],
)
def test_a_group_is_ours_by_its_product_token(agents: tuple[str, ...], bound: bool) -> None:
    rules = parsed(*(f"User-agent: {agent}" for agent in agents), "Disallow: /x")
    assert (rules.forbidding_line("https://example.com/x") is not None) is bound


def test_all_groups_of_our_name_are_one_and_other_lines_do_not_part_them() -> None:
    rules = parsed(
        "User-agent: DocentBot", "Disallow: /a", "", "User-agent: *", "Disallow: /", "",
        "User-agent: DocentBot", "Sitemap: /s.xml", "Crawl-delay: 3", "User-agent: other", "Disallow: /b",
    )  # fmt: skip
    found = [rules.forbidding_line(f"https://example.com/{name}") for name in "abc"]
    assert found == [(2, "Disallow: /a"), (11, "Disallow: /b"), None]
    assert (rules.crawl_delay, rules.sitemaps) == (3.0, ["/s.xml"])


def test_an_empty_group_of_our_name_allows_everything() -> None:
    rules = parsed("User-agent: *", "Disallow: /", "User-agent: DocentBot", "Disallow:")
    assert rules.forbidding_line("https://example.com/x") is None


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_end_as_the_standard_says_and_loose_spellings_count(end: str) -> None:
    text = end.join(
        ("user agent : *", "DISALLOW /a # no", "Disallow:/b\u2028Allow: /", "Sitemap https://e.com/s.xml")
    )
    rules = RobotsRules.parse(text, "DocentBot")
    assert rules.forbidding_line("https://example.com/a") == (2, "DISALLOW /a")
    assert rules.sitemaps == ["https://e.com/s.xml"]


def test_thousands_of_rules_cost_little_time() -> None:
    rules = parsed("User-agent: *", *(f"Disallow: /folder{n}/*.html$" for n in range(5_000)))
    began = time.process_time()
    for n in range(20):
        assert rules.forbidding_line(f"https://example.com/folder{n}/a.html") == (
            n + 2,
            f"Disallow: /folder{n}/*.html$",
        )
    assert time.process_time() - began < 5


def test_of_a_file_without_end_the_beginning_counts(site, robots) -> None:
    text = "User-agent: *\nDisallow: /x\n" + "# filler\n" * 70_000 + "Disallow: /late\n"
    rules = robots(text)
    assert not rules.verdict(site.url("/x")).allowed
    assert rules.verdict(site.url("/late")).allowed
    huge = robots(text + "# filler\n" * 800_000)
    assert "robots.txt could not be read: 7," in huge.verdict(site.url("/a")).reason


def test_a_redirect_loop_means_that_there_are_no_rules(site, robots) -> None:
    site.redirect("/robots.txt", "/robots.txt")
    assert robots().verdict(site.url("/x")).allowed
    assert site.hits("/robots.txt") == 6
