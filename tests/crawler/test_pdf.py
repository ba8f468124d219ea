import time
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from fpdf import FPDF

from crawler.errors import BadFile
from crawler.extractors import SourceDocument, extract
from crawler.limits import FileLimits
from tests.crawler.files import LOREM, locked_pdf, pdf, raw_pdf

URL = "https://example.com/manual.pdf"


def read(body, **limits):
    return extract(SourceDocument(URL, body, "application/pdf", limits=FileLimits(**limits)))


def told(body, **limits):
    return [(b.text, b.heading_path, b.kind, b.anchor) for b in read(body, **limits).page.blocks]


def test_each_page_is_an_anchor_and_sizes_tell_the_headings():
    body = pdf(
        [
            [
                ("h1", "Lamp manual"),
                ("p", LOREM * 3),
                ("h2", "Cleaning"),
                ("p", "Wipe the glass with a dry cloth."),
            ],
            [
                ("h2", "Repair"),
                ("p", "Send the lamp to the workshop."),
                ("code", "lamp --reset\nlamp --test"),
            ],
        ]
    )
    blocks = told(body)
    assert blocks[0] == ((LOREM * 3).strip(), ("Lamp manual",), "text", "page=1")
    assert blocks[1:] == [
        ("Wipe the glass with a dry cloth.", ("Lamp manual", "Cleaning"), "text", "page=1"),
        ("Send the lamp to the workshop.", ("Lamp manual", "Repair"), "text", "page=2"),
        ("lamp --reset\nlamp --test", ("Lamp manual", "Repair"), "code", "page=2"),
    ]
    assert read(body).page.title == "Lamp manual"
    assert read(body).page.language == "en"


def test_a_line_within_a_sentence_is_no_heading_however_large():
    made = FPDF()
    made.add_page()

    def line(text, size, y):
        made.set_font("Helvetica", size=size)
        made.text(20, y, text)

    line("Paying the bill", 20, 30)
    line("There are five ways to make", 11, 40)
    line("sure that the bank gets it in time.", 14, 46)
    line("Use the account online. Payments can", 14, 60)
    line("be made at any hour of the day.", 11, 66)
    for number in range(8):
        line(LOREM[:90], 11, 80 + 6 * number)
    line("The bank", 14, 150)
    line("moves the money within a day, as banks do.", 11, 156)
    found = told(bytes(made.output()))
    assert {path for _, path, _, _ in found} == {("Paying the bill",), ("Paying the bill", "The bank")}
    assert "five ways to make sure that the bank gets it in time." in " ".join(text for text, *_ in found)


def test_bookmarks_tell_the_headings_even_when_they_look_like_text():
    body = pdf([[("h1", "First part"), ("p", LOREM)], [("h2", "A detail"), ("p", LOREM)]], bookmarks=True)
    assert [path for _, path, _, _ in told(body)] == [("First part",), ("First part", "A detail")]


def test_running_headers_footers_and_page_numbers_are_left_out():
    pages = [[("h2", f"Part {name}"), ("p", f"{name}: {LOREM}")] for name in ("one", "two", "three", "four")]
    text = read(pdf(pages, header="Lantern Shop - Internal handbook")).page.text
    assert "Internal handbook" not in text
    assert "of 4" not in text
    assert text.count("The lamp is checked") == 4


def test_a_paragraph_of_a_page_and_its_continuation_on_the_next_are_one():
    body = pdf(
        [[("p", LOREM + "It is then put into the")], [("p", "large box with the blue label. " + LOREM)]]
    )
    (text, _, _, anchor) = told(body)[0]
    assert "put into the large box with" in text
    assert anchor == "page=1"


def test_words_that_a_line_cut_are_whole_again_and_hyphens_stay():
    lines = ["The work-", "shop sells well-", "known lamps. A well-known lamp is sold in this workshop."]
    content = (
        b"BT /F1 11 Tf 14 TL 50 700 Td " + b" T* ".join(f"({line}) Tj".encode() for line in lines) + b" ET"
    )
    text = read(raw_pdf(content)).page.text
    assert text == "The workshop sells well-known lamps. A well-known lamp is sold in this workshop."


