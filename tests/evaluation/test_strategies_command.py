"""`python -m server strategies`: what an operator does with strategies in the shell."""

import json

import pytest

from server.__main__ import main
from server.retrieval.table import STRATEGIES
from tests.openai_server import OpenAIServer


@pytest.fixture
def strategies(indexed_shop, capsys):
    def strategies(*arguments, **settings):
        given = [f"{name}={value}" for name, value in {"DATA_DIR": indexed_shop, **settings}.items()]
        code = main([*(part for one in given for part in ("--set", one)), "strategies", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return strategies


def test_every_strategy_is_listed_with_what_it_is_and_its_options(strategies):
    code, said, _ = strategies()
    assert code == 0
    named = [line.partition(":")[0] for line in said.splitlines() if not line.startswith(" ")]
    assert named == list(STRATEGIES)
    assert "mode=mix" in said


def test_using_a_strategy_builds_it_and_the_site_answers_by_it(strategies, indexed_shop, capsys):
    code, said, _ = strategies("use", "--site", "shop", "questions")
    assert code == 0
    assert "no call of a model is needed" in said
    assert "shop is searched by questions now." in said
    assert (
        main(
            [
                "--set",
                f"DATA_DIR={indexed_shop}",
                "ask",
                "--site",
                "shop",
                "How long do parcels to islands take?",
            ]
        )
        == 0
    )
    assert "five working days" in capsys.readouterr().out
    code, said, _ = strategies("state", "--site", "shop")
    assert "shop is searched by questions." in said
    assert "questions\tgeneration 1\t" in said


def test_the_price_is_told_and_nobody_pays_without_agreeing(strategies):
    with OpenAIServer() as server:
        server.script = lambda request: "{}"
        model = {
            "CHAT_MODEL": "test", "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k", "MODEL_PRICES": "test=1/2",
        }  # fmt: skip
        code, said, _ = strategies("plan", "--site", "shop", "contextual", **model)
        assert code == 0
        assert "calls of the model" in said
        assert "in the currency of MODEL_PRICES" in said
        code, _, told = strategies("build", "--site", "shop", "contextual", **model)
        assert (code, len(server.requests)) == (1, 0)
        assert "--yes" in told
        code, said, _ = strategies("build", "--site", "shop", "contextual", "--yes", **model)
        assert code == 0
        assert len(server.requests) > 0
        _, said, _ = strategies("plan", "--site", "shop", "contextual", **model)
        assert "no call of a model is needed" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("use", "--site", "shop", "best"), "unknown strategy 'best'; known: dense"),
        (("use", "--site", "shop", "raptor[layers=x]"), "raptor: layers=x"),
        (("plan", "--site", "nowhere", "dense"), "nowhere"),
        (("choose", "--site", "shop", "/nowhere"), "holds no report.json"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(strategies, arguments, told):
    code, _, said = strategies(*arguments)
    assert code == 1
    assert told in said
    assert len(said.strip().splitlines()) == 1


def test_auto_goes_by_what_a_report_showed(strategies, tmp_path):
    choice = {"strategy": "questions", "reason": "ndcg@10 +0.100 against hybrid on 30 questions"}
    report = {"site": {"id": "shop"}, "choices": {"lookup": choice}}
    (tmp_path / "report.json").write_text(json.dumps(report))
    code, said, _ = strategies("choose", "--site", "shop", str(tmp_path))
    assert (code, said) == (
        0,
        "lookup questions: questions (ndcg@10 +0.100 against hybrid on 30 questions)\n",
    )
    code, said, _ = strategies("use", "--site", "shop", "auto")
    assert "shop is searched by auto now." in said
    report["site"]["id"] = "other"
    (tmp_path / "report.json").write_text(json.dumps(report))
    code, _, told = strategies("choose", "--site", "shop", str(tmp_path))
    assert (code, "is of other, not of shop" in told) == (1, True)
