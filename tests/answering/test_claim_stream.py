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


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    "marker",
    [
        "【1】【3】", "【1, 3】", "【1†source】【3†source】", "［1］［3］", "[1; 3]", "[1 and 3]", "[1，3]", "[^1][^3]",
        "[chunk 1][chunk 3]", "[Excerpts 1, 3]", "[Source: 1][Source: 3]", "[#1, #3]",
        "[1](https://shop.example/a)[3](https://shop.example/b)", "[[1]][[3]]", "\\[1\\]\\[3\\]",
    ],
)  # fmt: skip
def test_markers_in_the_notations_of_other_models_are_sources_too(marker, size):
    for text in (
        f"It works.{marker} Ask us. [2]",
        f"It works {marker}. Ask us [2].",
        f"It works. {marker} Ask us.",
    ):
        found = cut(text, size)
        assert (found[0].text, found[0].sources) == ("It works.", (0, 2)), text
        assert found[1].text == "Ask us."


def test_markers_after_a_wide_full_stop_are_those_of_its_sentence():
    found = cut("退货免费。【2】配送需要两天。【1】", 3)
    assert [(claim.text, claim.sources) for claim in found] == [
        ("退货免费。", (1,)),
        ("配送需要两天。", (0,)),
    ]


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_brackets_in_code_and_in_words_are_no_markers(size):
    found = cut("Read `argv[1]` and `argv[2]` on [Windows 11]. [3]\n\n```py\nx = a[1]\n```\n", size)
    assert [(claim.text, claim.sources) for claim in found] == [
        ("Read `argv[1]` and `argv[2]` on [Windows 11].", (2,)),
        ("```py\nx = a[1]\n```", ()),
    ]


def test_a_marker_on_the_last_line_of_a_code_block_leaves_the_block_closed():
    assert cut("```sh\nmake run\n``` [2]\nThen wait. [1]")[0].text == "```sh\nmake run\n```"


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_list_of_sources_at_the_end_claims_nothing(size):
    text = (
        "Delivery is free. [1]\n\nTopics:\n- Delivery [1]\n- [2] Free returns\n\nSources:\n\n[1] Delivery\n"
        "- [2] **Returns**\n3. [3]: [Returns](https://shop.example/r)"
    )
    found = claims((text[at : at + size] for at in range(0, len(text), size)), {"delivery", "returns"})
    said = [claim.text for claim in found]
    assert said == ["Delivery is free.", "Topics:", "- Delivery", "- Free returns", "Sources:"]


def test_an_empty_answer_has_no_claim():
    assert cut("  \n ") == []


def test_a_claim_comes_as_soon_as_the_next_sentence_begins():
    def pieces():
        yield "One is done. [1] Two beg"
        raise AssertionError("asked for more before the first claim was given")

    assert next(claims(pieces())).text == "One is done."
