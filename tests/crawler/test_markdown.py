import gc
import time

import pytest

from crawler.errors import BadFile
from crawler.extractors import SourceDocument, extract
from crawler.limits import FileLimits
from crawler.page import Block


def read(text, **options):
    return extract(
        SourceDocument(
            url="https://example.com/docs/guide.md",
            body=text.encode(),
            content_type="text/markdown",
            **options,
        )
    )


def blocks(text):
    return read(text).page.blocks


def test_headings_lead_to_their_text_and_are_anchors():
    page = read("# Guide\n\nIntro.\n\nSetext\n------\n\nBody, *with* `code`.\n\n## Setext\nAgain.\n").page
    assert page.title == "Guide"
    assert page.blocks == (
        Block("Intro.", ("Guide",), "text", "guide"),
        Block("Body, with code.", ("Guide", "Setext"), "text", "setext"),
        Block("Again.", ("Guide", "Setext"), "text", "setext-1"),
    )


def test_what_is_too_long_for_a_heading_is_text():
    prose = "The house put its whole story into one heading, from its first guests to today. " * 5
    assert blocks(f"# House\n\n## {prose}\n\nCome in.\n") == (
        Block(prose.strip(), ("House",), "text", "house"),
        Block("Come in.", ("House",), "text", "house"),
    )


def test_front_matter_tells_title_and_language():
    page = read('---\ntitle: "Lampen pflegen"\nlang: de-AT\ntags: [a]\n---\n# Other\nText\n').page
    assert (page.title, page.language) == ("Lampen pflegen", "de")
    assert "tags" not in page.text


def test_lists_nested_and_numbered():
    assert blocks("- one\n- two\n  wrapped\n  1. deep\n  2. deeper\n- three\n") == (
        Block("- one\n- two wrapped\n  1. deep\n  2. deeper\n- three", (), "list"),
    )
    assert blocks("3. third\n4. fourth\n")[0].text == "3. third\n4. fourth"


def test_tables_and_code():
    text = "| Lamp | Price |\n| --- | ---: |\n| Glow | **19.90** EUR |\n\n```sh\nlamp --reset\n\n  indented\n```\n"
    assert blocks(text) == (
        Block("Lamp\tPrice\nGlow\t19.90 EUR", (), "table"),
        Block("lamp --reset\n\n  indented", (), "code"),
    )


def test_links_are_followed_and_fragments_are_not():
    found = read(
        "See [care](../care.md#clean), <https://example.com/a>, [up](#top) and [mail](mailto:a@b.c).\n"
    )
    assert found.follow == ("https://example.com/care.md", "https://example.com/a")
    assert found.page.text == "See care, https://example.com/a, up and mail."


def test_marks_of_notes_and_classes_are_no_words():
    text = "> [!TIP]\n> Book early.\n\nSee [the terms](terms.md){.button .wide}, then `{.x}`.\n\n{: .no_toc }\n\n| A |\n| - |\n| [b](b.md){:.c} |\n"
    assert [block.text for block in blocks(text)] == ["Book early.", "See the terms, then {.x}.", "A\nb"]
    assert blocks("[!TIP] is how a note begins.\n")[0].text == "[!TIP] is how a note begins."


def test_raw_html_is_left_out():
    found = blocks(
        "Before.\n\n<div onclick='x()'>\n<script>alert(1)</script>\n</div>\n\nAfter <b>bold</b> words.\n"
    )
    assert [block.text for block in found] == ["Before.", "After bold words."]


def test_an_image_says_what_it_shows():
    assert blocks("![The lamp](lamp.png) on a table.\n")[0].text == "The lamp on a table."


@pytest.mark.parametrize(
    "bomb", ["[" * 50_000, "> " * 20_000 + "x", "- " * 20_000 + "x", "*a " * 30_000, "`" * 50_000]
)
def test_markup_meant_to_be_slow_is_read_in_bounded_time(bomb):
    started = time.process_time()
    read(bomb)
    assert time.process_time() - started < 10


def test_a_file_that_is_too_long_is_an_error():
    with pytest.raises(BadFile, match="characters"):
        read("word " * 700_000)


TABLE = "| lamp | price |\n|---|---|\n" + "| brass lamp | 12 |\n"


@pytest.mark.parametrize(
    "text", [TABLE + "| lamp | 12 |\n" * 128_000, "- a *lamp*\n" * 150_000, "a lamp \\| on\n\n" * 120_000]
)
def test_a_long_file_is_given_up_at_the_limit(text):
    started = time.process_time()
    with pytest.raises(BadFile, match=r"could not be read within 0\.5 s"):
        read(text, limits=FileLimits(seconds=0.5))
    assert time.process_time() - started < 3


def test_reading_a_table_takes_time_in_proportion_to_its_length():
    def seconds(rows):
        gc.collect()
        gc.disable()  # it takes longer the more objects other tests have left
        started = time.process_time()
        read(TABLE + "| lamp | 12 |\n" * rows)
        gc.enable()
        return time.process_time() - started

    assert seconds(16_000) < 10 * max(seconds(4_000), 0.1)
