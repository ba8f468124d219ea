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


def test_the_cookies_of_a_privacy_policy_are_no_banner(read) -> None:
    policy = "<p>Two small files remember your language and your basket until you close the window. KEPT</p>"
    section = f'<div class="row cookies-row"><a id=cookies><h2>Cookies</h2></a><div class="cookies-content">{policy}'
    assert "KEPT" in text(read, f"<main>{CONTENT * 12}{section}</div></div></main>")
    linked = f'{section}{policy * 4}<p>More is in <a href="/law">the law</a>.</p></div></div>'
    assert "KEPT" in text(read, f"<main>{CONTENT * 12}{linked}</main>")
    for answer in ("<button>Accept</button>", '<a href="#" class=btn>Accept</a>'):
        told = "<p>This website uses JUNK that your browser keeps for us.</p>" * 9
        banner = f'<div id="cookies"><h2>Cookies</h2>{told}{answer}</div>'
        assert "JUNK" not in text(read, f"<main>{CONTENT * 12}{banner}</main>")


def test_a_list_of_addresses_to_write_to_is_no_menu(read) -> None:
    rows = "".join(
        f'<li><a href="mailto:{to}@example.com">{to}@example.com</a></li>'
        for to in ("press", "shop", "tours")
    )
    call = "".join(f'<li><a href="tel:+4930555{n}">030 555 {n}</a></li>' for n in range(3))
    found = text(
        read,
        f"<body><div class=row>{CONTENT}<ul>{rows}</ul></div><div class=row><h2>Call</h2><ul>{call}</ul></div></body>",
    )
    assert "- press@example.com\n- shop@example.com\n- tours@example.com" in found
    assert "- 030 555 0\n- 030 555 1\n- 030 555 2" in found


def test_steps_that_a_sentence_announces_are_kept_though_they_lead_within_the_page(read) -> None:
    steps = "".join(f'<li><a href="#s{n}">Step {n} of the loan</a></li>' for n in range(1, 5))
    told = "<p>You borrow a boat from the club in four steps, each explained below. The steps are:</p>"
    found = text(read, f"<main><h1>Loans</h1>{CONTENT[23:]}{told}<ol>{steps}</ol>{CONTENT}</main>")
    assert "The steps are:\n\n1. Step 1 of the loan\n2. Step 2 of the loan" in found
    led = text(
        read, f"<main><h1>Loans</h1>{CONTENT[23:]}<p>Jump to a section:</p><ol>{steps}</ol>{CONTENT}</main>"
    )
    assert "Step 1" not in led
    assert "Jump" not in led


def test_a_short_page_below_a_large_menu_is_read(read) -> None:
    rows = "".join(f'<li><a href="/{n}">Everything about our service number {n}</a></li>' for n in range(200))
    banner = (
        "<section class=banner><p>An official website. Official websites end with our own name.</p></section>"
    )
    found = text(
        read, f"<body>{banner}<header><nav><ul>{rows}</ul></nav></header><main>{CONTENT}</main></body>"
    )
    assert found == "We are open from nine to five on every working day of the week."


@pytest.mark.parametrize("name", ["", "layout-table-of-contents"])
def test_a_hub_keeps_what_it_says_of_its_parts(read, name: str) -> None:
    links = "".join(f'<li><a href="/offer/{n}">Offer of the week number {n}</a></li>' for n in range(20))
    said = "are for everybody who wants to try them first, without a card and without a fee, on any day of the week."
    parts = "".join(
        f"<li><h2>{part}</h2><p>{part} {said}</p><ol>{links}</ol></li>" for part in ("Boats", "Bikes")
    )
    page = read(f"<main><h1>Offers</h1><div class='{name}'><ol>{parts}</ol></div></main>").page
    told = [block for block in page.blocks if said in block.text]
    assert [(block.heading_path[-1], block.text[3:8]) for block in told] == [
        ("Boats", "Boats"),
        ("Bikes", "Bikes"),
    ]


def test_the_dates_at_the_top_of_a_start_page_are_no_menu(read) -> None:
    buttons = '<a href="https://photos.example/1">See all the photos of last year</a> <a href="/talks">Watch the talks</a>'
    top = f'<div class="home-header"><h2>We are back: 21 to 25 September</h2>{buttons}</div>'
    page = read(f"<body>{top}{CONTENT * 3}</body>").page
    assert "We are back: 21 to 25 September" in page.blocks[0].heading_path
    named = f'<div class="header"><h2>The club of the lake</h2>{buttons}</div>'
    assert "club of the lake" not in str(read(f"<body>{named}{CONTENT * 3}</body>").page.blocks)


def test_the_banner_that_every_page_of_a_government_has_is_no_content(read) -> None:
    banner = (
        '<section class="usa-banner" aria-label="Official website"><p>An official website of the United '
        "States government</p><h3>Here's how you know</h3><p>A lock means that you have safely connected.</p></section>"
    )
    page = read(f"<body>{banner}<main><h1>Jobs API</h1><p>Use the other one.</p></main></body>").page
    assert [block.text for block in page.blocks] == ["Use the other one."]
    wrapper = '<body><div class="page has-usa-banner"><h1>Jobs API</h1><p>Use the other one.</p></div></body>'
    assert "Use the other one." in [block.text for block in read(wrapper).page.blocks]
