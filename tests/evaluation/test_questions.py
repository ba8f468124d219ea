"""Question files: what is read of them, and what a wrong one is told."""

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from benchmarks.visitor_sites import HALVES, half_of
from server.api.docs.docs import DocsLibrary
from server.evaluation.questions import BadQuestionFile, read_questions

BASE = "https://shop.example/help/"
QUESTIONS = Path(__file__).parents[2] / "benchmarks/questions"


@pytest.fixture
def read(tmp_path):
    def read(*lines):
        path = tmp_path / "questions.jsonl"
        path.write_text(
            "\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), encoding="utf-8"
        )
        return read_questions(path, BASE)

    return read


def test_a_question_alone_is_a_case_with_its_line_as_name(read):
    (case,) = read({"question": "How long is the warranty?"})
    assert (case.id, case.question, case.type) == ("1", "How long is the warranty?", "lookup")
    assert not case.is_answerable


def test_a_separator_of_lines_in_a_text_ends_no_line_of_the_file(read):
    (case,) = read('{"question": "How long is\u2028the warranty?"}')
    assert case.question.split() == ["How", "long", "is", "the", "warranty?"]


def test_every_field_is_read(read):
    (case,) = read(
        {
            "id": "a",
            "question": "And abroad?",
            "lang": "en",
            "type": "followup",
            "history": [{"question": "How long does it take?", "answer": "Two days."}],
            "expected_urls": ["https://shop.example/help/delivery"],
            "url_groups": [["https://shop.example/a"], ["https://shop.example/b"]],
            "evidence": "ten days",
            "answer": "Ten days.",
            "must": ["ten"],
            "must_not": ["two"],
        }
    )
    assert case.history == (("How long does it take?", "Two days."),)
    assert case.expected_urls == ("https://shop.example/help/delivery",)
    assert case.url_groups == (("https://shop.example/a",), ("https://shop.example/b",))
    assert (case.evidence, case.must, case.must_not) == ("ten days", ("ten",), ("two",))
    assert case.is_answerable


def test_a_path_is_meant_from_the_folder_of_the_site_or_from_its_host(read):
    (case,) = read({"question": "x", "expected_urls": ["/delivery"]})
    assert case.expected_urls == ("https://shop.example/help/delivery", "https://shop.example/delivery")


def test_missing_values_may_be_null_and_empty_lines_are_skipped(read):
    cases = read(
        "", {"question": "x", "history": None, "expected_urls": None, "must": None, "lang": None}, ""
    )
    assert [case.id for case in cases] == ["2"]


def test_unanswerable_and_injection_have_no_answer_even_with_pages_named(read):
    cases = read(
        {"question": "x", "type": "unanswerable", "expected_urls": ["/a"]},
        {"question": "y", "type": "injection", "expected_urls": ["/a"]},
    )
    assert not any(case.is_answerable for case in cases)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{not json", "line 2 is not JSON"),
        ("[1]", "line 2 needs an object"),
        ({"question": "  "}, 'needs an object with a "question"'),
        ({"question": "x", "expected_urls": "/a"}, '"expected_urls" must be a list of texts'),
        ({"question": "x", "url_groups": [["/a"], "/b"]}, '"url_groups" must be a list of lists'),
        ({"question": "x", "history": ["before"]}, '"history" must be a list of objects'),
        ({"question": "x", "must": ["("]}, "is not a regular expression"),
        ({"id": "1", "question": "x"}, 'the id "1" is on two lines'),
    ],
)
def test_a_line_that_cannot_be_used_is_named(read, line, told):
    with pytest.raises(BadQuestionFile) as caught:
        read({"question": "first"}, line)
    assert told in str(caught.value)


def test_a_file_that_is_empty_or_missing_says_so(read, tmp_path):
    with pytest.raises(BadQuestionFile, match="holds no questions"):
        read("", "")
    with pytest.raises(BadQuestionFile, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl", BASE)


@pytest.mark.parametrize(("site", "count"), [("apache", 45), ("postgresql", 35), ("docs", 40)])
def test_each_colloquial_question_has_a_known_answer_and_the_halves_are_alike(site, count):
    cases = read_questions(QUESTIONS / f"{site}-colloquial.jsonl", BASE)
    tuned = sum(half_of(case.id) == HALVES[0] for case in cases)
    assert len(cases) == count
    assert abs(2 * tuned - count) <= 1
    for case in cases:
        assert case.is_answerable == bool(case.must and case.evidence), case.id
        assert all(re.search(must, case.evidence, re.IGNORECASE) for must in case.must), case.id


def test_the_evidence_of_the_questions_about_the_docs_is_on_their_pages():
    shown = {page.name: BeautifulSoup(page.html, "lxml").get_text() for page in DocsLibrary().pages()}
    pages = {f"{BASE}{name}.html": " ".join(text.split()) for name, text in shown.items()}
    for case in read_questions(QUESTIONS / "docs-colloquial.jsonl", BASE):
        expected = [url for url in case.expected_urls if url.startswith(BASE)]
        assert set(expected) <= set(pages), case.id
        assert not expected or case.evidence in pages[expected[0]], case.id