def test_lists_keep_their_items_and_get_the_markers_of_all_lists():
    content = (
        b"BT /F1 11 Tf 14 TL 50 700 Td (Bring these:) Tj T* (\x95 the lamp) Tj T* (\x95 the bill, which was in the) Tj "
        b"T* (  box of the lamp) Tj T* (1. Go there) Tj T* (2. Ask for help) Tj ET"
    )
    resources = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >>"
    blocks = told(raw_pdf(content, resources=resources))
    assert blocks[0][0] == "Bring these:"
    assert (
        blocks[1][0]
        == "- the lamp\n- the bill, which was in the box of the lamp\n1. Go there\n2. Ask for help"
    )
    assert blocks[1][2] == "list"


ROWS = [
    ("Membership", "Price", "Billing"),
    ("Student", "10 EUR", "monthly"),
    ("Adult with access to all workshops at any time of the day", "25 EUR", "monthly"),
    ("Family", "1,400 EUR", "yearly"),
]


@pytest.mark.parametrize("align", ["LEFT", "RIGHT"])
def test_a_table_keeps_its_rows_and_cells(align):
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.multi_cell(0, text="These are the prices of all memberships, from the first of May on.")
    document.ln(12)
    with document.table(col_widths=(60, 30, 30), text_align=("LEFT", align, "LEFT"), padding=4) as table:
        for row in ROWS:
            table.row(row)
    document.ln(12)
    document.multi_cell(0, text="All prices include tax, and end with the membership.")
    blocks = read(bytes(document.output())).page.blocks
    assert [(block.kind, block.text) for block in blocks] == [
        ("text", "These are the prices of all memberships, from the first of May on."),
        ("table", "\n".join("\t".join(row) for row in ROWS)),
        ("text", "All prices include tax, and end with the membership."),
    ]


def test_two_columns_of_text_are_no_table():
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=10)
    with document.text_columns(ncols=2, gutter=10) as columns:
        columns.write(LOREM * 12)
    assert {block.kind for block in read(bytes(document.output())).page.blocks} == {"text"}


def test_gaps_between_words_that_are_drawn_and_not_written_are_spaces():
    content = b"BT /F1 11 Tf 50 700 Td [(Both) -180 (lamps) -250 (work) 40 (ing)] TJ ET"
    assert read(raw_pdf(content)).page.text == "Both lamps working"


def test_the_title_of_the_metadata_wins_unless_it_is_a_file_name():
    page = [[("h1", "Care of lamps"), ("p", LOREM)]]
    assert read(pdf(page, title="Lamp care guide")).page.title == "Lamp care guide"
    assert read(pdf(page, title="Microsoft Word - care_v3.docx")).page.title == "Care of lamps"
    assert read(pdf([[("p", LOREM)]])).page.title == "manual.pdf"


def test_links_are_followed():
    body = pdf([[("p", LOREM)]], links=[(1, "https://example.com/spare-parts"), (1, "mailto:a@example.com")])
    assert read(body).follow == ("https://example.com/spare-parts",)


@pytest.mark.parametrize("algorithm", ["AES-256", "AES-128", "RC4-128"])
def test_a_file_that_is_locked_with_an_empty_password_is_read(algorithm):
    assert "checked by hand" in read(locked_pdf(pdf([[("p", LOREM)]]), "", algorithm)).page.text


def test_a_file_that_needs_a_password_says_so():
    with pytest.raises(BadFile, match="protected by a password"):
        read(locked_pdf(pdf([[("p", LOREM)]]), "secret"))


def test_a_scan_has_no_blocks():
    assert read(raw_pdf(b"q 100 0 0 100 0 0 cm Q")).page.blocks == ()


@pytest.mark.parametrize(
    "body", [b"", b"%PDF-1.7\n", b"<html>no</html>", b"%PDF-1.4\n" + bytes(range(256)) * 40]
)
def test_what_is_no_pdf_is_an_error_in_words(body):
    with pytest.raises(BadFile, match="damaged or no PDF"):
        read(body)


def test_pages_beyond_the_limit_are_left_out_and_it_is_told():
    found = read(pdf([[("p", f"Page {n} says this.")] for n in range(1, 6)]), pages=2)
    assert {block.anchor for block in found.page.blocks} == {"page=1", "page=2"}
    assert found.remark == "2 of its 5 pages were read: that is the limit"
    assert read(pdf([[("p", LOREM)]])).remark == ""


def test_the_time_limit_ends_the_reading():
    with pytest.raises(BadFile, match=r"longer than 0\.001 s"):
        read(pdf([[("p", LOREM * 20)]] * 30), seconds=0.001)


