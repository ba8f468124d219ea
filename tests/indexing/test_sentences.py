"""Where sentences end, in several languages."""

import pytest

from server.domain.sentences import lines, split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith met J. R. Tolkien at 3 p.m. on Monday.", "He left."],
        ["Use Python 3.11.", "Then run setup.py.", "Done...", "Really?", "Yes!"],
        ["Siehe Nr. 5 und z. B. Abs. 3.", "Am 3. Mai war es so.", "Das ist gut, d. h. prima."],
        ["Voir p. 12, c.-à-d. ci-dessous.", "Voilà !", "C'est fini."],
        ["これは本です。", "「はい。」と言った。", "そうですか？", "はい！"],
        ["如何安装？", "请看下文。"],
        ["ما هذا؟", "هذا كتاب.", "نعم."],
        ["यह है।", "वह है।"],
        ["Version 2.0 is out.", "max_connections sets it.", "iPhone works."],
        ["Use e.g. this, i.e. that, cf. Fig. 3.", "That is all."],
        ["Figure 13.7. The parts of a lamp"],
        ["It costs $5.", "Pay now (or later).", "\"Good.\"", "Fine."],
        ["A fact.[12]", "Another fact. [3]"],
        ["1. Open the box.", "2. Close it."],
        ["¿Cómo está?", "¡Bien!"],
        ["no capital. no new sentence"],
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_says(sentences):
    glue = "" if "。" in "".join(sentences) else " "
    assert split_sentences(glue.join(sentences)) == sentences


def test_a_sentence_never_crosses_a_line():
    assert split_sentences("a lamp\nof brass. And\n\n  glass  ") == ["a lamp", "of brass.", "And", "glass"]


@pytest.mark.parametrize("text", ["", "  ", "\n\n", "...", "。", "?!", "[1]"])
def test_next_to_nothing_is_no_error(text):
    assert [sentence.strip() for sentence in split_sentences(text)] == (
        [text.strip()] if text.strip() else []
    )


def test_sentences_are_slices_that_leave_nothing_out():
    text = 'One. Two!  Three?\tFour… Five。Six (seven.) "Eight." nine. Ten.[1] E.g. eleven; v. 12. Z'
    sentences = split_sentences(text)
    assert all(sentence in text for sentence in sentences)
    assert "".join("".join(sentences).split()) == "".join(text.split())


def test_a_long_line_without_sentences_is_split_in_no_time():
    assert split_sentences("a. " * 50_000 + "b" * 100_000)


def test_lines_give_markers_of_list_items():
    text = "Intro:\n- one\n  - nested\n10. tenth\n\nplain\n-no item"
    assert list(lines(text)) == [
        ("", "Intro:"), ("- ", "one"), ("  - ", "nested"), ("10. ", "tenth"), ("", "plain"), ("", "-no item"),
    ]  # fmt: skip
