"""How a page is cut."""

import itertools
from pathlib import Path

import pytest

from crawler.extractors import SourceDocument, extract
from crawler.page import Block, Page
from server.domain.sentences import lines, split_sentences
from server.indexing.chunker import ChunkSizes, chunk_page
from server.languages.detector import piece_language

SIZES = ChunkSizes(200, 60)
URL = "https://shop.example/help"


def page(*blocks, language="en", title="Help", url=URL):
    return Page(url, title, language, blocks)


def texts(*blocks, sizes=SIZES):
    return [chunk.text for chunk in chunk_page(page(*blocks), sizes)]


def folded(text):
    return " ".join(text.split())


def sentences(count, start=0):
    return " ".join(f"Sentence number {i} tells of lamps." for i in range(start, start + count))


def test_an_empty_page_has_no_chunks():
    assert texts() == []
    assert texts(Block("  \n ")) == []


def test_sections_are_never_mixed():
    chunks = chunk_page(
        page(Block("Short."), Block("Also short.", ("A",)), Block("Tiny.", ("A", "B"), anchor="b")), SIZES
    )
    assert [(chunk.heading_path, chunk.text, chunk.anchor) for chunk in chunks] == [
        ((), "Short.", ""), (("A",), "Also short.", ""), (("A", "B"), "Tiny.", "b"),
    ]  # fmt: skip
    assert [chunk.position for chunk in chunks] == [0, 1, 2]


def test_blocks_of_a_section_share_a_chunk_when_they_fit():
    assert texts(Block("Choose one:"), Block("- red\n- blue", kind="list"), Block("x = 1", kind="code")) == [
        "Choose one:\n\n- red\n- blue\n\n```\nx = 1\n```"
    ]


@pytest.mark.parametrize("kind", ["text", "list", "table", "code"])
@pytest.mark.parametrize(
    "content", ["word " * 400, "x" * 2000, "漢" * 900, "a b\n" * 300, "- a\n  - b\n" * 200]
)
def test_no_chunk_is_longer_than_allowed_and_nothing_is_lost(kind, content):
    found = texts(Block(content.strip(), kind=kind))
    assert max(map(len, found)) <= SIZES.most
    kept = "".join("".join(text.replace("```", "").split()) for text in found)
    assert len(kept) >= len("".join(content.split()))


def test_long_text_is_cut_between_sentences_which_neighbours_share():
    found = texts(Block(sentences(12)))
    assert len(found) > 2
    for before, after in itertools.pairwise(found):
        assert before.endswith(".")
        assert after.startswith("Sentence")
        assert split_sentences(before)[-1] == split_sentences(after)[0]


def test_overlap_stays_inside_a_section():
    chunks = chunk_page(page(Block(sentences(6), ("A",)), Block(sentences(2, 50), ("B",))), SIZES)
    assert [chunk.text for chunk in chunks if chunk.heading_path == ("B",)] == [sentences(2, 50)]


def test_no_overlap_when_none_is_wanted():
    found = texts(Block(sentences(12)), sizes=ChunkSizes(200, 0))
    assert " ".join(found) == sentences(12)


def test_chunks_of_a_section_are_of_about_equal_size():
    found = texts(Block(sentences(7)), sizes=ChunkSizes(200, 0))
    assert max(map(len, found)) <= 2.5 * min(map(len, found))


def test_a_list_is_cut_between_items():
    found = texts(Block("\n".join(f"- item {i} of the list" for i in range(30)), kind="list"))
    assert all(line.startswith("- item") for text in found for line in text.split("\n"))


def test_a_long_table_repeats_its_header_row():
    rows = [f"lamp {i}\t{i} EUR" for i in range(40)]
    found = texts(Block("\n".join(["Name\tPrice", *rows]), kind="table"))
    assert len(found) > 2
    assert all(text.startswith("Name\tPrice\n") for text in found)
    assert [row for text in found for row in text.split("\n")[1:]] == rows


