"""Standing pages are told from posts, listings, legal pages and pages of no use, and pages have dates."""

from __future__ import annotations

import pytest

from crawler.judging.page_kinds import date_of, kind_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", ""),
        ("/membership.html", ""),
        ("/docs/terms/glossary", ""),
        ("/news-desk-lamp", ""),
        ("/blog/2024/summer-of-making.html", "post"),
        ("/news/we-moved", "post"),
        ("/2023/05/12/we-moved/", "post"),
        ("/2023-05-12-we-moved", "post"),
        ("/aktuelles/sommerfest", "post"),
        ("/blog/", "listing"),
        ("/blog/page/2/", "listing"),
        ("/blog/2024/", "listing"),
        ("/tag/lamps", "listing"),
        ("/category/lamps/", "listing"),
        ("/privacy-policy", "legal"),
        ("/impressum.html", "legal"),
        ("/thank_you.html", "utility"),
        ("/about/style-guide/", "utility"),
        ("/login", "utility"),
    ],
)
def test_an_address_tells_the_kind(path: str, kind: str) -> None:
    assert kind_of(f"https://lamps.example{path}", is_article=False) == kind


def test_an_article_is_a_post_wherever_it_is() -> None:
    assert kind_of("https://lamps.example/we-moved", is_article=True) == "post"
    assert kind_of("https://lamps.example/", is_article=True) == ""


@pytest.mark.parametrize(
    ("head", "path", "day"),
    [
        ('<meta property="article:published_time" content="2024-05-31T10:00:00Z">', "/a", "2024-05-31"),
        ('<meta name="date" content="2021-01-02"><meta property="article:modified_time" content="2022-03-04">', "/a", "2022-03-04"),
        ('<script type="application/ld+json">{"@type":"BlogPosting","datePublished":"2020-02-29"}</script>', "/a", "2020-02-29"),
        ("", "/2019/7/3/a", "2019-07-03"),
        ("", "/blog/2019/07/a", "2019-07-01"),
        ("", "/2018-12-24-a", "2018-12-24"),
        ('<meta name="date" content="2021-02-31">', "/a", ""),
        ("", "/a", ""),
    ],
)  # fmt: skip
def test_a_page_says_its_date(read, head: str, path: str, day: str) -> None:
    markup = f"<html><head>{head}<title>We moved</title></head><body><main><p>We moved to the mill.</p></main></body>"
    assert read(markup, url=f"https://lamps.example{path}").page.dated == day


def test_the_date_at_the_top_of_a_post_counts(read) -> None:
    words = "Some words of real content. " * 8
    markup = f'<main><h1>We moved</h1><time datetime="2024-06-24">24 June</time><p>{words}</p></main>'
    assert read(markup, url="https://lamps.example/blog/we-moved").page.dated == "2024-06-24"


def test_the_date_of_an_event_is_not_that_of_the_page() -> None:
    assert date_of("https://lamps.example/party", {}, []) == ""
