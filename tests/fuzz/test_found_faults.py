"""What fuzzing found, each as small as it can be: none of these may end in an error that nobody expects."""

import hashlib
import io
import json
import struct
import zipfile

import pytest

from crawler.discovery.sitemap import entries
from crawler.errors import BadFile
from crawler.extractors import DOCX, SourceDocument, extract
from crawler.sources.pairs import Pair, pair_page, parse_pairs
from server.backup.reading import open_backup
from server.domain.curated import CuratedFileError, read_answers
from server.domain.site import Site
from server.quality.questions import BadQuestions, read_upload
from server.settings import Settings
from server.storage.errors import BadBackup
from tests.crawler.files import archive, word
from tests.fuzz.mutations import unzipped
from tests.fuzz.targets import whole_backup

DEEP = "[" * 100_000


def cut(body):
    """A zip archive whose list of contents points before its beginning, as when its first bytes were lost."""
    end = body.rindex(b"PK\x05\x06")
    (start,) = struct.unpack("<I", body[end + 16 : end + 20])
    return body[: end + 16] + struct.pack("<I", start + len(body)) + body[end + 20 :]


def read(content_type, body):
    return extract(SourceDocument("https://shop.example/file", body, content_type))


def test_a_docx_file_that_lost_its_first_bytes_is_a_bad_file():
    with pytest.raises(BadFile):
        read(DOCX, cut(word(lambda document: document.add_paragraph("text"))))


def test_a_backup_that_lost_its_first_bytes_is_a_bad_backup():
    with pytest.raises(BadBackup), open_backup(io.BytesIO(cut(whole_backup()[0]))) as backup:
        backup.check(1_000_000_000)


@pytest.mark.parametrize("column", ["tokens", "took_ms", "number"])
def test_a_backup_with_a_number_that_no_database_holds_is_a_bad_backup(column):
    files = unzipped(whole_backup()[0])
    name, manifest = "tables/messages.jsonl", json.loads(files["manifest.json"])
    rows = [json.loads(line) | {column: 10**400} for line in files[name].splitlines()]
    body = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    noted = {"rows": len(rows), "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    manifest["tables"]["messages"] = noted
    given = archive(files | {name: body, "manifest.json": json.dumps(manifest).encode()})
    with pytest.raises(BadBackup, match="a row of messages"), open_backup(io.BytesIO(given)) as backup:
        backup.check(1_000_000_000)


def test_markdown_of_very_deep_emphasis_is_a_bad_file():
    with pytest.raises(BadFile):
        read("text/markdown", b"*a " * 2000 + b"b*" * 2000)


def test_a_sitemap_with_an_element_of_an_impossible_name_is_read_past_it():
    found = entries(
        b"<urlset><sitem:00:00Z><a/></sitem:00:00Z><url><loc>https://a.example/</loc></url></urlset>",
        10,
        1000,
    )
    assert [one.address for one in found] == ["https://a.example/"]


@pytest.mark.parametrize("field", ["question", "answer", "other"])
def test_deeply_nested_json_is_refused_with_its_line(field):
    line = f'{{"{field}": {DEEP}'
    with pytest.raises(CuratedFileError, match="line 1"):
        read_answers("shop", line.encode(), is_json=True)
    with pytest.raises(BadQuestions, match="1"):
        read_upload(line.encode(), Site("shop", "Shop", "Shop", ("https://shop.example/",)), Settings())


def test_half_a_surrogate_pair_in_a_question_is_left_out():
    (pair,) = parse_pairs(json.dumps({"question": "Open\ud800?", "answer": "At \x00nine."}))
    assert pair == Pair("Open?", "At nine.")
    assert pair_page("/sources/shop/1", pair).content_hash


def test_the_archive_of_this_file_is_one_that_zipfile_opens():
    """Otherwise the tests above would try something else."""
    with (
        zipfile.ZipFile(io.BytesIO(cut(whole_backup()[0]))) as archive,
        pytest.raises(ValueError, match="seek"),
    ):
        archive.read(archive.namelist()[0])