def test_a_table_of_up_to_twice_the_longest_chunk_stays_whole():
    table = "\n".join(["Name\tPrice", *(f"lamp {i}\t{i} EUR" for i in range(24))])
    assert SIZES.most < len(table) <= 2 * SIZES.most
    assert texts(Block(sentences(3)), Block(table, kind="table"), Block(sentences(3)))[1] == table


@pytest.mark.parametrize("before", range(1, 9))
def test_a_short_table_is_not_torn_from_its_head(before):
    table = "Name\tPrice\nGlow Mini\t19 EUR\nGlow Maxi\t49 EUR\nGlow Giant\t99 EUR"
    found = texts(Block(sentences(before)), Block(table, kind="table"), Block(sentences(4, before)))
    assert sum(table in text for text in found) == 1
    assert sum("Price" in text or "EUR" in text for text in found) == 1


@pytest.mark.parametrize("lead", ["We do not accept:", "These are the steps to follow"])
@pytest.mark.parametrize("kind", ["list", "table", "code"])
def test_a_lead_stays_with_what_it_introduces(lead, kind):
    follows = "\n".join(f"- item {i}\tof the list" for i in range(6))
    found = texts(Block(sentences(5)), Block(lead), Block(follows, kind=kind))
    assert [lead in text for text in found if "item 0" in text] == [True]
    assert not any(text.endswith(lead) for text in found)


def test_every_part_of_a_long_list_begins_with_its_lead():
    found = texts(
        Block(sentences(2)),
        Block("We do not accept:"),
        Block("\n".join(f"- item {i} of the list" for i in range(30)), kind="list"),
    )
    listed = [text for text in found if "item" in text]
    assert len(listed) > 2
    assert all(
        "We do not accept:\n\n- item" in text or "We do not accept:\n- item" in text for text in listed
    )
    assert max(map(len, listed)) <= SIZES.most


def test_code_is_kept_whole_when_it_fits_and_fenced_when_it_does_not():
    code = "def f():\n    return 1"
    assert texts(Block(sentences(4)), Block(code, kind="code"))[-1].endswith(f"```\n{code}\n```")
    long_code = "\n".join(f"call({i})" for i in range(60))
    found = texts(Block(long_code, kind="code"))
    assert all(text.startswith("```\n") and text.endswith("\n```") for text in found)
    assert "\n".join(text[4:-4] for text in found) == long_code


def test_ids_are_stable_and_tell_equal_texts_apart():
    first = chunk_page(page(Block("Same.", ("A",)), Block("Other.", ("B",)), Block("Same.", ("A",))), SIZES)
    again = chunk_page(page(Block("New.", ("Z",)), Block("Same.", ("A",)), title="Other title"), SIZES)
    assert len({chunk.id for chunk in first}) == 3
    assert again[1].id == first[0].id
    elsewhere = chunk_page(page(Block("Same.", ("A",)), url="https://shop.example/other"), SIZES)
    assert elsewhere[0].id != first[0].id


def test_a_chunk_has_its_own_language_where_the_page_says_another():
    blocks = (
        Block("섬으로 보내는 소포는 닷새가 걸립니다.", ("A",)),
        Block("Das ist ein Haus, und es ist nicht für dich, weil wir es mit ihr und dir haben.", ("B",)),
        Block("max_connections = 5", ("C",)),
        Block("東京駅", ("D",)),
    )
    assert [chunk.language for chunk in chunk_page(page(*blocks), SIZES)] == ["ko", "de", "en", "zh"]
    assert [chunk.language for chunk in chunk_page(page(blocks[3], language="ja"), SIZES)] == ["ja"]


