"""Corpora in BEIR form: what is read of them."""

import json

import pytest

from crawler.page import Block
from server.evaluation.corpus import Corpus, blocks_of
from server.evaluation.judging import page_address
from server.evaluation.questions import BadQuestionFile
from tests.evaluation.conftest import QUERIES, write_corpus


def cases(folder):
    return {case.id: case for case in Corpus(folder).cases()}


def test_the_address_of_a_page_carries_the_id_of_its_document(corpus_folder):
    corpus = Corpus(corpus_folder)
    urls = [page.url for page in corpus.pages()]
    assert urls[0] == "http://lantern-docs.invalid/delivery"
    assert len({page_address(url) for url in urls}) == len(urls) == 10
    odd = ["a/b", "a%2Fb", "a b", "a/", "a", "https://x.example/p#one", "https://x.example/p#two", "ü<::>1"]
    assert len({page_address(corpus.address(id)) for id in odd}) == len(odd)


def test_queries_know_their_documents_type_answer_and_history(corpus_folder):
    found = cases(corpus_folder)
    assert list(found) == [query["_id"] for query in QUERIES]
    assert found["both"].expected_urls == tuple(
        f"http://lantern-docs.invalid/{id}" for id in ("warranty", "bulbs")
    )
    assert (found["refund"].type, found["islands"].type, found["then"].type) == (
        "howto",
        "lookup",
        "followup",
    )
    assert found["then"].history == (("How long do parcels take?", "Two working days."),)
    assert found["islands"].answer == "five working days"


def test_only_a_marked_query_is_unanswerable(corpus_folder):
    found = cases(corpus_folder)
    assert (found["train"].type, found["unknown"].type) == ("unanswerable", "lookup")
    assert not found["unknown"].is_answerable


@pytest.mark.parametrize(
    ("mark", "kind"),
    [
        ({"type": "Null"}, "unanswerable"),
        ({"answerable": False}, "unanswerable"),
        ({"is_impossible": True}, "unanswerable"),
        ({"answerability": "UNDERSPECIFIED"}, "ambiguous"),
        ({"type": "bridge"}, "bridge"),
    ],
)
def test_marks_of_queries(tmp_path, mark, kind):
    folder = write_corpus(
        tmp_path / "c", queries=[{"_id": "q", "text": "x", **mark}], qrels=[("q", "bulbs", 1)]
    )
    (case,) = Corpus(folder).cases()
    assert (case.type, case.is_answerable) == (kind, kind == "bridge")


def test_of_a_folder_with_parts_the_test_part_is_asked(corpus_folder):
    (corpus_folder / "qrels.tsv").unlink()
    (corpus_folder / "qrels").mkdir()
    (corpus_folder / "qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\nrefund\trefunds\t1\n")
    (corpus_folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nislands\tdelivery\t2\n")
    found = cases(corpus_folder)
    assert set(found) == {"islands", "train"}
    assert found["islands"].gains == (2.0,)


def test_the_digest_is_of_the_documents_alone(corpus_folder, tmp_path):
    before = Corpus(corpus_folder).digest
    (corpus_folder / "queries.jsonl").write_text(json.dumps(QUERIES[0]))
    assert Corpus(corpus_folder).digest == before
    assert Corpus(write_corpus(tmp_path / "other", documents=[("a", "A", "B")])).digest != before


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("corpus.jsonl", "{", "corpus.jsonl line 1 is not JSON"),
        ("corpus.jsonl", '{"_id": "a"}', 'line 1 needs "_id" and "text"'),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}', 'the id "a" is on two lines'),
        ("queries.jsonl", '{"_id": "a"}', 'line 1 needs "_id" and "text"'),
        ("queries.jsonl", "", "holds no questions"),
        ("qrels.tsv", "a\tb\t1\na\tb\tgood\n", "qrels.tsv line 2 needs"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(corpus_folder, file, text, told):
    (corpus_folder / file).write_text(text)

    def read():
        corpus = Corpus(corpus_folder)
        return list(corpus.pages()), corpus.cases()

    with pytest.raises(BadQuestionFile) as caught:
        read()
    assert told in str(caught.value)


def test_a_folder_without_documents_or_qrels_is_no_corpus(corpus_folder, tmp_path):
    with pytest.raises(BadQuestionFile, match="is not in BEIR form"):
        _ = Corpus(tmp_path).digest
    (corpus_folder / "qrels.tsv").unlink()
    with pytest.raises(BadQuestionFile, match="qrels"):
        Corpus(corpus_folder).cases()


def test_paragraphs_lists_tables_and_code_are_told_apart():
    text = (
        "Returns\n\nHow to return:\n* Write to us\n  and wait.\n* Pack it\n  - well\n\nMini\t19\nMaxi\t49\n\n"
        "Run\n```sh\ngo\n  --fast\n```\nDone."
    )
    assert blocks_of("Returns", text) == (
        Block("How to return:"),
        Block("- Write to us and wait.\n- Pack it\n  - well", kind="list"),
        Block("Mini\t19\nMaxi\t49", kind="table"),
        Block("Run"),
        Block("go\n  --fast", kind="code"),
        Block("Done."),
    )


def test_lines_that_were_wrapped_are_one_paragraph_and_lines_of_a_chat_stay_apart():
    wrapped = (
        "The lamps of the garden endure rain and frost all through the\nwinter, and their cable is ten metres "
        "long so that it reaches\nthe end of most gardens."
    )
    (block,) = blocks_of("", wrapped)
    assert block == Block(wrapped.replace("\n", " "))
    chat = "Ann: Shall we go at five?\nBob: Half past would be better for me."
    assert blocks_of("", chat) == (Block(chat, kind="list"),)


def test_a_document_that_is_code_keeps_its_lines():
    code = "import os\n\ndef walk(path):\n    for name in os.listdir(path):\n        yield name"
    assert blocks_of("walk.py", code) == (Block(code, kind="code"),)