def test_a_bomb_of_compressed_text_costs_little():
    bomb = zlib.compress(b"BT /F1 1 Tf (a) Tj ET\n" * 5_000_000, 9)
    started = time.process_time()
    with pytest.raises(BadFile, match="none of its pages"):
        read(raw_pdf(bomb, "/Filter /FlateDecode"))
    assert time.process_time() - started < 10


def test_forms_that_show_each_other_end():
    """Ten forms, each showing the next one ten times, would be drawn 10^9 times."""
    body = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
    body += b"3 0 obj\n<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /X 10 0 R >> /Font << >> >> >>\nendobj\n"
    body += b"4 0 obj\n<< /Length 5 >>\nstream\n/X Do\nendstream\nendobj\n"
    drawn = b"/X Do " * 10
    for number in range(10, 20):
        inner = f"/Resources << /XObject << /X {number + 1} 0 R >> /Font << >> >>".encode()
        head = b"%d 0 obj\n<< /Type /XObject /Subtype /Form %s /Length %d >>\n" % (number, inner, len(drawn))
        body += head + b"stream\n" + drawn + b"\nendstream\nendobj\n"
    body += b"20 0 obj\n<< /Type /XObject /Subtype /Form /Length 0 >>\nstream\n\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n"
    started = time.process_time()
    with suppress(BadFile):
        assert read(body, seconds=5).page.blocks == ()
    assert time.process_time() - started < 8


LIBTASN1 = Path("/usr/share/doc/libtasn1-doc/libtasn1.pdf")


@pytest.mark.skipif(not LIBTASN1.exists(), reason="needs libtasn1-doc")
def test_a_manual_made_with_tex():
    page = read(LIBTASN1.read_bytes(), pages=12).page
    assert (page.title, page.language) == ("Libtasn1", "en")
    block = next(block for block in page.blocks if "simple parsing functions listed below" in block.text)
    assert block.heading_path == ("2 ASN.1 structure handling", "2.3 Simple parsing")
    assert block.anchor == "page=7"
    assert block.text.endswith("may be used instead.")
    assert "identifier." in page.text
    assert "iden- tifier" not in page.text
    assert "Chapter 2: ASN.1 structure handling" not in page.text


REFERENCE = Path("/usr/share/debian-reference/debian-reference.en.pdf")


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs debian-reference-en")
def test_a_book_whose_spaces_are_drawn():
    page = read(REFERENCE.read_bytes(), pages=27).page
    assert page.title == "Debian Reference"
    block = next(block for block in page.blocks if "package size data is also presented as the" in block.text)
    assert block.anchor == "page=27"
    assert not any("/ 233" in block.text for block in page.blocks[-20:])


def test_a_page_that_is_one_paragraph_of_thousands_of_lines_costs_little():
    content = b"BT /F1 1 Tf 1 TL 50 700 Td " + b"(a line that goes on-) Tj T* " * 8_000 + b" ET"
    started = time.process_time()
    with suppress(BadFile):
        read(raw_pdf(content), seconds=60)
    assert time.process_time() - started < 20


def test_lines_of_dots_cost_little():
    content = b"BT /F1 9 Tf 12 TL 50 700 Td " + (b"(" + b". " * 20_000 + b") Tj T* ") * 10 + b" ET"
    started = time.process_time()
    read(raw_pdf(content))
    assert time.process_time() - started < 10


def test_pieces_of_a_sentence_are_no_cells_and_keep_their_spaces():
    made = FPDF()
    made.add_page()
    made.set_font("Helvetica", size=11)
    made.y = 40
    for line in (
        "Nimmt man am Morgen immer einen Kamm mit",
        "Es kommt im Sommer ein Mann mit Hammer",
        "Wer im Wasser ist",
    ):
        made.set_x(20)
        for word in line.split(" "):
            for piece in (word, " "):
                made.cell(made.get_string_width(piece), 6, piece)
        made.ln(14)
    (block,) = told(bytes(made.output()))
    assert block[0].startswith("Nimmt man am Morgen immer einen Kamm mit Es kommt im Sommer")
    assert block[2] == "text"


