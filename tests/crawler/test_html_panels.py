"""Tabs and folded sections, what authors keep out of search, texts for browsers without scripts, languages."""

from __future__ import annotations

import time

import pytest

from crawler.extractors.html.extractor import parse
from crawler.page import Block

FILLER = "<p>" + "Some words of real content stand here. " * 4 + "</p>"
ANSWER = "You can pay by card or by invoice, as you like it."


@pytest.mark.parametrize(
    "markup",
    [
        '<h3><button aria-expanded="false" aria-controls="a">How to pay?</button></h3><div id="a" hidden>{answer}</div>',
        '<h3><button>How to pay?</button></h3><div id="a" style="display:none">{answer}</div>',
        '<h3>How to pay?</h3><div id="a" hidden>{answer}</div>',
        '<div class="faq-question">How to pay?</div><div id="a" style="display:none">{answer}</div>',
        '<button class="q">How to pay?</button><div id="a" hidden>{answer}</div>',
        '<button class="accordion">How to pay?</button><div class="x" id="a" style="display: none">{answer}</div>',
        '<p class="accordion">How to pay?</p><div class="panel" id="a">{answer}</div>',
        '<div data-toggle="collapse" data-target="#a">How to pay?</div><div id="a" style="display:none">{answer}</div>',
        '<ul role="tablist"><li><a role="tab" data-toggle="tab" href="#a">How to pay?</a></li></ul><div id="a" hidden>{answer}</div>',
        '<div role="tablist"><button role="tab" id="t">How to pay?</button></div><div role="tabpanel" id="a" aria-labelledby="t" hidden>{answer}</div>',
    ],
)
def test_what_a_click_opens_is_content_below_its_label(read, markup: str) -> None:
    page = read(f"<main>{FILLER}{markup.replace('{answer}', f'<p>{ANSWER}</p>')}{FILLER}</main>").page
    found = [block for block in page.blocks if block.text == ANSWER]
    assert [block.heading_path[-1] for block in found] == ["How to pay?"]
    assert page.text.count("How to pay?") == 0, "the label is said once, as the heading"


def test_what_comes_after_a_panel_is_not_below_the_heading_that_opens_it(read) -> None:
    panel = f"<h2><button aria-controls=pay>How to pay?</button></h2><div id=pay hidden><h3>Cash</h3><p>{ANSWER}</p></div>"
    page = read(
        f"<main><h1>Shop</h1><div>{panel}</div><p>The shop has two floors and a garden.</p></main>"
    ).page
    assert [(block.text, block.heading_path) for block in page.blocks] == [
        (ANSWER, ("Shop", "How to pay?", "Cash")),
        ("The shop has two floors and a garden.", ("Shop",)),
    ]


@pytest.mark.parametrize(
    "markup",
    [
        '<button aria-controls="m">Menu</button><nav id="m" hidden><p>JUNK of the menu in the corner</p></nav>',
        '<button aria-controls="m">Menu</button><div id="m" hidden><a href="/a">JUNK one page</a> <a href="/b">JUNK other page</a></div>',
        '<button aria-controls="cart-drawer">Basket</button><div id="cart-drawer" hidden>JUNK your basket is empty</div>',
        '<button data-toggle="modal" data-target="#m">Open</button><div id="m" role="dialog" hidden>JUNK sign up for letters</div>',
        "<div hidden>JUNK that nothing opens</div>",
    ],
)
def test_menus_and_dialogues_stay_out_although_a_button_opens_them(read, markup: str) -> None:
    assert "JUNK" not in read(f"<main>{FILLER}{markup}{FILLER}</main>").page.text


@pytest.mark.parametrize(
    "markup",
    [
        "<p data-nosnippet>JUNK</p>", "Words <span data-nosnippet>JUNK</span> words", '<div class="robots-nocontent">JUNK</div>',
        "<!--googleoff: index--><p>JUNK</p><!--googleon: index-->", "<p>Words <!--googleoff: all-->JUNK<!-- googleon: all --> words</p>",
        "<!--noindex--><div>JUNK</div><!--/noindex-->", "<noindex>JUNK</noindex>",
    ],
)  # fmt: skip
def test_what_the_author_keeps_from_search_is_left_out(read, markup: str) -> None:
    found = read(
        f"<main>{FILLER}{markup.replace('JUNK', 'JUNK <a href=/kept>link</a>')}<p>The end of it all.</p></main>"
    )
    assert "JUNK" not in found.page.text
    assert "The end of it all." in found.page.text
    assert found.follow == ("https://example.com/kept",), "its links are still followed"


def test_text_for_browsers_without_scripts_is_read_when_there_is_no_other(read) -> None:
    assert "real content" in read(f"<div id=app></div><noscript>{FILLER}</noscript>").page.text
    assert (
        "real content"
        not in read(f"<main>{'<p>Shown.</p>' * 20}</main><noscript>{FILLER}</noscript>").page.text
    )
    asked = "<p>You need to enable JavaScript to run this app. Please do so and load it again, thank you.</p>"
    assert read(f"<div id=app></div><noscript>{asked}</noscript>").page.blocks == ()


def test_ids_of_sections_do_not_make_them_banners(read) -> None:
    for holder in (
        "<section id=cookies>{}</section>",
        '<div class="section" id="cookie-management">{}</div>',
    ):
        assert (
            "Session cookies"
            in read(
                f"<main>{FILLER}{holder.format('<h2>Cookies</h2><p>Session cookies.</p>')}</main>"
            ).page.text
        )


