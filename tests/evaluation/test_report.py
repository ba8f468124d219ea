"""Reports: what stands in them, in every form."""

import re
from dataclasses import replace

import pytest

from server.evaluation.judges.abilities import TrialResult
from server.evaluation.judges.judgement import Judgement
from server.evaluation.report import Evaluated, load_report, report_of, write_report
from server.evaluation.rows import EvaluatedRow, EvaluatedRun
from tests import axe

HOSTILE = '<script>alert("1")</script> | `x` [a](javascript:1)'


def row(number, recall, question="How long do parcels take, and who brings them?", kind="lookup"):
    verdicts = {"hit@1": recall, "hit@5": recall, "recall@5": recall, "mrr@10": recall, "ndcg@10": recall}
    answer = {"outcome": "answered" if recall else "refused", "answer": "Two days.", "trace": {}}
    return EvaluatedRow(
        f"q{number}", kind, question, [], verdicts, 5.0, answer, [], 9.0, {"calls": 2, "cost": 0.5}
    )


def run(strategy, values, **more):
    rows = tuple(row(number, value, **more) for number, value in enumerate(values))
    return EvaluatedRun(strategy, "direct", "embedded", rows, {"pages": 3, "bytes": 10})


WEAK, STRONG = [0.0] * 20 + [1.0] * 20, [1.0] * 40


@pytest.fixture
def report():
    runs = [run("hybrid", WEAK), run("hipporag", STRONG)]
    judged = {
        one.name: {r.id: Judgement({"groundedness": 0.5}, 2, ["context_relevance"]) for r in one.rows}
        for one in runs
    }
    tried = {"direct": [TrialResult("q1", "noise robustness", 0.2, False, True)]}
    return report_of(Evaluated("shop", "Lamps & <b>more</b>", runs, "model x", judged, tried))


def test_rows_runs_and_types_are_all_there(report):
    assert [one["name"] for one in report["runs"]] == ["hybrid, direct", "hipporag, direct"]
    assert report["runs"][0]["metrics"]["recall@5"] == 0.5
    assert report["runs"][0]["by_type"]["lookup"]["questions"] == 40
    assert (report["runs"][0]["metrics"]["calls"], report["runs"][0]["metrics"]["cost"]) == (80, 20)
    assert len(report["rows"]) == 80
    assert report["rows"][0]["judgements"]["model x"]["groundedness"] == 0.5


def test_a_win_that_is_shown_is_recommended_and_chosen_for_its_kind_of_question(report):
    assert report["recommended"]["strategy"] == "hipporag"
    assert report["choices"] == {
        "several": {
            "strategy": "hipporag",
            "reason": report["choices"]["several"]["reason"],
        }
    }
    assert "+0.500 against hybrid on 40 questions" in report["choices"]["several"]["reason"]


def with_unanswerable(one, refused):
    """A run that also got ten questions without an answer, and refused so many of them."""
    rows = tuple(
        EvaluatedRow(f"u{n}", "unanswerable", "Who?", [], {"refused_unanswerable": float(n < refused)}, 5.0)
        for n in range(10)
    )
    return replace(one, rows=one.rows + rows)


def test_what_refuses_too_little_is_not_recommended_and_the_report_says_so(tmp_path):
    runs = [with_unanswerable(run("hybrid", WEAK), 9), with_unanswerable(run("hipporag", STRONG), 3)]
    report = report_of(Evaluated("shop", "Shop", runs))
    assert report["recommended"]["strategy"] == "hybrid"
    assert report["choices"] == {}
    said = "hipporag, direct refused 3 of 10 questions that the site does not answer"
    assert report["refusing_too_little"] == [said]
    write_report(tmp_path, report, runs)
    for name in ("report.md", "report.html"):
        assert f"Not recommended: {said}." in (tmp_path / name).read_text()


def test_where_everything_refuses_too_little_nothing_is_recommended():
    report = report_of(Evaluated("shop", "Shop", [with_unanswerable(run("hybrid", STRONG), 3)]))
    assert report["recommended"] is None
    assert len(report["refusing_too_little"]) == 1


def test_a_few_unanswerable_questions_judge_nobody():
    few = with_unanswerable(run("hybrid", STRONG), 0)
    report = report_of(Evaluated("shop", "Shop", [replace(few, rows=few.rows[:45])]))
    assert report["recommended"]["strategy"] == "hybrid"
    assert report["refusing_too_little"] == []


def test_a_difference_that_is_not_shown_recommends_the_plainer_way():
    close = [*WEAK[:-1], 0.0]
    report = report_of(Evaluated("shop", "s", [run("hipporag", WEAK), run("hybrid", close)]))
    assert report["recommended"]["strategy"] == "hybrid"
    assert "do not show" in report["recommended"]["reason"]
    assert report["choices"] == {}


def test_unread_replies_are_counted_beside_the_judge(report):
    (judge,) = report["judges"]
    first = judge["runs"][0]
    assert (first["asked"], first["unread"]) == (80, 40)
    assert first["unread_by"] == {"context_relevance": 40}
    assert first["judged"] == {"groundedness": 40}


def test_every_form_is_written_and_the_report_can_be_loaded(report, tmp_path):
    runs = [run("hybrid", [1.0])]
    write_report(tmp_path, report, runs)
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.json", "report.md", "report.html", "answers.jsonl",
    }  # fmt: skip
    assert load_report(tmp_path) == report
    (tmp_path / "report.json").write_text("{")
    assert load_report(tmp_path) is None
    assert load_report(tmp_path / "none") is None


def test_markdown_tells_the_same(report, tmp_path):
    write_report(tmp_path, report, [])
    text = (tmp_path / "report.md").read_text()
    assert "Lamps & &lt;b>more" in text
    assert "| hipporag, direct | hybrid, direct | recall@5 | +0.500 |" in text
    assert "better | 20 / 40 |" in text
    assert "## Judged by model x" in text
    assert len(re.findall(r"^\| q\d", text, re.M)) == 40


@pytest.fixture
def page(tmp_path):
    runs = [run("hybrid", WEAK, question=HOSTILE, kind="<i>"), run("lightrag[mode=local]", STRONG)]
    write_report(tmp_path, report_of(Evaluated("shop", HOSTILE, runs)), runs)
    return tmp_path / "report.html"


def test_the_page_needs_nothing_else_and_runs_nothing(page):
    text = page.read_text()
    assert not re.search(r"<script|\ssrc=|<link|url\(|@import|https?://", text.replace("&lt;script", ""))
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text


def test_every_chart_has_a_table_behind_it(page):
    text = page.read_text()
    assert text.count("<svg") == text.count('role="img" aria-label=')
    for name in ("hit@5", "recall@5", "ndcg@10"):
        assert f"<h3>{name}</h3>" in text
        assert f'<th scope="col">{name}</th>' in text


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window(page, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    problems = []
    opened.on("console", lambda message: problems.append(message.text))
    opened.goto(page.as_uri())
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert problems == []
    found = opened.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    dark = scheme == "dark"
    assert (found[0] == "rgb(232, 232, 230)") == dark
    # Of all rules only this one depends on colours.
    assert axe.findings(opened, ["color-contrast"] if dark else ()) == []
    context.close()
