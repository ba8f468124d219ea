import itertools
import json

import pytest

from server.answering.writing.model_writer import CutShort, stream_field


def read(reply, size):
    return "".join(stream_field((reply[at : at + size] for at in range(0, len(reply), size)), "answer"))


ANSWERS = [
    "Plain words.",
    'With "quotes", a \\ backslash, a\nline and a\ttab.',
    "漢字と emoji 😀 and é",
    "",
]


def test_the_field_comes_out_whole_however_the_reply_is_cut():
    for answer, size, ascii_only in itertools.product(ANSWERS, [1, 2, 3, 7, 1000], [True, False]):
        reply = json.dumps({"thought": "x", "answer": answer, "more": 1}, ensure_ascii=ascii_only)
        assert read(reply, size) == answer, (answer, size, ascii_only)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_code_fence_around_the_object_is_passed_over(size):
    assert read('```json\n{"answer": "Yes. [1]"}\n```', size) == "Yes. [1]"


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_reply_that_is_no_json_is_taken_as_plain_text(size):
    assert read("Parcels arrive in two days. [1]", size) == "Parcels arrive in two days. [1]"


def test_a_field_that_never_ends_is_given_as_far_as_it_goes_and_then_reported():
    found = []
    with pytest.raises(CutShort):
        found.extend(stream_field(['{"answer": "Parcels arr', "ive in two d"], "answer"))
    assert "".join(found) == "Parcels arrive in two d"


def test_an_object_without_the_field_gives_nothing():
    assert read('{"reply": "no"}', 3) == ""


def test_the_first_part_comes_before_the_reply_is_complete():
    def pieces():
        yield '{"answer": "First sentence. '
        raise AssertionError("the second piece was asked for before the first was given")

    assert next(stream_field(pieces(), "answer")) == "First sentence. "


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("inside", "read_as"),
    [
        (r"Open C:\Users.\nThen wait.", "Open C:\\Users.\nThen wait."),
        (r"\d and \u12 and \\n", "\\d and \\u12 and \\n"),
    ],
)
def test_a_backslash_that_is_no_escape_stands_for_itself(inside, read_as, size):
    assert read(f'{{"answer": "{inside}"}}', size) == read_as


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("end", ["}", ' , "sources": [1]}', "\n}\n```", ""])
def test_quotation_marks_that_the_model_did_not_escape_are_part_of_the_answer(end, size):
    assert (
        read(f'{{"answer": "Press "Start", then "Stop". [1]"{end}', size) == 'Press "Start", then "Stop". [1]'
    )
