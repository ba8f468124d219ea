"""What is content and what is furniture, on markup of several kinds."""

from __future__ import annotations

import pytest

CONTENT = "<h1>Opening hours</h1><p>We are open from nine to five on every working day of the week.</p>"
MENU = (
    "<ul>"
    + "".join(
        f'<li><a href="/{name}">{name.title()}</a></li>' for name in ("home", "shop", "about", "contact")
    )
    + "</ul>"
)


def text(read, markup: str) -> str:
    return read(markup).page.text


@pytest.mark.parametrize(
    "page",
    [
        f"<nav>{MENU}</nav><main>{CONTENT}</main><footer>All rights reserved</footer>",
        f"<header>{MENU}<p>Slogan of ours</p></header><div role=main>{CONTENT}</div>",
        f"<div class=navbar>{MENU}</div><article>{CONTENT}</article><aside>Advert of ours</aside>",
        f"<div id=menu>{MENU}</div><div id=content>{CONTENT}</div><div id=footer>{MENU}</div>",
        f"<div>{MENU}</div><div>{CONTENT}</div>",
        f"<table><tr><td>{MENU}</td><td>{CONTENT}</td></tr></table>",
        f"<p><a href=/a>One</a> | <a href=/b>Two</a> | <a href=/c>Three</a></p>{CONTENT}",
        f"<form id=aspnet><div class=breadcrumb>{MENU}</div>{CONTENT}<p>{'More text. ' * 40}</p></form>",
    ],
)
def test_menus_headers_and_footers_are_left_out(read, page: str) -> None:
    found = text(read, f"<html><body>{page}</body></html>")
    assert "open from nine to five" in found
    for junk in ("Shop", "About", "Two", "rights reserved", "Advert", "Slogan"):
        assert junk not in found


def test_the_only_article_of_a_page_is_its_content(read) -> None:
    beside = "<div><p>The weather at the harbour is fine today, and the sea is calm all week.</p></div>"
    assert text(read, f"<html><body>{beside}<article>{CONTENT}</article>{beside}</body></html>") == (
        "We are open from nine to five on every working day of the week."
    )


@pytest.mark.parametrize(
    "junk",
    [
        "<script>var JUNK</script>", "<style>.JUNK{}</style>", "<noscript>JUNK: enable JavaScript</noscript>", "<template>JUNK</template>",
        "<div hidden>JUNK</div>", '<p style="display: none">JUNK</p>', '<span aria-hidden="true">JUNK</span>', "<button>JUNK</button>",
        '<a class="headerlink" href="#x">JUNK</a>', '<div class="cookie-banner">We use cookies JUNK</div>', "<svg><title>JUNK</title></svg>",
        '<a class="skip-link" href="#main">JUNK to content</a>', '<ol class="breadcrumbs"><li>JUNK</li></ol>', "<select><option>JUNK</select>",
        '<div role="search">JUNK</div>', '<div class="share-buttons"><span class=share>JUNK</span></div>', "<label><input> </label><textarea>JUNK</textarea>",
        '<p><a class="edit-link" href="/edit">JUNK this page</a></p>', '<span class="sr-only">JUNK</span>', "<dialog open>JUNK</dialog>",
        '<div class="toc"><p>JUNK</p></div>', '<ul><li><a href="#a">JUNK</a><li><a href="#b">Two</a><li><a href="#c">Three</a></ul>', "<!-- JUNK -->",
        "<iframe src=/x>JUNK</iframe>", '<div class="related"><a href="/x">JUNK</a> <a href="/y">other</a></div>', "<?php JUNK ?>",
    ],
)  # fmt: skip
def test_what_no_reader_reads_is_left_out(read, junk: str) -> None:
    found = text(read, f"<main>{CONTENT}{junk}<p>And this is how the page goes on after it all.</p></main>")
    assert "JUNK" not in found
    assert "open from nine to five" in found
    assert "how the page goes on" in found


@pytest.mark.parametrize(
    "kept",
    [
        '<div class="page has-nav with-sidebar"><p>KEPT{filler}</p></div>',
        '<aside class="admonition tip"><p>KEPT as a tip.</p></aside>',
        '<div role="tabpanel" hidden><p>KEPT in the second tab.</p></div>',
        '<div aria-hidden="true"><p>KEPT folded away{filler}</p></div>',
        '<div class="sidebar"><p>KEPT side story.</p></div>',
        "<article><header><p>KEPT by the author.</p></header></article>",
        '<ul><li><a href="/visa">Visa KEPT</a></li><li><a href="/mc">Mastercard</a></li><li><a href="/bank">Bank</a></li></ul>',
        "<form><p>KEPT terms{filler}{filler}</p><input></form>",
        '<div class="menu"><h2>Lunch</h2><p>KEPT soup of the day with bread for six euros.</p></div>',
    ],
)
def test_what_only_looks_like_furniture_is_kept(read, kept: str) -> None:
    filler = " with many words of real content that a reader came for" * 4
    assert "KEPT" in text(read, f"<main>{CONTENT}{kept.replace('{filler}', filler)}</main>")


def test_permalink_signs_do_not_end_up_in_headings(read) -> None:
    page = read(
        f'<main><h1>Title<a href="#t">¶</a></h1><h2>Part <a class="anchor" href="#p">#</a></h2>{CONTENT[23:]}</main>'
    ).page
    assert page.blocks[0].heading_path == ("Title", "Part")


def test_a_main_element_with_nothing_in_it_is_not_believed(read) -> None:
    assert "nine to five" in text(read, f"<body><main></main><div>{CONTENT}</div></body>")


def test_a_page_of_links_only_still_says_where_things_are(read) -> None:
    assert "Opening hours" in text(
        read,
        "<main><h1>Help</h1><ul>"
        + "".join(f'<li><a href="#{n}">Opening hours {n}</a></li>' for n in range(4))
        + "</ul></main>",
    )


def test_an_index_of_hundreds_of_links_is_no_content(read) -> None:
    assert (
        text(
            read,
            "<main><h1>Index</h1><ul>"
            + "".join(f'<li><a href="/{n}">entry {n}</a></li>' for n in range(400))
            + "</ul></main>",
        )
        == ""
    )


def test_the_contents_of_a_part_are_read_when_the_page_has_nothing_else(read) -> None:
    toc = "".join(f'<dt><a href="ch{n}.html">Chapter {n}. Install it</a></dt>' for n in range(3))
    page = f"<body><div class=navheader>{MENU}</div><h1>Part I</h1><div class=toc><p>Contents</p><dl>{toc}</dl></div></body>"
    assert "Chapter 2. Install it" in text(read, page)
    assert "Shop" not in text(read, page)


@pytest.mark.parametrize(
    "name",
    ["share-price", "social-care", "consent-form", "contact-social", "newsletter-info", "popup-content"],
)
def test_a_class_that_banners_have_too_does_not_drop_prose(read, name: str) -> None:
    prose = f'<div class="{name}"><p>The price of a share was twelve pounds.</p></div>'
    assert "twelve pounds" in text(read, f"<main>{CONTENT}{prose}</main>")
    asking = f'<div class="{name}"><p>JUNK</p><form><input></form></div>'
    assert "JUNK" not in text(read, f"<main>{CONTENT}{asking}</main>")
