from __future__ import annotations

import time

from crawler.page import Block

FILLER = "<p>" + "Some words of real content stand here. " * 4 + "</p>"


def outline(page) -> list[tuple[str, tuple[str, ...], str]]:
    return [(block.text, block.heading_path, block.anchor) for block in page.blocks]


def test_paragraphs_have_their_headings_and_anchors(read) -> None:
    page = read(
        "<main><h1 id=top>Guide</h1><p>Intro text.</p><h2 id=install>Install</h2><p>Run it.</p>"
        "<h3>On <em>Windows</em></h3><p>Click it.</p><h2><a name=use></a>Use</h2><p>Ask  it\n a <b>question</b>.</p></main>"
    ).page
    assert outline(page) == [
        ("Intro text.", ("Guide",), "top"),
        ("Run it.", ("Guide", "Install"), "install"),
        ("Click it.", ("Guide", "Install", "On Windows"), ""),
        ("Ask it a question.", ("Guide", "Use"), "use"),
    ]


def test_an_anchor_may_stand_on_the_section_or_before_the_heading(read) -> None:
    page = read(
        f"<main><section id=one><span id=old></span><h2>One</h2>{FILLER}</section><a name=two></a><h2>Two</h2>{FILLER}"
        f"<div id=three><div><div><h2>Three</h2></div></div>{FILLER}</div><div id=no>text<h2>Four</h2>{FILLER}</div></main>"
    ).page
    assert [block.anchor for block in page.blocks] == ["one", "two", "three", "three", ""]
    around = read(
        f"<main><a id=four><h1></h1><h1>Four</h1></a>{FILLER}<a name=five><h2>Five</h2></a>{FILLER}</main>"
    ).page
    assert [block.anchor for block in around.blocks] == ["four", "five"]


def test_lists_keep_their_nesting_and_numbers(blocks) -> None:
    assert blocks(
        "<ul><li>One <b>bold</b><ul><li>Inner</li></ul></li><li><p>Two</p><p>more</p></li></ul>"
        "<ol start=3><li>Three</li><li value=7>Seven</li></ol>"
    ) == ["- One bold\n  - Inner\n- Two\n  more", "3. Three\n7. Seven"]


def test_code_in_an_item_stays_code(read) -> None:
    page = read(
        f"<main>{FILLER}<ol><li>First run<pre>make  all\n\tok</pre>then wait.</li><li>Done.</li></ol></main>"
    ).page
    assert page.blocks[1:] == (
        Block("1. First run", kind="list"),
        Block("make  all\n\tok", kind="code"),
        Block("then wait."),
        Block("2. Done.", kind="list"),
    )


def test_code_begins_and_ends_with_a_line_that_is_not_empty(read) -> None:
    page = read(f"<main>{FILLER}<pre>\n\n \n  make\n\n\tok \n \n</pre><pre>\n \n</pre></main>").page
    assert page.blocks[1:] == (Block("  make\n\n\tok", kind="code"),)


def test_empty_lines_before_code_cost_no_more_than_those_after_it(read) -> None:
    def seconds(code: str) -> float:
        tries = []
        for _ in range(3):
            began = time.process_time()
            read(f"<main>{FILLER}<pre>{code}</pre></main>")
            tries.append(time.process_time() - began)
        return min(tries)

    empty = "\n" * 200_000
    assert seconds(f"{empty}make") < 5 * seconds(f"make{empty}")


def test_tables_are_rows_of_cells(read) -> None:
    page = read(
        f"<main>{FILLER}<table><caption>Prices</caption><thead><tr><th>Plan<th>Price</thead>"
        "<tbody><tr><td>Basic<td>5 €<tr><td>Pro<td>9 <i>€</i></tbody></table></main>"
    ).page
    assert page.blocks[1:] == (Block("Prices"), Block("Plan\tPrice\nBasic\t5 €\nPro\t9 €", kind="table"))


def test_tables_for_layout_are_read_as_text(blocks) -> None:
    assert blocks("<table><tr><td><h2>Left</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>") == [
        "One.",
        "Two.",
    ]
    assert blocks("<table><tr><th>Functions</th></tr><tr><td><p>f(x)</p><p>Does it.</p></td></tr></table>")[
        -2:
    ] == ["f(x)", "Does it."]