def test_posts_of_a_thread_are_read_all(read) -> None:
    posts = "".join(
        f"<div class=post><div class=content>Post {n} says that the blade was dull and the fence loose.</div></div>"
        for n in range(4)
    )
    text = read(f"<body><div>{posts}</div></body>").page.text
    assert all(f"Post {n} " in text for n in range(4))


def test_spanning_cells_stand_in_every_line_that_they_belong_to(blocks) -> None:
    assert blocks(
        "<table><tr><th>Plan<th colspan=2>Price<tr><th><th>month<th>year<tr><td rowspan=2>Team<td>9<td>90<tr><td colspan=2>or free"
        "<tr><td colspan=3>For schools<tr><td>Class<td>1<td>10</table>"
    ) == ["Plan\tPrice\tPrice\n\tmonth\tyear\nTeam\t9\t90\nTeam\tor free\tor free\nFor schools\nClass\t1\t10"]  # fmt: skip


def test_absurd_spans_are_cut(blocks) -> None:
    (text,) = blocks("<table><tr><td colspan=99999>a<td rowspan=4000000000>b<tr><td>c<td>d</table>")
    assert len(text) < 200


HEAD = f"<tr><th rowspan=99999 colspan=20>{'delivery ' * 50}<td>Price"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(f"<table>{HEAD}{'<tr><td>9' * 2000}</table>", id="one cell above many rows"),
        pytest.param(
            f"<table>{'<tr><th rowspan=99999>to<td>9' * 2000}</table>", id="such cells in every row"
        ),
        pytest.param(
            f"<table><tr><td>9{'<td colspan=20 rowspan=99999>' * 50}{'<tr><td>9<td>9' * 2000}</table>",
            id="empty",
        ),
        pytest.param(f"<table>{HEAD}{'<tr><td>9' * 20}</table>" * 100, id="many tables"),
    ],
)
def test_cells_that_span_everything_do_not_make_a_long_text_of_a_short_page(blocks, page) -> None:
    assert sum(map(len, blocks(page))) < 20_000 + 5 * len(page)


def test_a_cell_that_spans_fifty_rows_is_in_all_of_them(blocks) -> None:
    delivery = "Delivery to the islands takes a few days longer, because the ferry only sails twice a week."
    rows = "<tr>".join(f"<td>Island {n}<td>{n} €" for n in range(50))
    (text,) = blocks(f"<table><tr><td rowspan=50>{delivery}{rows}</table>")
    assert text.split("\n") == [f"{delivery}\tIsland {n}\t{n} €" for n in range(50)]


def test_a_long_cell_that_is_not_repeated_further_leaves_the_columns_in_place(blocks) -> None:
    rows = "<tr>".join(f"<td>Island {n}<td>{n} €" for n in range(500))
    (text,) = blocks(f"<table><tr><td rowspan=500>{'The ferry sails. ' * 100}{rows}</table>")
    assert text.split("\n")[-1] == "\tIsland 499\t499 €"


def test_blocks_know_when_they_are_in_another_language(read) -> None:
    german = "Sie können die Ware innerhalb eines Monats zurückgeben und wir zahlen für den Rückweg, wenn es nicht Ihre Schuld ist und die Ware noch in der Verpackung liegt, die wir zu Ihnen auf den Weg gebracht haben."
    page = read(
        f'<html lang="en"><main>{FILLER}<div lang="fr-CA"><p>Bonjour.</p></div><p>{german}</p><p>您可以在一个月内退货，运费由我们承担，请保持包装完整，并在订单页面申请退货，我们会尽快处理。</p>'
        f"<blockquote lang=en><p>Same.</p></blockquote></main>"
    ).page
    assert page.language == "en"
    assert [block.language for block in page.blocks] == ["", "fr", "de", "zh", ""]


def test_code_and_names_do_not_make_another_language(read) -> None:
    page = read(
        f"<html lang=de><main>{FILLER}<pre>{'for the of and ' * 30}</pre><p>{'Acme Garden Tools Limited ' * 12}</p></main>"
    ).page
    assert {block.language for block in page.blocks[1:]} == {""}


def test_frames_and_their_base_are_followed(read) -> None:
    found = read(
        '<base href="/docs/"><frameset cols="20%,80%"><frame src="menu.html"><frame src="start.html#top"></frameset>'
    )
    assert found.follow == ("https://example.com/docs/menu.html", "https://example.com/docs/start.html")


def test_a_logo_called_a_heading_is_not_the_title(read) -> None:
    page = read(
        f"<title>Prices — Green Corner</title><body><div><h1>Green Corner</h1></div><h1 id=p>Prices</h1>{FILLER}</body>"
    ).page
    assert page.title == "Prices"
    assert page.blocks[0] == Block(page.blocks[0].text, ("Prices",), anchor="p")


def test_beginnings_of_kept_out_parts_that_never_end_cost_little() -> None:
    def seconds(number: int) -> float:
        tries = []
        for _ in range(3):
            began = time.process_time()
            parse("<!--noindex-->" * number + "<!--/googleon: all-->/noindex")
            tries.append(time.process_time() - began)
        return min(tries)

    assert seconds(8000) < 0.02 + 8 * seconds(2000)
