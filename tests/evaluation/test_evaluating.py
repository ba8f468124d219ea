"""Evaluations from end to end, over a small corpus: indexed once, resumed, compared, reported."""

import json
import os
from dataclasses import replace

import pytest

from server.__main__ import main
from server.domain.derived import BuildStopped
from server.errors import StartError
from server.evaluation.report import load_report
from server.evaluation.rows import Journal
from server.quality.evaluating import Evaluating, EvaluationOrder
from tests.evaluation.conftest import Watch
from tests.openai_server import OpenAIServer

ANSWERABLE = ("islands", "refund", "return", "both", "then")


@pytest.fixture
def order(corpus_folder, tmp_path):
    return EvaluationOrder(out=tmp_path / "out", corpus=corpus_folder, abilities=0)


def evaluation_of(runtime, order):
    return Evaluating(runtime.engine, runtime.database, runtime.stores.sites, order)


def evaluated(runtime, order, watch=None):
    watch = watch or Watch()
    evaluating = evaluation_of(runtime, order)
    evaluating.open(watch)
    return evaluating.run(watch), watch, evaluating


def test_a_corpus_is_asked_and_measured(runtime, order):
    report, _, evaluating = evaluated(runtime, order)
    (run,) = report["runs"]
    assert (run["name"], run["questions"]) == ("hybrid, direct", 7)
    assert run["metrics"]["hit@1"] == run["metrics"]["recall@5"] == run["metrics"]["ndcg@10"] == 1
    assert run["metrics"]["refused_unanswerable"] == run["metrics"]["answerable_auc"] == 1
    assert run["index"]["pages"] == 10
    assert evaluating.site.id.startswith("corpus-lantern-docs-")
    judged = [row["id"] for row in report["rows"] if "hit@1" in row["verdicts"]]
    assert judged == list(ANSWERABLE)


def test_a_corpus_is_indexed_once_and_anew_when_a_document_changed(runtime, order):
    evaluated(runtime, order)
    _, again, first = evaluated(runtime, replace(order, fresh=True))
    assert not [name for name, *_ in again.steps if name == "documents"]
    with (order.corpus / "corpus.jsonl").open("a") as file:
        file.write('\n{"_id": "new", "title": "New", "text": "Something new."}')
    _, anew, other = evaluated(runtime, order)
    assert [name for name, *_ in anew.steps if name == "documents"]
    assert other.site.id != first.site.id


def test_what_was_asked_before_it_was_stopped_is_not_asked_again(runtime, order):
    with pytest.raises(BuildStopped):
        evaluated(runtime, order, Watch(stop_at=("asking hybrid, direct", 4)))
    assert load_report(order.out) is None
    lines = (order.out / "journal.jsonl").read_bytes().splitlines()
    assert len(lines) == 4
    with (order.out / "journal.jsonl").open("ab") as file:
        file.write(b'{"key": "cut of')  # as a power failure leaves it
    report, *_ = evaluated(runtime, order)
    after = (order.out / "journal.jsonl").read_bytes().splitlines()
    assert after[:4] == lines
    assert len(after) == 1 + 7
    assert report["runs"][0]["questions"] == 7


def test_another_way_and_a_changed_question_are_asked_and_nothing_else(runtime, order):
    evaluated(runtime, order)
    evaluated(runtime, replace(order, strategies=("hybrid", "lexical")))
    lines = (order.out / "journal.jsonl").read_bytes().splitlines()
    assert len(lines) == 14
    queries = (order.corpus / "queries.jsonl").read_text().replace("five working days", "5 days")
    (order.corpus / "queries.jsonl").write_text(queries)
    evaluated(runtime, order)
    assert len((order.out / "journal.jsonl").read_bytes().splitlines()) == 15


def test_ways_are_compared_and_one_is_recommended(runtime, order):
    report, *_ = evaluated(runtime, replace(order, strategies=("lexical", "hybrid"), writes=False))
    of_ranking = [one for one in report["comparisons"] if not one["metric"].endswith("_ms")]
    names = {(one["way"], one["against"], one["verdict"]) for one in of_ranking}
    assert names == {("hybrid, direct", "lexical, direct", "no difference shown")}
    assert report["recommended"]["strategy"] == "hybrid"
    assert all(row["outcome"] == "" for row in report["rows"])
    assert "citation_correct" not in report["rows"][0]["verdicts"]


def test_a_derived_index_that_is_missing_is_built_first(runtime, order):
    report, watch, _ = evaluated(runtime, replace(order, strategies=("segments",), writes=False))
    assert any(name.startswith("building segments: ") for name, *_ in watch.steps)
    assert report["runs"][0]["index"]["bytes"] > 0
    _, again, _ = evaluated(runtime, replace(order, strategies=("segments",), writes=False))
    assert not any(name.startswith("building") for name, *_ in again.steps)


def test_pages_that_are_left_out_are_found_by_no_strategy(runtime, order, tmp_path):
    evaluating = evaluation_of(runtime, order)
    evaluating.open(Watch())
    origin = "http://lantern-docs.invalid"
    questions = tmp_path / "questions.jsonl"
    case = {"question": "How long do parcels to islands take?", "expected_urls": ["/delivery"]}
    gone = {**case, "type": "unanswerable", "left_out": ["/delivery"], "id": "gone"}
    questions.write_text("\n".join(map(json.dumps, (gone, {**case, "id": "there"}))), encoding="utf-8")
    ways = ("hybrid", "dense", "lexical", "segments")
    found, *_ = evaluated(runtime, replace(order, questions=questions, strategies=ways))
    answers = [json.loads(line) for line in (order.out / "answers.jsonl").read_text().splitlines()]
    for answer in answers:
        is_there = f"{origin}/delivery" in answer["ranked_urls"]
        assert is_there == (answer["id"] == "there"), answer["strategy"]
        if answer["id"] == "gone":
            assert f"{origin}/delivery" not in answer["answer"]["source"]
    assert all(run["metrics"]["hit@1"] == 1 for run in found["runs"])


