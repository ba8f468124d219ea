from __future__ import annotations

from crawler.extractors import SourceDocument, extract, extractor_for
from crawler.page import Block


def read(text: str, url: str = "https://example.com/readme.txt", content_type: str = "text/plain"):
    return extract(SourceDocument(url, text.encode(), content_type)).page


def test_blank_lines_separate_paragraphs() -> None:
    page = read("Terms of use\n\nYou may use\nit freely.\r\n\r\nAnd   more.\n")
    assert page.title == "Terms of use"
    assert [block.text for block in page.blocks] == ["Terms of use", "You may use it freely.", "And more."]


def test_lists_and_indented_code_keep_their_lines() -> None:
    assert read("Do this:\n\n    make all\n\n- one\n- two\n").blocks == (
        Block("Do this:"),
        Block("    make all", kind="code"),
        Block("- one\n- two", kind="list"),
    )


def test_a_file_without_a_title_is_called_by_its_name() -> None:
    assert read("It goes on and on, and ends with a full stop.", "https://e.com/a%20b.txt").title == "a b.txt"


def test_an_empty_file_has_no_blocks() -> None:
    assert read("\n \n---\n").blocks == ()


def test_types_that_nobody_reads_have_no_extractor() -> None:
    assert extractor_for("image/png") is None
    assert extractor_for("application/xhtml+xml") is extractor_for("text/html")
