"""Standing pages are told from posts, listings, legal pages and pages of no use, and pages have dates."""

from __future__ import annotations

import time

import pytest

from crawler.judging.page_kinds import date_of, edition_of, kind_of


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
        ("/fair/2024/", ""),
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


_ARTICLE = '<meta property="article:published_time" content="2024-05-31T10:00:00Z">'
_TEXT = f"<main><h1>About us</h1><p>{'We mend lamps in the mill. ' * 9}</p></main>"


@pytest.mark.parametrize(
    ("head", "around", "kind"),
    [
        (_ARTICLE, "", "post"),
        (_ARTICLE + '<meta name="generator" content="Jekyll v4.3.1">', "", ""),
        (_ARTICLE, '<nav><a href="/">Home</a><a href="/about">About us</a></nav>', ""),
        (
            _ARTICLE,
            '<header><ul><li><a href="https://lamps.example/about">About us</a></li></ul></header>',
            "",
        ),
        (
            _ARTICLE,
            '<nav aria-label="Breadcrumb"><a href="/">Home</a><a href="/about">About us</a></nav>',
            "post",
        ),
        (_ARTICLE, '<nav><a href="/about#team">Our team</a></nav>', "post"),
        (_ARTICLE, '<article><header><a href="/about">31 May</a></header></article>', "post"),
        (_ARTICLE, '<header><h1><a href="/about">About us</a></h1></header>', "post"),
    ],
)
def test_a_page_of_the_menu_is_no_post_whatever_its_markup_says(
    read, head: str, around: str, kind: str
) -> None:
    markup = f"<html><head>{head}<title>About us</title></head><body>{around}{_TEXT}</body></html>"
    page = read(markup, url="https://lamps.example/about").page
    assert (page.kind, page.dated) == (kind, "2024-05-31")


def test_menus_within_menus_take_no_longer_to_look_through(read) -> None:
    menu = f"{'<nav>' * 100}{'<a href=/about>About us</a>' * 20_000}{'</nav>' * 100}"
    started = time.process_time()
    assert (
        read(f"<head>{_ARTICLE}</head><body>{menu}{_TEXT}", url="https://lamps.example/about").page.kind == ""
    )
    assert time.process_time() - started < 5, "a search in each menu took 6 s for a quarter of the links"


@pytest.mark.parametrize(
    ("head", "path", "day"),
    [
        ('<meta property="article:published_time" content="2024-05-31T10:00:00Z">', "/a", "2024-05-31"),
        ('<meta name="date" content="2021-01-02"><meta property="article:modified_time" content="2022-03-04">', "/a", "2022-03-04"),
        ('<script type="application/ld+json">{"@type":"BlogPosting","datePublished":"2020-02-29"}</script>', "/a", "2020-02-29"),
        ('<meta name="date" content="2021-01-02"><meta property="article:modified_time" content="2022-03-04">', "/blog/a", "2021-01-02"),
        ('<script type="application/ld+json">{"@type":"BlogPosting","dateModified":"2022-03-04","datePublished":"2020-02-29"}</script>', "/blog/a", "2020-02-29"),
        ("", "/2019/7/3/a", "2019-07-03"),
        ("", "/blog/2019/07/a", "2019-07-01"),
        ("", "/2018-12-24-a", "2018-12-24"),
        ("", "/files/annual-report-2017-final.pdf", "2017-01-01"),
        ("", "/fair/2017/venue", "2017-01-01"),
        ("", "/blog/2017/we-moved", "2017-01-01"),
        ("", "/news/letter-may-2024", "2024-01-01"),
        ("", "/news/the-moon-landing-of-1969", ""),
        ("", "/news/lamp-2024-review", ""),
        ("", "/node/2024", ""),
        ("", "/news/2024-plans/", "2024-01-01"),
        ("", "/news/lamp-b-2024", "2024-01-01"),
        ("", "/news/our-plans-for-2090", ""),
        ("", "/letter-may-2024", ""),
        ("", "/lamp-2000", ""),
        ('<meta name="date" content="2021-02-31">', "/a", ""),
        ("", "/a", ""),
    ],
)  # fmt: skip
def test_a_page_says_its_date(read, head: str, path: str, day: str) -> None:
    markup = f"<html><head>{head}<title>We moved</title></head><body><main><p>We moved to the mill.</p></main></body>"
    assert read(markup, url=f"https://lamps.example{path}").page.dated == day


