"""AI preferences, with the examples of the drafts and of contentsignals.org."""

import pytest

from crawler.fetching.preferences import refusing_header, stated
from crawler.fetching.robots import RobotsRules
from crawler.preview import explain, survey
from crawler.report import UrlState
from tests.crawler.conftest import html

SITE = "https://site.example"
ATTACH_EXAMPLE = """\
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


@pytest.mark.parametrize(
    ("name", "value", "uses"),
    [
        # draft-ietf-aipref-vocab, section 6
        ("content-usage", "train-ai=y, search=n", {"train-ai": True, "search": False}),
        ("content-usage", 'train-ai=y, train-ai, search=n, search="n"', {}),
        ("content-usage", "train-ai;allow=n, train-ai=y", {"train-ai": True}),
        ("content-usage", 'train-ai;has;parameters="?";', {}),
        ("content-usage", "search=n;until=5", {"search": False}),
        ("content-usage", "search=no", {}),
        ("content-usage", "search=?0", {}),
        ("content-usage", "Search=n", {}),
        ("content-usage", "search=n,", {}),
        ("content-usage", "search=n; é", {}),
        ("content-usage", "", {}),
        # contentsignals.org
        (
            "content-signal",
            "ai-train=no, search=yes, ai-input=yes",
            {"ai-train": False, "search": True, "ai-input": True},
        ),
        ("content-signal", "search=yes,ai-train=no,use=reference", {"search": True, "ai-train": False}),
        ("content-signal", "AI-Input = No", {"ai-input": False}),
        ("content-signal", "ai-input, ai-input=maybe, search,,", {}),
        ("content-signal", "", {}),
    ],
)
def test_what_a_line_states(name, value, uses):
    assert stated(name, value) == uses


@pytest.mark.parametrize(
    ("token", "path", "crawled", "uses"),
    [
        ("OtherBot", "/test", True, {"train-ai": False}),
        ("OtherBot", "/never/test", False, None),
        ("OtherBot", "/ai-ok/test", True, {"train-ai": True}),
        ("ExampleBot", "/test", True, {"train-ai": True}),
        ("ExampleBot", "/never/test", True, {"train-ai": True}),
    ],
)
def test_the_example_of_the_draft(token, path, crawled, uses):
    rules = RobotsRules.parse(ATTACH_EXAMPLE, token)
    assert (rules.forbidding_line(SITE + path) is None) == crawled
    if crawled:
        assert [one.stated for one in rules.preferences_for(SITE + path)] == [uses]


@pytest.mark.parametrize(
    ("lines", "path", "line"),
    [
        (["Content-Signal: search=yes, ai-input=no"], "/a", 2),
        (["Content-Signal: search=yes, ai-train=no"], "/a", None),
        (["Content-Signal: search=no"], "/a", 2),
        (["Content-Usage: train-ai=n"], "/a", None),
        (["Content-Usage: search=n"], "/a", 2),
        (["content-usage \t:\t/private/ search=n # not these"], "/private/a", 2),
        (["Content-Usage: /private/ search=n"], "/a", None),
        (["Content-Usage: /private/\tsearch=n"], "/private/a", 2),
        (["Content-Usage: search=n", "Content-Usage: /open/ search=y"], "/open/a", None),
        (["Content-Usage: search=n", "Content-Usage: /open/ search=y"], "/a", 2),
        (["Content-Usage: /*.pdf$ search=n"], "/a/b.pdf", 2),
        (["Content-Usage: /*.pdf$ search=n"], "/a/b.html", None),
        # the most restrictive of those with the same path, and of the two notations
        (["Content-Usage: /a search=y", "Content-Usage: /a search=n"], "/a", 3),
        (["Content-Usage: search=y", "Content-Signal: ai-input=no"], "/a", 3),
        (["Content-Usage: /a search=y", "Content-Signal: search=no"], "/a", 3),
        (["Content-Usage: search=no", "Content-Usage: SEARCH=n", "Content-Usage: /a"], "/a", None),
        (["Disallow: /x", "User-agent: other", "Content-Signal: ai-input=no"], "/a", None),
        (["User-agent: DocentBot", "Disallow:", "User-agent: *", "Content-Signal: ai-input=no"], "/a", None),
        (["User-agent: DocentBot", "Content-Signal: ai-input=no"], "/a", 3),
    ],
)
def test_which_line_forbids_answers(lines, path, line):
    found = RobotsRules.parse("\n".join(["User-agent: *", *lines]), "DocentBot").refusing_line(SITE + path)
    assert (found and found[0]) == line


def test_a_line_outside_of_a_group_says_nothing():
    assert RobotsRules.parse("Content-Signal: ai-input=no\n", "DocentBot").refusing_line(SITE) is None


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, ""),
        ({"content-usage": "train-ai=n"}, ""),
        ({"content-usage": "train-ai=n, search=n"}, 'its Content-Usage header says "train-ai=n, search=n"'),
        ({"content-signal": "ai-train=no, ai-input=no"}, "its Content-Signal header"),
    ],
)
def test_headers_are_read_like_lines(headers, words):
    assert refusing_header(headers).startswith(words)
    assert bool(refusing_header(headers)) == bool(words)


@pytest.fixture
def mixed(site):
    """A site with a part that must not be used, and a page whose header says so."""
    site.page(
        "/robots.txt", "User-agent: *\nContent-Signal: /notes/ ai-input=no\n", content_type="text/plain"
    )
    site.page("/", html("Home", "Welcome.", links=("/notes/1", "/said", "/open")))
    site.page("/notes/1", html("Note", "Not for answers."))
    site.page("/said", html("Said", "Not this.", links=("/behind",)), headers={"Content-Usage": "search=n"})
    site.page("/behind", html("Behind", "Found through the page above."))
    site.page("/open", html("Open", "An open page."))
    return site


def test_a_crawl_obeys_and_says_why(mixed, ends):
    found = ends()
    assert found["/notes/1"].state is UrlState.DISALLOWED
    assert found["/notes/1"].reason == 'robots.txt line 2: "Content-Signal: /notes/ ai-input=no"'
    assert mixed.hits("/notes/1") == 0
    assert (found["/said"].state, found["/said"].page) == (UrlState.DISALLOWED, None)
    assert found["/said"].reason == 'its Content-Usage header says "search=n"'
    assert {path for path in found if found[path].page} == {"/", "/behind", "/open"}


def test_a_page_that_has_not_changed_may_be_forbidden_later(mixed, ends):
    mixed.page("/open", "", status=304, headers={"Content-Signal": "ai-input=no"})
    assert ends()["/open"].state is UrlState.DISALLOWED


@pytest.mark.parametrize("changes", [{"own_site": True}, {"obey_robots": False}])
def test_owners_read_their_own_site_and_see_what_was_not_applied(mixed, ends, changes):
    found = ends(**changes)
    assert all(found[path].page for path in ("/", "/notes/1", "/said", "/open"))
    assert found["/said"].reason == 'AI preferences not applied: its Content-Usage header says "search=n"'
    assert found["/open"].reason == ""


def test_owners_stay_bound_by_disallow(site, ends):
    site.page("/robots.txt", "User-agent: *\nDisallow: /cart\n", content_type="text/plain")
    site.page("/", html("Home", "Welcome.", links=("/cart",)))
    assert ends(own_site=True)["/cart"].state is UrlState.DISALLOWED


def test_preferences_are_shown_before_a_crawl(mixed, options):
    assert survey(options())[0].robots.preferences == ("Content-Signal: /notes/ ai-input=no",)
    said = {one.step: one for one in explain(options(), mixed.url("/notes/1"))}
    assert said["preference"].ends_here
    assert "visit" not in said
    said = {one.step: one for one in explain(options(own_site=True), mixed.url("/notes/1"))}
    assert "not applied, because the site is your own" in said["preference"].text
    assert "result" in said
