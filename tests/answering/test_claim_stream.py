import pytest

from server.answering.writing.model_writer import claims


def cut(text, size=4):
    return list(claims(text[at : at + size] for at in range(0, len(text), size)))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_each_sentence_becomes_a_claim_with_the_sources_behind_its_full_stop(size):
    found = cut("Parcels arrive in two days. [1] Returns are free [2]. Ask us.[1][3]", size)
    assert [(claim.text, claim.sources) for claim in found] == [
        ("Parcels arrive in two days.", (0,)),
        ("Returns are free.", (1,)),
        ("Ask us.", (0, 2)),
    ]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_list_items_keep_their_lines(size):
    found = cut("Do this:\n\n1. Open the box. [1]\n2. Press start. [2]", size)
    assert [(claim.before, claim.text, claim.sources) for claim in found] == [
        ("", "Do this:", ()),
        ("\n\n", "1. Open the box.", (0,)),
        ("\n", "2. Press start.", (1,)),
    ]


def test_a_code_block_is_one_claim():
    found = cut("Run it. [1]\n\n```sh\nmake run\nmake test\n```\n[2]\nThen wait. [1]")
    assert "```sh\nmake run\nmake test\n```" in [claim.text for claim in found]


def test_a_number_with_a_full_stop_does_not_end_a_sentence():
    assert [claim.text for claim in cut("Version 3.11 costs 4.50 EUR. [1]")] == [
        "Version 3.11 costs 4.50 EUR."
    ]


def test_several_numbers_in_one_bracket_are_several_sources():
    assert cut("It works. [1, 3]")[0].sources == (0, 2)


def test_an_empty_answer_has_no_claim():
    assert cut("  \n ") == []


def test_a_claim_comes_as_soon_as_the_next_sentence_begins():
    def pieces():
        yield "One is done. [1] Two beg"
        raise AssertionError("asked for more before the first claim was given")

    assert next(claims(pieces())).text == "One is done."