def test_code_keeps_its_lines_without_numbers_and_buttons(blocks) -> None:
    assert blocks(
        '<div class="highlight"><button>Copy</button><pre><span class="linenos">1</span>def f():<br>    return 1\n\n'
        '<span class="linenos">3</span>f()  \n</pre></div>'
    ) == ["def f():\n    return 1\n\nf()"]


def test_short_definitions_are_a_list_and_long_ones_sections(read) -> None:
    glossary = read(
        f"<main>{FILLER}<dl><dt>WAL</dt><dd>Write-ahead log.</dd><dt>VFS</dt><dd>A layer.</dd></dl></main>"
    ).page
    assert glossary.blocks[1].text == "- WAL\n  Write-ahead log.\n- VFS\n  A layer."
    manual = read(
        f"<main><h2 id=api>API</h2><dl><dt id=dump>dump(object, file)</dt><dd>{FILLER}<pre>x</pre></dd></dl>{FILLER}</main>"
    ).page
    assert [(block.heading_path, block.anchor) for block in manual.blocks] == [
        *[(("API", "dump(object, file)"), "dump")] * 3,
        (("API",), "api"),
    ]


def test_a_folded_section_is_found_under_its_summary(read) -> None:
    page = read(
        f"<main>{FILLER}<details id=q1><summary>Can I pay by card?</summary><p>Yes, by any card.</p></details>{FILLER}</main>"
    ).page
    assert page.blocks[1] == Block("Yes, by any card.", ("Can I pay by card?",), anchor="q1")
    assert page.blocks[2].heading_path == ()


def test_a_note_does_not_close_its_section(read) -> None:
    page = read(
        "<main><h4 id=s>Section</h4><div class=note><h3 class=title>Note</h3><p>Mind this.</p></div>"
        f"<div class=sidebar><p class=title>TIP Faster downloads</p><p>Use a mirror.</p></div>{FILLER}</main>"
    ).page
    assert [(block.text[:12], block.heading_path) for block in page.blocks] == [
        ("Mind this.", ("Section",)),
        ("Use a mirror", ("Section", "TIP Faster downloads")),
        ("Some words o", ("Section",)),
    ]


def test_a_note_drawn_with_a_table_is_text(read) -> None:
    table = "<table><tr><td rowspan=2><img alt='[Note]'></td><th>Note</th></tr><tr><td><p>Mind this.</p></td></tr></table>"
    page = read(f"<main><h2>Part</h2><div class=note>{table}</div>{FILLER}</main>").page
    assert page.blocks[0] == Block("Mind this.", ("Part",))


def test_line_breaks_and_no_break_spaces_are_spaces(blocks) -> None:
    assert blocks("<p>One<br>two&nbsp;three<wbr>four&shy;five</p>") == ["One two threefourfive"]


def test_text_outside_paragraphs_is_kept_in_order(blocks) -> None:
    assert blocks("Before <b>it</b><p>inside</p>after<div>deep <span>down</span></div>end") == [
        "Before it", "inside", "after", "deep down", "end",
    ]  # fmt: skip


def test_only_items_are_numbered_in_a_list_with_paragraphs_between_them(blocks) -> None:
    steps = "<p>Before:</p><div><li>Read the rules.</li></div><br><p>After:</p><li>Write to us.</li>"
    assert blocks(f"<ol>{steps}</ol>") == ["Before:\n1. Read the rules.\nAfter:\n2. Write to us."]
    assert blocks("<ol><div>Read the rules.</div><div>Write.</div></ol>") == ["1. Read the rules.\n2. Write."]


def test_a_button_is_a_word_of_its_own_after_a_sentence(blocks) -> None:
    assert blocks('<p>We mend lamps.<a class="btn btn--lg" href="/">Ask us</a></p>') == [
        "We mend lamps. Ask us"
    ]
    assert blocks('<p>We mend <a class="link" href="/">lamp</a>s.</p>') == ["We mend lamps."]


def test_captions_and_telling_alternative_texts_are_kept(blocks) -> None:
    assert blocks(
        '<figure><img alt="The dashboard after the first login"><figcaption>Figure 1.</figcaption></figure>'
        '<p>See <img alt="an icon in a sentence with words"> here.</p><img alt="logo.png">'
    ) == ["🖼 The dashboard after the first login", "Figure 1.", "See here."]


