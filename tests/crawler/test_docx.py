import io
import time
import tracemalloc
import zipfile

import pytest

from crawler.errors import BadFile
from crawler.extractors import DOCX, SourceDocument, extract
from crawler.limits import FileLimits
from crawler.page import Block
from tests.crawler.files import archive, bzip2_bomb, hyperlink, rewritten, word

URL = "https://example.com/files/guide.docx"


def read(body, **limits):
    return extract(SourceDocument(URL, body, DOCX, limits=FileLimits(**limits)))


def simple(document):
    document.add_paragraph("All about lamps.")


def test_headings_by_style_lead_to_their_text():
    def fill(document):
        document.add_heading("Lamp guide", 0)
        document.add_paragraph("Before the first heading.")
        document.add_heading("Care", 1)
        document.add_heading("Cleaning", 2)
        document.add_paragraph("Use a dry cloth,\nnever water.")
        document.add_heading("Repair", 1)
        document.add_paragraph("Send it to us.")

    page = read(word(fill)).page
    assert page.title == "Lamp guide"
    assert page.blocks == (
        Block("Before the first heading."),
        Block("Use a dry cloth, never water.", ("Care", "Cleaning")),
        Block("Send it to us.", ("Repair",)),
    )


def test_translated_ids_of_styles_mean_the_same():
    def fill(document):
        document.add_heading("Reinigung", 1)
        document.add_paragraph("Nur mit einem trockenen Tuch.")

    body = rewritten(
        word(fill),
        lambda name, data: data.replace(b'"Heading1"', b'"berschrift1"') if name.endswith(".xml") else data,
    )
    assert read(body).page.blocks == (Block("Nur mit einem trockenen Tuch.", ("Reinigung",)),)


def test_the_title_of_the_properties_wins():
    assert read(word(simple, title="The lamp book")).page.title == "The lamp book"
    assert read(word(simple)).page.title == "guide.docx"


def test_lists_and_nested_lists():
    def fill(document):
        document.add_paragraph("Lamp", style="List Bullet")
        document.add_paragraph("Bulb", style="List Bullet 2")
        document.add_paragraph("Box", style="List Bullet")
        document.add_paragraph("Then:")
        document.add_paragraph("Switch it off", style="List Number")
        document.add_paragraph("Let it cool", style="List Number")

    first, between, second = read(word(fill)).page.blocks
    assert (first.kind, first.text.split("\n")[0]) == ("list", "- Lamp")
    assert [line.strip() for line in first.text.split("\n")] == ["- Lamp", "- Bulb", "- Box"]
    assert between.text == "Then:"
    assert second == Block("1. Switch it off\n2. Let it cool", (), "list")


def test_tables_are_a_line_a_row():
    def fill(document):
        table = document.add_table(2, 2)
        for cell, text in zip(
            (cell for row in table.rows for cell in row.cells),
            ("Lamp", "Price", "Glow", "19.90 EUR"),
            strict=True,
        ):
            cell.text = text

    assert read(word(fill)).page.blocks == (Block("Lamp\tPrice\nGlow\t19.90 EUR", (), "table"),)


def test_links_are_followed_and_their_words_stay():
    def fill(document):
        hyperlink(document.add_paragraph("Spare parts: "), "see the list", "https://example.com/parts")

    found = read(word(fill))
    assert found.follow == ("https://example.com/parts",)
    assert found.page.text == "Spare parts: see the list"


