"""`python -m crawler URL --explain URL2` says what would happen to one URL."""

from __future__ import annotations

import pytest

from crawler.__main__ import main
from crawler.preview import explain
from tests.crawler.conftest import html


@pytest.fixture
def told(site, options):
    """Findings about a path of the site, as step -> text."""
    site.page("/", html("Home", "Welcome.", links=("/a",)))
    site.page("/robots.txt", "User-agent: *\nDisallow: /secret\nCrawl-delay: 2")
    site.page("/sitemap.xml", f"<urlset><url><loc>{site.url('/a')}</loc></url></urlset>")
    site.page("/a", html("Roses", "How to cut roses.", links=("/b", "/c")))

    def run(path: str, **changes: object) -> dict[str, str]:
        address = path if path.startswith("http") else site.url(path)
        return {finding.step: finding.text for finding in explain(options(**changes), address)}

    return run


def test_a_page_is_followed_to_its_end(told) -> None:
    found = told("/a")
    assert found["rules"] == "inside the scope; no rule objects"
    assert found["network"] == "127.0.0.1 is 127.0.0.1, which may be connected to"
    assert found["robots"] == "robots.txt allows it; it asks for 2 s between two requests"
    assert found["sitemap"] == "listed in the sitemap"
    assert (found["visit"], found["title"], found["language"]) == ("status 200", "Roses", "en")
    assert found["text"] == "blocks: 3, words: 18"
    assert found["result"].startswith("it would be indexed")
    assert found["links"] == "2 links on it would be followed"


def test_the_rule_that_excludes_is_named(told) -> None:
    assert told("/a", exclude=("/a*",))["rules"] == 'excluded: matches the exclude pattern "/a*"'


def test_the_line_of_robots_txt_is_named(told) -> None:
    found = told("/secret/plan")
    assert "Disallow: /secret" in found["robots"]
    assert "visit" not in found


def test_another_site_is_told_apart(told) -> None:
    assert "is not 127.0.0.1" in told("https://other.example/")["site"]


def test_a_private_address_is_refused_with_its_reason(told) -> None:
    assert "127.0.0.1 is a loopback address" in told("/a", allow_private=False)["network"]


def test_redirects_are_followed_and_errors_named(site, told) -> None:
    site.redirect("/old", "/a", 301)
    site.page("/gone", "", status=410)
    assert told("/old")["result"].startswith("it would be indexed")
    assert told("/gone")["visit"] == "gone: the server says it is gone (status 410)"


def test_a_fragment_and_a_tracking_parameter_do_not_count(site, told) -> None:
    assert told("/a?utm_source=mail#top")["address"] == f"counts as {site.url('/a')}"


def test_the_command_prints_a_line_a_step_and_its_code_tells_the_end(site, told, capsys) -> None:
    arguments = [site.url("/"), "--allow-private", "--explain"]
    assert main([*arguments, site.url("/a")]) == 0
    assert "    result  it would be indexed" in capsys.readouterr().out
    assert main([*arguments, site.url("/secret")]) == 1
