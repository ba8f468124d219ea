import time

import pytest

from server.answering.writing.quotation import Quotation, escape_markdown
from server.answering.writing.units import UnitKind, units

TEXT = (
    "Lamps can be returned. It is free.\n\n1. Write to us.\n2. Put it into a box. Close the box.\n\n"
    "Lamp\tPrice\nGlow Mini\t19.90 EUR\nGlow Maxi\t49.90 EUR\n\n```\nrun --all\n\nstop\n```"
)


def test_a_chunk_falls_into_sentences_items_rows_and_code():
    assert [(unit.kind, unit.text) for unit in units(TEXT)] == [
        (UnitKind.SENTENCE, "Lamps can be returned."),
        (UnitKind.SENTENCE, "It is free."),
        (UnitKind.STEP, "Write to us."),
        (UnitKind.STEP, "Put it into a box. Close the box."),
        (UnitKind.ROW, "Lamp\tPrice"),
        (UnitKind.ROW, "Glow Mini\t19.90 EUR"),
        (UnitKind.ROW, "Glow Maxi\t49.90 EUR"),
        (UnitKind.CODE, "run --all\n\nstop"),
    ]


def test_text_that_begins_with_a_fence_is_no_code_up_to_the_next_block_of_code():
    text = "``` opens a block of code. It needs a line of its own.\n\nTry it:\n\n```\nrun --all\n```"
    assert [(unit.kind, unit.text, unit.block) for unit in units(text)] == [
        (UnitKind.SENTENCE, "``` opens a block of code.", 0),
        (UnitKind.SENTENCE, "It needs a line of its own.", 0),
        (UnitKind.SENTENCE, "Try it:", 1),
        (UnitKind.CODE, "run --all", 2),
    ]


def test_steps_are_shown_as_steps_and_quoted_without_their_numbers():
    found = units(TEXT)
    quotation = Quotation(0, found[2:4], found)
    assert quotation.markdown == "1. Write to us.\n2. Put it into a box. Close the box."
    assert quotation.quote == "Write to us.\nPut it into a box. Close the box."


def test_items_within_an_item_that_is_not_shown_are_a_list_and_no_code():
    found = units("- Lamps\n    - Oil lamps\n        - Old ones\n    - Gas lamps")
    assert Quotation(0, found[1:], found).markdown == "- Oil lamps\n  - Old ones\n- Gas lamps"


def test_what_a_term_means_stands_in_the_same_item():
    found = units("- IBAN:\n  An account. It is ours.\n- WAL\n  A log.\n  - Of writes\n- BIC:\n  GENODEM1")
    assert Quotation(0, found, found, marked=found[1]).markdown == (
        "- IBAN: **An account.** It is ours.\n- WAL  \n  A log.\n  - Of writes\n- BIC: GENODEM1"
    )
    assert Quotation(0, found[1:3], found).markdown == "An account. It is ours."
    fax = units("- Fax\n  -\n- Lamp\n  灯")
    assert Quotation(0, fax, fax).markdown == "- Fax -\n- Lamp  \n  灯"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "- Members\n  - Adults\n  - Children\n  pay nothing.",
            "- Members\n  - Adults\n  - Children\n\n  pay nothing.",
        ),
        (
            "1. Pack\n  - paper\n  - box\n  Then close it.\n2. Post it.",
            "1. Pack\n   - paper\n   - box\n\n   Then close it.\n2. Post it.",
        ),
        ("- Lamp\n  It burns. It smells.\n  It is old.", "- Lamp  \n  It burns. It smells.  \n  It is old."),
    ],
)
def test_the_rest_of_an_item_is_not_shown_within_the_items_that_it_has(text, shown):
    found = units(text)
    assert Quotation(0, found, found).markdown == shown


def test_steps_within_a_step_do_not_end_the_list():
    from markdown_it import MarkdownIt

    found = units("1. Open\n  1. Turn\n  2. Lift\n  Let it cool.\n2. Change the wick.\n3. Close it.")
    shown = MarkdownIt("commonmark").render(Quotation(0, found, found).markdown)
    outer = shown.split("<ol>", 1)[1]
    assert outer.count("<ol") == 1, "the steps of the first one, within it"
    assert "<p>Let it cool.</p>\n</li>\n<li>\n<p>Change the wick.</p>" in outer
    assert outer.rstrip().endswith("<p>Close it.</p>\n</li>\n</ol>")


def test_steps_within_an_item_keep_their_numbers():
    from markdown_it import MarkdownIt

    found = units("- Lamps\n  4. Oil\n  5. Gas\n- Candles")
    shown = MarkdownIt("commonmark").render(Quotation(0, found, found).markdown)
    assert '<ol start="4">\n<li>Oil</li>\n<li>Gas</li>\n</ol>' in shown
    assert shown.count("<ul>") == 1


def test_a_long_list_with_parts_of_its_items_takes_time_as_it_is_long():
    def seconds(items):
        found = units("- Lamps\n" + "  - Oil\n  burns.\n" * items)
        began = time.process_time()
        assert Quotation(0, found, found).markdown.count("burns.") == items
        return time.process_time() - began

    assert seconds(4000) < 1


def test_a_row_is_shown_under_the_head_of_its_table():
    found = units(TEXT)
    assert (
        Quotation(0, [found[6]], found).markdown
        == "| Lamp | Price |\n| --- | --- |\n| Glow Maxi | 49.90 EUR |"
    )


def test_code_is_fenced():
    found = units(TEXT)
    assert Quotation(0, [found[7]], found).markdown == "```\nrun --all\n\nstop\n```"


@pytest.mark.parametrize(
    "text",
    [
        "a * b * c",
        "__init__ and max_connections",
        "see [1] here",
        "<b>",
        "# not a heading",
        "1. no list",
        "a | b",
        "`x`",
    ],
)
def test_escaped_text_is_shown_as_it_is(text):
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(escape_markdown(text))
    assert html == f"<p>{text.replace('<', '&lt;').replace('>', '&gt;')}</p>\n"


def test_plain_words_are_not_touched():
    assert escape_markdown("Set max_connections to 100 (see 2.1).") == "Set max_connections to 100 (see 2.1)."