def test_linked_logos_are_the_list_that_their_heading_or_lead_announces(read) -> None:
    def logo(name: str) -> str:
        return f'<a href="https://{len(name)}.example"><img alt="{name}" src=picture.svg></a> '

    def below(markup: str) -> list[tuple[str, ...]]:
        found = read(f"<main>{FILLER}{markup}</main>").page.blocks[1:]
        return [(*block.heading_path, block.text) for block in found]

    acme, bee = logo("Acme"), logo("Blue Bee logo")
    named = "- Acme\n- Blue Bee"
    assert below(f"<h2>Gold</h2><p>{acme}{bee}{acme}</p>") == [("Gold", named)]
    grid = f"<div class=row><div class=col>{acme}</div><div class=col>{bee}</div></div>"
    assert below(f"<h2>Silver</h2>{grid}") == [("Silver", named)]
    assert below(f"<h2>Partners</h2><ul><li>{acme}</li><li>{bee}</li></ul>") == [("Partners", named)]
    led = below(f"<p>Supported by:</p><p>{acme}</p><p>See you there.</p>")
    assert led == [("Supported by:",), ("- Acme",), ("See you there.",)]
    row = '<p>To all who help us.</p><div><img alt=Acme class=sponsor-logo><img alt="Blue Bee logo"></div>'
    assert below(f"<h2>Thanks</h2>{row}") == [("Thanks", "To all who help us."), ("Thanks", named)]


def test_pictures_that_name_nothing_are_no_logos(blocks) -> None:
    for picture in (
        "<a href=big.jpg><img alt=Harbour src=small.jpg></a>",  # opens larger
        "<a href=/x><img alt=logo-of-cats src=c.svg></a>",
        "<a href=/x><img alt=Logo src=logo.svg></a>",
        "<a href=/x><img alt=cats.png src=c.png></a>",
        "<a href=/x><img alt=Photos src=c.png></a>",  # its heading
        "<img alt=Cats src=c.png>",
    ):
        found = blocks(f"<main>{FILLER}<h2>Photos</h2>{picture}{FILLER}</main>")
        assert found == [found[0]] * 2, picture
    words = "<p>See <a href=/x><img alt=Cats></a> here.</p><p>Fine.</p><a href=/y><img alt=Dogs></a>"
    assert blocks(f"<main>{FILLER}{words}</main>")[1:] == ["See here.", "Fine."]


def test_an_alternative_text_that_the_words_beside_it_repeat_is_left_out(blocks) -> None:
    picture = '<img alt="Map of the old harbour wall">'
    caption = "<figcaption>Map of the old harbour — wall (1840)</figcaption>"
    line = "<br>Since May the harbour wall is closed."
    assert blocks(
        f"<figure>{picture}{caption}</figure>{FILLER}<p>{picture} Map of the old harbour wall{line}</p>"
        f"{FILLER}<div>{picture}<h3>Map of the old harbour wall</h3>{picture}<p>Twelve sheets.</p></div>{picture}"
    ) == [
        "Map of the old harbour — wall (1840)",
        FILLER[3:-5],
        "Map of the old harbour wall Since May the harbour wall is closed.",
        FILLER[3:-5],
        "Twelve sheets.",
    ]


def test_a_raised_digit_behind_a_number_does_not_make_another_number(blocks) -> None:
    assert blocks(
        '<p>Lines 200<sup>1</sup>, 201 and <b>31</b><sup><a href="#note">2</a></sup> stop here, 40 m<sup>2</sup> of '
        "roof, the 5<sup>th</sup> of May, $12<sup>50</sup> a day.</p>"
    ) == ["Lines 200¹, 201 and 31² stop here, 40 m2 of roof, the 5th of May, $12⁵⁰ a day."]