def test_large_text_with_nothing_under_it_is_kept():
    body = pdf(
        [
            [
                ("h1", "Tool shed"),
                ("h2", "Open on"),
                ("h2", "Saturday 9 to 2"),
                ("h2", "Fees"),
                ("p", LOREM * 3),
            ]
        ]
    )
    assert [(text, path) for text, path, _, _ in told(body)] == [
        ("Open on", ("Tool shed",)),
        ("Saturday 9 to 2", ("Tool shed",)),
        ((LOREM * 3).strip(), ("Tool shed", "Fees")),
    ]
    assert told(pdf([[("p", LOREM)], [("h1", "The end")]]))[-1] == ("The end", (), "text", "page=2")


def test_prices_written_before_a_long_column_of_names_stay_with_them():
    names = [f"Garden tool number {number}" for number in range(20)]
    content = b"BT /F1 10 Tf 14 TL 60 700 Td " + b" T* ".join(f"(${n}) Tj".encode() for n in range(20))
    content += (
        b" ET BT /F1 10 Tf 14 TL 100 700 Td "
        + b" T* ".join(f"({name}) Tj".encode() for name in names)
        + b" ET"
    )
    (block,) = told(raw_pdf(content))
    assert block[2] == "table"
    assert block[0].split("\n")[13] == "$13\tGarden tool number 13"


def test_numbers_drawn_beside_steps_and_after_them_number_the_steps():
    def drawn(x, y, text):
        return f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET"

    steps = [
        *(drawn(70, 700, "Open the lid."), drawn(50, 698, "1")),
        *(drawn(70, 670, "Fill in the water and"), drawn(70, 656, "wait for a minute."), drawn(50, 668, "2")),
        *(drawn(70, 626, "Close the lid again."), drawn(50, 624, "3")),
    ]
    (block,) = told(raw_pdf("\n".join(steps).encode()))
    assert (
        block[0] == "1. Open the lid.\n2. Fill in the water and wait for a minute.\n3. Close the lid again."
    )


def test_letters_printed_twice_to_look_bold_are_read_once():
    content = b"BT /F1 11 Tf 50 700 Td (SSppeecciiaall tthhaannkkss to Bill Hill, 1100 times 2200) Tj ET"
    assert read(raw_pdf(content)).page.text == "Special thanks to Bill Hill, 1100 times 2200"
    assert read(raw_pdf(content.replace(b"SSpp", b"Sp"))).page.text.startswith("Speecciiaall thanks")
    tripled = b"BT /F1 11 Tf 50 700 Td (NNNooorrrttthhh) Tj ET"
    assert read(raw_pdf(tripled)).page.text == "North"


def test_bullets_and_numbers_far_from_their_items_make_a_list():
    def drawn(rows):
        return "\n".join(
            f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET"
            for y, row in rows
            for x, text in zip((50, 80), row, strict=True)
        )

    rows = [(700 - 16 * n, (f"{n + 1}.", item)) for n, item in enumerate(("Goggles", "Gloves", "Old shoes"))]
    (block,) = told(raw_pdf(drawn(rows).encode()))
    assert (block[0], block[2]) == ("1. Goggles\n2. Gloves\n3. Old shoes", "list")
    beside = "\n".join(
        f"BT /F1 11 Tf 50 {y + 3} Td ({number}) Tj ET BT /F1 11 Tf 80 {y} Td ({item}) Tj ET"
        for y, (number, item) in rows
    )
    (block,) = told(raw_pdf(beside.encode()))
    assert (block[0], block[2]) == ("1. Goggles\n2. Gloves\n3. Old shoes", "list")


def test_large_items_of_a_list_are_no_headings():
    content = b"BT /F1 11 Tf 14 TL 50 700 Td " + b" T* ".join([b"(" + LOREM.encode() + b") Tj"] * 3) + b" ET "
    content += b"BT /F1 15 Tf 20 TL 50 640 Td (- Goggles) Tj T* (- Gloves) Tj ET"
    assert told(raw_pdf(content))[-1][::2] == ("- Goggles\n- Gloves", "list")


def test_two_long_columns_of_short_items_are_two_lists():
    drawn = [
        f"BT /F1 10 Tf {x} {700 - 14 * n} Td (- {name} {'abcdefghijklmnopqrst'[n]}) Tj ET"
        for x, name in ((60, "Spade"), (300, "Saw"))
        for n in range(20)
    ]
    assert {block[2] for block in told(raw_pdf("\n".join(drawn).encode()))} == {"list"}