def test_judge_and_abilities_stand_in_tables_of_their_own(runtime, order):
    wanted = replace(order, judge="embedded", abilities=5)
    report, *_ = evaluated(runtime, wanted)
    (judge,) = report["judges"]
    assert judge["judge"] == "embedded"
    metrics = judge["runs"][0]["metrics"]
    assert metrics["groundedness"] >= 0.9
    assert metrics["claim_recall"] >= 0.9
    assert judge["runs"][0]["judged"]["recall"] == 3  # those with a known answer
    assert "groundedness" not in report["runs"][0]["metrics"]
    (tried,) = report["abilities"]
    lines = {(line["ability"], line["noise"]): line for line in tried["rows"]}
    assert [noise for ability, noise in lines if ability == "noise robustness"] == [0, 0.2, 0.4, 0.6, 0.8]
    assert lines["noise robustness", 0.0]["right"] >= 0.6
    assert lines["negative rejection", 1.0]["refused"] >= 0.6
    assert lines["information integration", 0.0]["questions"] == 1
    assert lines["counterfactual robustness", 0.0]["questions"] >= 2


def test_the_same_evaluation_judged_twice_asks_nothing_again(runtime, order):
    wanted = replace(order, judge="embedded", abilities=3)
    first, *_ = evaluated(runtime, wanted)
    size = (order.out / "journal.jsonl").stat().st_size
    second, *_ = evaluated(runtime, wanted)
    assert (order.out / "journal.jsonl").stat().st_size == size
    assert {**first, "made_at": ""} == {**second, "made_at": ""}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"site": "shop"}, "either a site or"),
        ({"corpus": None}, "either a site or"),
        ({"corpus": None, "site": "shop"}, "needs a file of questions"),
        ({"judge": "model"}, "no chat model is configured"),
        ({"judge": "oracle"}, "no judge 'oracle'"),
    ],
)
def test_an_order_that_cannot_be_carried_out_says_why(runtime, order, changed, told):
    with pytest.raises(StartError, match=told):
        evaluation_of(runtime, replace(order, **changed))


def test_a_journal_keeps_what_was_whole(tmp_path):
    journal = Journal(tmp_path)
    journal.add("a", {"x": [1, "ü"]})
    journal.add("b", 2)
    path = tmp_path / "journal.jsonl"
    os.truncate(path, path.stat().st_size - 4)
    again = Journal(tmp_path)
    assert (again.get("a"), "b" in again) == ({"x": [1, "ü"]}, False)
    again.add("b", 3)
    assert Journal(tmp_path).get("b") == 3
    assert "a" not in Journal(tmp_path, fresh=True)


def test_the_command_evaluates_a_corpus(model_cache, corpus_folder, tmp_path, capsys):
    # A folder of its own: only one can have the vectors of a folder open, and tests before may end late.
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    (data / "models").symlink_to(model_cache)
    files = ["--corpus", str(corpus_folder), "--out", str(out)]
    code = main(
        ["--set", f"DATA_DIR={data}", "evaluate", *files, "--strategies", "hybrid,lexical", "--ranking-only"]
    )
    said = capsys.readouterr()
    assert code == 0, said.err
    assert "asking lexical, direct: 7 of 7\n" in said.err
    assert "recall@5: lexical, direct against hybrid, direct" in said.out
    assert {path.name for path in out.iterdir()} == {
        "report.json", "report.md", "report.html", "answers.jsonl", "journal.jsonl",
    }  # fmt: skip


@pytest.fixture
def with_model(data, corpus_folder, tmp_path, capsys):
    """The command with a chat model behind it."""
    with OpenAIServer() as server:
        given = {
            "DATA_DIR": data, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k", "CHAT_MODEL": "m",
            "MODEL_PRICES": "m=1/2", "MODEL_RETRIES": 0,
        }  # fmt: skip
        options = [part for name, value in given.items() for part in ("--set", f"{name}={value}")]
        files = ["--corpus", str(corpus_folder), "--out", str(tmp_path / "out"), "--limit", "2"]

        def evaluate(*more):
            code = main([*options, "evaluate", *files, *more])
            said = capsys.readouterr()
            report = load_report(tmp_path / "out")
            return code, said, report, len(server.requests)

        yield evaluate


def test_what_a_model_would_take_is_shown_before_and_agreed_to(with_model):
    code, said, report, calls = with_model("--strategies", "contextual", "--judge", "model")
    assert (code, report, calls) == (1, None, 0)
    assert "Building contextual: about " in said.err
    assert "cost at most 0.0" in said.err
    assert "Judging: at most " in said.err
    assert "add --yes" in said.err


def test_a_model_as_judge_has_its_calls_counted_and_what_it_said_unreadably(with_model):
    code, _, report, calls = with_model("--judge", "model", "--abilities", "0", "--yes")
    assert code == 0
    (judge,) = report["judges"]
    (run,) = judge["runs"]
    assert judge["judge"] == "model m"
    assert run["asked"] == run["calls"] > 0
    # The server answers every request as a writer would: nothing of it has the form that was asked for.
    assert run["unread"] == run["asked"]
    assert run["metrics"] == {}
    assert run["cost"] > 0
    assert calls >= run["asked"]
    assert report["runs"][0]["metrics"]["calls"] > 0