def test_every_line_stands_on_the_page_word_for_word(read) -> None:
    markup = (
        "<main><h1>T</h1><p>A <i>b</i>\n c.</p><ul><li>x  y<ol><li>z</li></ol></li></ul><table><tr><th>h1<th>h2<tr>"
        "<td>c1<td>c2</table><dl><dt>t</dt><dd>d e</dd></dl><blockquote>q <br> r</blockquote></main>"
    )
    seen = " ".join(["T", "A", "b", "c.", "x", "y", "z", "h1", "h2", "c1", "c2", "t", "d", "e", "q", "r"])
    for block in read(markup).page.blocks:
        for line in block.text.splitlines():
            for cell in line.split("\t"):
                assert cell.strip().removeprefix("- ").removeprefix("1. ") in seen


def test_a_folded_section_has_the_id_of_the_heading_in_its_summary(read) -> None:
    folded = (
        "<details><summary><h3 id=pay-by-card>Can I pay by card?</h3></summary><p>Yes, by any.</p></details>"
    )
    page = read(f"<main><h2 id=payment>Payment</h2>{FILLER}{folded}</main>").page
    (block,) = [block for block in page.blocks if "Yes" in block.text]
    assert block.anchor == "pay-by-card"


def test_a_summary_with_paragraphs_loses_none(read) -> None:
    markup = f"<main>{FILLER}<details><summary><h4>Returns</h4><p>Within a month.</p></summary>By post only.</details></main>"
    assert [block.text for block in read(markup).page.blocks[1:]] == ["Within a month.", "By post only."]


def test_a_logo_that_leads_to_the_start_is_a_menu_though_it_is_a_block(read) -> None:
    words = "Some words of real content that go on for a while. " * 3
    logo = '<a href="/es/"><div>Lamps en Español</div><div id="logo"></div></a>'
    markup = f"<main><div>{logo}</div><h1>Horario</h1><p>{words}</p></main>"
    blocks = read(markup, url="https://lamps.example/es/horario").page.blocks
    assert [block.text for block in blocks] == [words.strip()]
    other = markup.replace('href="/es/"', 'href="/club"')
    assert "Lamps en Español" in read(other, url="https://lamps.example/es/horario").page.text


def test_a_price_that_a_style_sets_apart_is_a_word_of_its_own(blocks) -> None:
    assert blocks(
        "<div><span class=name>Black tea</span><span class=price>3.50</span></div>"
        "<ul><li><strong>Monday</strong><span>Closed</span></li><li><b>Sunday</b><time>10:00</time><em>Guided tour</em></li></ul>"
        "<p><span>H</span><span>ello</span> from <i>un</i><b>Cut</b> and <b>re</b><i>write</i> 2<em>nd</em></p>"
        "<p><span>Re</span><span>written</span></p><p><span>2</span><span>4</span> hours</p>"
    ) == [
        "Black tea 3.50",
        "- Monday Closed\n- Sunday 10:00 Guided tour",
        "Hello from unCut and rewrite 2nd",
        "Rewritten",
        "24 hours",
    ]


def test_the_titles_of_cards_head_what_is_below_them(read) -> None:
    def card(title: str, *rows: str) -> str:
        return f'<div class="menu-card"><div class="card-header">{title}</div><p>{"</p><p>".join(rows)}</p></div>'

    page = read(
        f"<main><h1>Bar</h1>{FILLER}{card('Hot drinks', 'Tea 3.00')}{card('Soups', 'Pea 6.00')}<p>Cash only.</p></main>"
    ).page
    assert outline(page)[1:] == [
        ("Tea 3.00", ("Bar", "Hot drinks"), ""),
        ("Pea 6.00", ("Bar", "Soups"), ""),
        ("Cash only.", ("Bar",), ""),
    ]
    numbered = "".join(
        f'<div class="col-4 ticket{place}"><div class="ticket-header t{place}">{title}</div><p>{price}</p></div>'
        for place, (title, price) in enumerate([("Virtual", "from 55"), ("Student", "from 150")])
    )
    page = read(f"<main><h1>Tickets</h1>{FILLER}<div>{numbered}</div></main>").page
    assert outline(page)[1:] == [
        ("from 55", ("Tickets", "Virtual"), ""),
        ("from 150", ("Tickets", "Student"), ""),
    ]
    linked = read(
        f"<main><h1>Bar</h1>{FILLER}{card('<a href=/tea>Tea</a>', 'From 3.00')}{card('Soups', 'Pea')}</main>"
    ).page
    assert {block.heading_path for block in linked.blocks} == {("Bar",)}
