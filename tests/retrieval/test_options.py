"""How a strategy with its options is written and read."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field

from server.domain.registry import UnknownName
from server.retrieval.options import StrategyOptions, made_options, read_spec, spec_of, split_specs
from server.retrieval.table import check_spec


@dataclass(frozen=True)
class Options(StrategyOptions):
    QUERY: ClassVar[frozenset[str]] = frozenset({"depth"})
    mode: Literal["local", "global"] = "local"
    depth: Annotated[int, Field(ge=1, le=9)] = 3
    share: float = 0.5


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hybrid", ["hybrid"]),
        ("hybrid, dense ,", ["hybrid", "dense"]),
        ("a[x=1,y=2],b,c[z=3]", ["a[x=1,y=2]", "b", "c[z=3]"]),
    ],
)
def test_a_list_is_split_outside_of_brackets(text, parts):
    assert split_specs(text) == parts


def test_name_and_options_are_read():
    assert read_spec(" raptor [ mode = local, depth=2 ] ") == ("raptor", {"mode": "local", "depth": "2"})
    assert read_spec("dense") == ("dense", {})
    assert read_spec("dense[]") == ("dense", {})


@pytest.mark.parametrize("text", ["", "a b", "raptor[", "raptor]", "Raptor!", "raptor[mode]"])
def test_what_cannot_be_read_says_how_it_is_written(text):
    with pytest.raises(UnknownName, match=r"option=value"):
        read_spec(text)


def test_values_become_what_the_options_are():
    assert made_options("x", Options, {"depth": "7", "share": "0.25", "model": "false"}) == Options(
        model=False, depth=7, share=0.25
    )


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"mode": "sideways"}, "mode=sideways.*'local' or 'global'"),
        ({"depth": "10"}, "depth=10.*write 9 or less"),
        ({"share": "much"}, "share=much.*write a number"),
        ({"deep": "1"}, "no option 'deep'; it has: model, mode, depth, share"),
    ],
)
def test_a_wrong_option_says_what_is_right(chosen, said):
    with pytest.raises(UnknownName, match=said):
        made_options("x", Options, chosen)


def test_a_spec_shows_only_what_differs_from_the_default():
    assert spec_of("x", Options()) == "x"
    assert spec_of("x", Options(mode="global", model=False)) == "x[model=false,mode=global]"
    name, chosen = read_spec(spec_of("x", Options(share=0.75, depth=1)))
    assert made_options(name, Options, chosen) == Options(share=0.75, depth=1)


def test_only_options_of_the_build_name_the_index():
    assert Options(depth=9).of_build() == Options().of_build()
    assert Options(mode="global").of_build() != Options().of_build()


def test_strategies_of_the_table_are_checked():
    assert check_spec("hybrid") == "hybrid"
    assert check_spec("auto[untested=hybrid]") == "auto"
    with pytest.raises(UnknownName, match="has no options of its own"):
        check_spec("hybrid[depth=3]")
    with pytest.raises(UnknownName, match="unknown strategy 'best'; known: dense"):
        check_spec("best")
