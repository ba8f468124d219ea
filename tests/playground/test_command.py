"""The playground in the shell."""

import json

import pytest

from server.__main__ import main
from tests.playground.conftest import ASKED


@pytest.fixture
def shell(indexed_shop, capsys):
    def run(*words):
        code = main(["--set", f"DATA_DIR={indexed_shop}", "playground", "--site", "shop", *words])
        return code, capsys.readouterr()

    return run


def test_ways_are_printed_one_after_the_other_with_the_address_of_the_run(shell):
    code, said = shell(
        ASKED, "--way", "/", "--way", "dense/self-rag/embedded", "--way", "raptor[layers=2]/corrective"
    )
    assert code == 0
    assert "1. hybrid, direct: answered" in said.out
    assert "2. dense, self-rag, quoted: answered" in said.out
    assert "same answer as 1" in said.out
    assert "3. raptor[layers=2], corrective: its index is not built for this site" in said.out
    assert "/admin/playground/" in said.out.splitlines()[-1]


def test_everything_that_is_known_comes_as_json(shell):
    code, said = shell(ASKED, "--with", "floor=1", "--json")
    column = json.loads(said.out)[0]
    assert code == 0
    assert column["answer"]["outcome"] == "refused"
    assert column["answer"]["trace"]["floor"]["floor"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((ASKED, "--way", "magic"), "unknown strategy 'magic'"),
        ((ASKED, "--with", "floor=9"), "floor: Write a number from 0 to 1"),
        ((ASKED, "--with", "colour=red"), "write NAME=VALUE with one of these names"),
        ((ASKED, *("--way", "/self-rag") * 5), "at most 4 times --way"),
        (("  ",), "Write a question."),
    ],
)
def test_what_cannot_be_asked_is_one_line(shell, words, said):
    code, printed = shell(*words)
    assert code != 0
    assert said in printed.err
    assert len(printed.err.strip().splitlines()) == 1


def test_a_way_that_fails_alone_is_no_success(shell):
    assert shell(ASKED, "--way", "lightrag/direct")[0] == 1