@pytest.mark.parametrize(
    "text",
    [
        "Acme\tCO\t$1\nBolt\tDE\t$2\nCord\tLA\t$3\nDent\tMA\t$4\nEdge\tMI\t$5\nFern\tNE\t$6\nGolf\tAL\t$7",
        "\n".join(f"{number} nodes\t384 per node" for number in range(14)),
        "See www.un-site.fr, www.mon.fr, le.la.fr, mail@des.fr, mail@les.fr, est-une.fr and dans/pour.",
    ],
    ids=["abbreviations", "one word on every line", "addresses"],
)
def test_tables_and_addresses_do_not_make_another_language(text):
    assert piece_language(text, "en") == "en"


def test_a_text_all_in_capitals_has_a_language():
    assert piece_language("DAS IST EIN HAUS UND ES IST NICHT FÜR DICH, WEIL WIR ES HABEN", "en") == "de"


DOCS = sorted(
    path
    for folder in ("/usr/share/doc/postgresql-doc-15/html", "/usr/share/doc/apache2-doc/manual/ja/howto",
                   "/usr/share/doc/debian-handbook/html/zh-CN", "/usr/share/doc/debian-handbook/html/ar-MA")
    for path in Path(folder).glob("*.html")
)[::25]  # fmt: skip


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_sentence_of_a_real_manual_stands_on_its_page_and_none_is_lost(path):
    found = extract(SourceDocument(f"http://docs.example/{path.name}", path.read_bytes())).page
    chunks = chunk_page(found, ChunkSizes())
    text = folded(found.text)
    for chunk in chunks:
        assert len(chunk.text) <= 1000 or "\t" in chunk.text
        assert len(chunk.text) <= 2240, "a whole table with its lead"
        for _, line in lines(chunk.text):
            assert line.strip() == "```" or all(
                folded(sentence) in text for sentence in split_sentences(line)
            )
    kept = folded(" ".join(line for chunk in chunks for _, line in lines(chunk.text)))
    for block in found.blocks:
        for _, line in lines(block.text):
            assert all(folded(sentence) in kept for sentence in split_sentences(line) if len(sentence) < 900)


def test_a_chunk_lies_on_one_page_of_a_pdf_so_that_its_link_opens_that_page():
    blocks = tuple(
        Block(f"Sentence {n} stands here.", ("Part",), anchor=f"page={n // 2 + 1}") for n in range(4)
    )
    page = Page("https://example.com/a.pdf", "A", "en", blocks)
    chunks = chunk_page(page, ChunkSizes())
    assert [chunk.anchor for chunk in chunks] == ["page=1", "page=2"]
    assert chunks[1].text == "Sentence 2 stands here.\n\nSentence 3 stands here."


def test_a_quotation_in_another_language_is_a_chunk_of_its_own():
    blocks = (
        Block("The manual was written in two languages.", ("Manual",)),
        Block("Die Lampe wird mit dem Schalter eingeschaltet.", ("Manual",), language="de"),
    )
    page = Page("https://e.com/", "Manual", "en", blocks)
    assert [(chunk.language, chunk.text[:3]) for chunk in chunk_page(page, ChunkSizes())] == [
        ("en", "The"),
        ("de", "Die"),
    ]


STEPS = Block(
    "\n".join(
        f"{number}. Pay by way {number}.\n  {sentences(3, 10 * number)}\n  The bank of way {number}."
        for number in range(1, 5)
    ),
    kind="list",
)
WAYS = Block("There are four ways to pay:")


@pytest.mark.parametrize("most", [180, 200, 240, 300])
def test_a_paragraph_within_a_step_stays_with_what_the_step_is_about(most):
    found = texts(WAYS, STEPS, sizes=ChunkSizes(most, 60))
    assert len(found) > 2
    for number in range(1, 5):
        for inner in (f"Sentence number {10 * number} tells", f"The bank of way {number}."):
            assert all(f"{number}. Pay by way {number}." in text for text in found if inner in text), inner
    for text in found[:-1]:
        assert not text.split("\n")[-1].startswith(tuple("1234")), "no step ends with what it is about"
    assert all(text.startswith(WAYS.text) for text in found)
    assert all(len(text) <= most for text in found)
