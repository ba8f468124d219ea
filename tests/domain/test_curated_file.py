"""Own answers as files: what is written is read back exactly, and what is wrong is told by its line."""

import csv
import io
from dataclasses import replace

import pytest

from server.domain.curated import CuratedAnswer, CuratedFileError, read_answers, written_csv, written_jsonl

ANSWERS = [
    CuratedAnswer.checked(
        "shop",
        ["Do you deliver, too?", '=HYPERLINK("x")', "'quoted'", "-5 degrees?"],
        '"Yes", said the shop;\n\n- 1\n- 2\t|\n\n= a\u2028b',
        ["https://shop.example/d?a=1,2", "https://shop.example/e"],
        "en",
        ("2026-01-02", "2026-12-31"),
    ),
    replace(CuratedAnswer.checked("shop", ["\u914d\u9001\uff1f"], "'=1"), enabled=False),
    CuratedAnswer.checked("shop", ["@here"], "''+a"),
]


@pytest.mark.parametrize(("write", "is_json"), [(written_csv, False), (written_jsonl, True)])
def test_what_is_written_is_read_back_exactly(write, is_json):
    assert read_answers("shop", write(ANSWERS).encode(), is_json=is_json) == ANSWERS
    assert read_answers("shop", ("\ufeff" + write(ANSWERS)).encode(), is_json=is_json) == ANSWERS


def test_a_spreadsheet_finds_no_formula_in_it():
    cells = [cell for row in csv.reader(io.StringIO(written_csv(ANSWERS), newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("", [(0, "the file has no answer")]),
        ("question,answer\n", [(0, "the file has no answer")]),
        ("question\na\n", [(1, "lacks the column answer")]),
        ("question,answer,colour\n", [(1, "'colour' is not known")]),
        ('question,answer\n"a\nb",c\n,d\ne,\n', [(4, "write the question"), (5, "write the answer")]),
        ("question,answer\na,b,c\n", [(2, "3 cells for 2 columns")]),
        ("question,answer\na,b\na,c\n", [(3, "already on line 2")]),
        ("question,answer,links\na,b,here\n", [(2, "is not an address")]),
        ("question,answer,language\na,b,english\n", [(2, "is not a language code")]),
        ("question,answer,from\na,b,soon\n", [(2, "is not a day")]),
        ("question,answer,from,until\na,b,2026-02-02,2026-02-01\n", [(2, "the last day is before")]),
        ("question,answer,enabled\na,b,maybe\n", [(2, "enabled is yes or no")]),
        ('question,answer\n"a,b\n', [(2, "cannot be read as CSV")]),
        (f"question,answer\na,{'b' * 10_001}\n", [(2, "keep to 10000")]),
    ],
)
def test_what_is_wrong_in_a_csv_file_is_told_by_its_line(text, errors):
    check(text.encode(), False, errors)


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("\n\n", [(0, "the file has no answer")]),
        ('{"question": "a"', [(1, "this is not JSON")]),
        ("[]\n3", [(1, "write an object"), (2, "write an object")]),
        ('{"question": "a", "answer": 3}', [(1, "answer must be a text")]),
        ('{"question": "a", "answer": "b", "links": "c"}', [(1, "links must be a list")]),
        ('{"question": "a", "answer": "b", "x": 1}', [(1, "'x' is not known")]),
        ('\n{"question": null, "answer": "b"}', [(2, "write the question")]),
    ],
)
def test_what_is_wrong_in_a_jsonl_file_is_told_by_its_line(text, errors):
    check(text.encode(), True, errors)


def test_a_file_that_is_not_utf_8_or_too_large_is_refused():
    check(b"question,answer\n\xe9,b\n", False, [(2, "not UTF-8")])
    check(b"x" * 5_000_001, False, [(0, "larger than 5 MB")])
    many = "question,answer\n" + "".join(f"q{number},a\n" for number in range(5001))
    check(many.encode(), False, [(0, "more than 5000")])


def test_errors_are_told_up_to_a_number():
    with pytest.raises(CuratedFileError) as refused:
        read_answers("shop", ("question,answer\n" + ",b\n" * 50).encode(), is_json=False)
    assert len(refused.value.errors) == 20


def check(data, is_json, errors):
    with pytest.raises(CuratedFileError) as refused:
        read_answers("shop", data, is_json=is_json)
    found = refused.value.errors
    assert [line for line, _ in found] == [line for line, _ in errors], found
    assert all(said in told for (_, told), (_, said) in zip(found, errors, strict=True)), found