def test_footnotes_follow_the_paragraph_that_refers_to_them():
    notes = (
        b'<?xml version="1.0"?><w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b'<w:footnote w:id="-1" w:type="separator"><w:p/></w:footnote>'
        b'<w:footnote w:id="2"><w:p><w:r><w:t>Only inside the country.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"

    def change(name, data):
        if name == "word/document.xml":
            return data.replace(
                b"lamps.</w:t></w:r>", b'lamps.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
            )
        if name == "word/_rels/document.xml.rels":
            added = b'<Relationship Id="rId99" Type="' + kind + b'" Target="footnotes.xml"/></Relationships>'
            return data.replace(b"</Relationships>", added)
        return data

    body = rewritten(word(simple), change)
    with zipfile.ZipFile(io.BytesIO(body)) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    page = read(archive({**parts, "word/footnotes.xml": notes})).page
    assert [block.text for block in page.blocks] == ["All about lamps.", "Only inside the country."]


def test_what_was_deleted_with_changes_tracked_is_not_read():
    def change(name, data):
        gone = b'<w:del w:id="1" w:author="a"><w:r><w:delText>old price</w:delText></w:r></w:del></w:p>'
        return data.replace(b"</w:p>", gone, 1) if name == "word/document.xml" else data

    assert read(rewritten(word(simple), change)).page.text == "All about lamps."


def test_a_zip_bomb_is_not_unpacked():
    def change(name, data):
        return data.replace(b"All about", b"A" * 60_000_000) if name == "word/document.xml" else data

    body = rewritten(word(simple), change)
    assert len(body) < 200_000
    with pytest.raises(BadFile, match="more than the limit"):
        read(body, unpacked_bytes=20_000_000)


def test_a_bomb_that_lies_about_its_size_is_not_unpacked():
    body = bytearray(
        rewritten(word(simple), lambda n, d: d + b" " * 50_000_000 if n == "word/document.xml" else d)
    )
    with zipfile.ZipFile(io.BytesIO(bytes(body))) as opened:
        real = opened.getinfo("word/document.xml").file_size
    lie = bytes(body).replace(real.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    with pytest.raises(BadFile):
        read(lie, unpacked_bytes=20_000_000)


def test_a_bomb_that_unpacks_before_its_limit_is_seen_is_not_unpacked():
    body = bzip2_bomb("word/document.xml")
    assert len(body) < 1000
    tracemalloc.start()
    try:
        with pytest.raises(BadFile, match="compressed in a way"):
            read(body)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_entity_bomb_is_refused():
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{entities}]>'.encode()

    def change(name, data):
        if name != "word/document.xml":
            return data
        return bomb + data[data.index(b"<w:document") :].replace(b"All about", b"&a11;")

    started = time.process_time()
    with pytest.raises(BadFile):
        read(rewritten(word(simple), change))
    assert time.process_time() - started < 5


def test_a_file_of_this_machine_is_not_read_through_an_entity(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    doctype = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'.encode()

    def change(name, data):
        if name != "word/document.xml":
            return data
        return doctype + data[data.index(b"<w:document") :].replace(b"All about", b"&s;")

    with pytest.raises(BadFile, match="document type"):
        read(rewritten(word(simple), change))


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04 nothing", archive({"a.txt": b"hello"})])
def test_what_is_no_docx_is_an_error_in_words(body):
    with pytest.raises(BadFile, match="DOCX"):
        read(body)


def test_a_file_with_a_password_says_so():
    with pytest.raises(BadFile, match="protected by a password"):
        read(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(2000))


def filled_with(content):
    """A document whose body is `content`."""

    def change(name, data):
        if name != "word/document.xml":
            return data
        return data[: data.index(b"<w:body>") + 8] + content + b"</w:body></w:document>"

    return rewritten(word(simple), change)


def test_a_part_of_more_elements_than_anybody_writes_is_refused():
    with pytest.raises(BadFile, match="more elements than the limit"):
        read(filled_with(b"<w:p/>" * 1_600_000))


def test_many_items_of_many_lists_cost_little_and_depths_are_bounded():
    item = (
        b'<w:p><w:pPr><w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr></w:pPr>'
        b"<w:r><w:t>x</w:t></w:r></w:p>"
    )
    started = time.process_time()
    page = read(filled_with(b"".join(item % (n * 999_983, n) for n in range(20_000)))).page
    assert time.process_time() - started < 10
    assert max(len(line) for block in page.blocks for line in block.text.split("\n")) < 40