@pytest.mark.parametrize(
    ("path", "year"),
    [
        ("/fair/oslo/2019/venue", 2019),
        ("/fair/2019/", 2019),
        ("/lamp-fair-2019/venue", 2019),
        ("/2018/fair/2019/venue", 2019),
        ("/2019/07/we-moved", 0),
        ("/2019-07-31-we-moved", 0),
        ("/blog/2019/we-moved", 0),
        ("/blog/en/2019/we-moved", 0),
        ("/fair/2019/news/we-moved", 2019),
        ("/node/2019", 0),
        ("/products/2019/", 0),
        ("/lamp-2008/prices", 0),
        ("/lamp-2000", 0),
        ("/iso-9001-2015/text", 0),
        ("/2090/plan", 0),
        ("/venue", 0),
    ],
)
def test_a_page_of_an_edition_has_its_year_in_its_address(path: str, year: int) -> None:
    assert edition_of(f"https://lamps.example{path}") == year


def test_the_date_of_a_long_address_is_found_in_a_moment() -> None:
    started = time.process_time()
    assert date_of("https://lamps.example/blog/" + "a-2019-" * 20_000, {}, ()) == ""
    assert time.process_time() - started < 1, "it took 2.6 s"


def test_the_date_at_the_top_of_a_post_counts(read) -> None:
    words = "Some words of real content. " * 8
    markup = f'<main><h1>We moved</h1><time datetime="2024-06-24">24 June</time><p>{words}</p></main>'
    assert read(markup, url="https://lamps.example/blog/we-moved").page.dated == "2024-06-24"


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("<p>Posted on 12 May 2021 by Ann</p>", "2021-05-12"),
        ("<p class='byline'>Ann Lee, March 3rd, 2019</p>", "2019-03-03"),
        ("<p>Ann Lee · 5. Oktober 2020</p>", "2020-10-05"),
        ("<p>Publié le 1er août 2018</p>", "2018-08-01"),
        ("<p>3 de enero de 2022</p>", "2022-01-03"),
        ("<p>05.06.2024</p>", "2024-06-05"),
        ("<p>2023年7月17日</p>", "2023-07-17"),
        ("<p><time>24 June 2024</time></p>", "2024-06-24"),
        ("<div class='entry-date published'>June 2, 2017</div>", "2017-06-02"),
        ("<p>Ann Lee, in 2019</p>", ""),
    ],
)
def test_a_post_says_its_date_in_words(read, line: str, day: str) -> None:
    words = "Some words of real content. " * 8
    markup = f"<main><h1>We moved</h1>{line}<p>{words}</p></main>"
    assert read(markup, url="https://lamps.example/blog/we-moved").page.dated == day


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Last updated: 5 June 2024", "2024-06-05"),
        ("Page last reviewed 5 June 2024.", "2024-06-05"),
        ("Stand: 05.06.2024", "2024-06-05"),
        ("Dernière mise à jour le 5 juin 2024", "2024-06-05"),
        ("The mill burned down on 5 June 1924.", ""),
        ("Founded on 5 June 2014", ""),
    ],
)
def test_a_standing_page_is_dated_by_its_last_update_alone(read, line: str, day: str) -> None:
    words = "Some words of real content. " * 8
    markup = f"<main><h1>Our mill</h1><p>{words}</p><p>{line}</p></main>"
    assert read(markup, url="https://lamps.example/mill").page.dated == day


@pytest.mark.parametrize(
    ("markup", "day"),
    [
        ('<script type="application/ld+json">{"@type":"MusicEvent","startDate":"2023-07-17T19:00"}</script>', "2023-07-17"),
        ('<script type="application/ld+json">[{"@type":"Festival","startDate":"2023-07-17","endDate":"2023-07-23"},'
         '{"@type":"Event","startDate":"2022-01-01"}]</script>', "2023-07-23"),
        ('<p itemscope itemtype="https://schema.org/Event"><meta itemprop="startDate" content="2023-07-17">'
         '<time itemprop="endDate" datetime="2023-07-18">18 July</time></p>', "2023-07-18"),
        ('<script type="application/ld+json">{"@type":"BlogPosting","datePublished":"2020-02-29"}</script>', ""),
    ],
)  # fmt: skip
def test_the_end_of_a_marked_event_is_known(read, markup: str, day: str) -> None:
    page = f"<body><main><h1>Concert</h1>{markup}<p>{'A concert in the mill. ' * 5}</p></main></body>"
    assert read(page, url="https://lamps.example/concert").page.ended == day


def test_the_date_of_an_event_is_not_that_of_the_page() -> None:
    assert date_of("https://lamps.example/party", {}, []) == ""
