"""A page as Markdown says the same when it is read back."""

import pytest

from crawler.errors import BadFile
from crawler.page import Block, Page
from server.domain.chunk import PageWords, joined_text
from server.indexing.chunker import ChunkSizes, chunk_page
from server.jobs.page_edits import edited, markdown_of, page_of_chunks, says_the_same

URL = "https://shop.example/a"
BLOCKS = (
    Block("An * and _x_ and [a link] &copy; 3 < 4 ~~no~~ snake_case a|b \\ `c` #1 + 2."),
    Block("14. Of May we open.", ("A",), anchor="a"),
    Block("- one\n  - two\n    1. deep\n- three | four", ("A", "B"), "list"),
    Block("1. one\n  - sub\n2. two", ("A", "B"), "list"),
    Block("Lamp\tPrice\nGlow | Mini\t19.90 EUR\nA row", ("A", "C"), "table"),
    Block("sh x.sh\n  --quiet\n```\nz = `a`", ("A", "C"), "code"),
    Block("Back up.", ("A",)),
    Block("# no heading", ("Z #1 *bold*",)),
    Block("- a dash", ("Z #1 *bold*", "Y")),
    Block("> no quotation", ("Z #1 *bold*", "Y")),
    Block("日本語の段落。", ("日本語",)),
)


def page(*blocks):
    return Page(URL, "Title", "en", tuple(blocks))


def test_what_is_not_changed_reads_back_as_it_was():
    was = page(*BLOCKS)
    now = edited(was, "Title", markdown_of(was))
    assert [(b.heading_path, b.text, b.kind) for b in now.blocks] == [
        (b.heading_path, b.text, b.kind) for b in BLOCKS
    ]
    assert says_the_same(was, now)


@pytest.mark.parametrize("block", BLOCKS)
def test_each_kind_of_block_reads_back_alone(block):
    was = page(block)
    (now,) = edited(was, "Title", markdown_of(was)).blocks
    assert (now.text, now.heading_path) == (block.text, block.heading_path)


def test_one_wide_row_does_not_widen_the_others():
    was = page(Block("\n".join(["\t".join("abcdef" * 200), *["one row"] * 1000]), ("A",), "table"))
    written = markdown_of(was)
    assert len(written) < 30_000
    assert [block.text for block in edited(was, "Title", written).blocks] == [was.blocks[0].text]


def test_a_page_is_made_again_of_its_chunks():
    sentences = [f"Sentence number {n} tells of lamps and parcels." for n in range(60)]
    was = page(
        Block(" ".join(sentences), ("Long",), anchor="long"),
        Block("- one\n- two", ("List",), "list"),
        Block("a\tb\nc\td", ("Table",), "table"),
        Block("x = 1\n\ny = 2", ("Code",), "code"),
    )
    chunks = chunk_page(was, ChunkSizes(400, 100))
    assert len(chunks) > 6
    made = page_of_chunks(chunks)
    assert says_the_same(was, made)
    assert [block.kind for block in made.blocks][-3:] == ["list", "table", "code"]
    assert made.content_hash == "", "so the next crawl reads it anew"
    words = PageWords(joined_text(chunks))
    assert words.hold(" ".join(sentences[5:9])), "across two chunks"
    assert words.hold("one two")
    assert words.hold("a b c d")
    assert not words.hold("Sentence number 60")
    assert not words.hold(" ")


def test_a_correction_keeps_the_anchors_of_the_website_and_drops_what_may_say_the_old():
    was = Page(
        URL, "Title", "en", (Block("Old.", ("A",), anchor="the-a"),),
        description="Old.", questions=(("Q", "Old."),), breadcrumbs=("Home",),
    )  # fmt: skip
    now = edited(was, " New \n title ", "# A\n\nNew.\n\n## New part\n\nMore.")
    assert [(block.text, block.anchor) for block in now.blocks] == [("New.", "the-a"), ("More.", "")]
    assert (now.title, now.description, now.questions, now.breadcrumbs) == ("New title", "", (), ("Home",))
    assert now.content_hash


def test_html_in_a_correction_is_text_at_most():
    now = edited(
        page(Block("x")), "T", "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> Words <b>bold</b>."
    )
    assert all("<" not in block.text for block in now.blocks)


def test_a_text_without_end_is_refused():
    with pytest.raises(BadFile):
        edited(page(Block("x")), "T", "a" * 3_000_001)


def test_a_page_that_begins_with_a_fence_loses_nothing():
    was = page(Block("```\nopens\tcode", ("Signs",), "table"), Block("Another one ends it.", ("Signs",)))
    made = page_of_chunks(chunk_page(was, ChunkSizes(400, 100)))
    assert [(block.kind, block.text) for block in made.blocks] == [
        (block.kind, block.text) for block in was.blocks
    ]
