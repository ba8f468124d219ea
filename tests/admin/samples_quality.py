"""What the page Quality shows after a few weeks: sets, runs with their reports, a gate that holds an index back."""

from datetime import UTC, datetime, timedelta

from server.evaluation.report import Evaluated, report_of
from server.evaluation.rows import EvaluatedRow, EvaluatedRun
from server.quality.gate_store import HELD, Gate
from server.quality.questions import read_upload
from server.quality.runs import summary_of
from server.storage.leases import new_holder
from tests.crawl_runs import begin_crawl

QUESTIONS = (
    ("How long do parcels to islands take?", "/delivery", "lookup"),
    ("What does delivery cost?", "/delivery", "lookup"),
    ("When are refunds paid?", "/returns", "howto"),
    ("How do I return a lamp that arrived broken, and who pays for the label that I have to print?", "/returns", "howto"),
    ("How do I install the driver on Linux?", "/install", "howto"),
    ("What does the Glow Maxi cost?", "/prices", "lookup"),
    ("Wie lange dauert der Versand auf die Inseln?", "/delivery", "crosslingual"),
    ("Do you repair radios?", "", "unanswerable"),
    ("When does the next train to Hamburg leave?", "", "unanswerable"),
)  # fmt: skip

PAGES = {
    "quality": "/admin/quality",
    "quality_site": "/admin/sites/lantern/quality",
    "quality_site_empty": "/admin/sites/docs/quality",
    "quality_testset_new": "/admin/sites/lantern/quality/sets",
    "quality_testset": "/admin/sites/lantern/quality/sets/1",
    "quality_case": "/admin/sites/lantern/quality/sets/1/cases/4",
    "quality_case_new": "/admin/sites/lantern/quality/cases",
    "quality_run_new": "/admin/sites/lantern/quality/runs/new",
    "quality_run": "/admin/sites/lantern/quality/runs/3",
    "quality_run_running": "/admin/sites/lantern/quality/runs/4",
    "quality_answers": "/admin/sites/lantern/quality/runs/3/answers",
    "quality_compare": "/admin/sites/lantern/quality/compare",
    "quality_gate": "/admin/sites/lantern/quality/gate",
}
"""Of what `fill` makes on an empty installation."""
WAYS = (("hybrid", "direct"), ("segments[model=false]", "direct"), ("dense", "self-rag"))


def fill(runtime, at="https://lantern.example"):
    """For the site lantern; returns the numbers of (test set, run)."""
    site = runtime.stores.sites.get("lantern")
    lines = [
        f'{{"question": "{question}", "type": "{kind}"' + (f', "expected_urls": ["{at}{path}"]' if path else "") + "}"
        for question, path, kind in QUESTIONS
    ]  # fmt: skip
    made = runtime.quality.testsets.create(
        "lantern", "Questions of every day", "headings", read_upload("\n".join(lines).encode(), site, runtime.configuration.settings)
    )  # fmt: skip
    runtime.quality.testsets.create("lantern", "A set without questions", "hand")
    runs = [make_run(runtime, made, days) for days in (20, 13, 6)]
    queued = runtime.quality.runs.queue("lantern", made.id, made.name, chosen(), 50)
    runtime.quality.runs.work.claim(holder := new_holder())
    runtime.quality.runs.work.beat(queued.id, holder, step="asking hybrid, direct", done=4, total=9)
    runtime.quality.gates.set(Gate("lantern", made.id, "ndcg@10", 0.03, 100))
    hold_back(runtime, at)
    return made.id, runs[-1]


def chosen(**other):
    strategies, flows = [way for way, _ in WAYS], ["direct"]
    return {
        "strategies": strategies,
        "flows": flows,
        "judge": "none",
        "abilities": 0,
        "limit": 0,
        "writes": True,
    } | other


def make_run(runtime, made, days_ago=0, misses=0):
    """A run that is done, with its report."""
    run = runtime.quality.runs.queue("lantern", made.id, made.name, chosen(), 50)
    holder = new_holder()
    assert runtime.quality.runs.work.claim(holder) == run.id
    report, told = a_report(runtime.quality.testsets.cases("lantern", made.id), misses + days_ago // 5)
    runtime.quality.runs.keep_report(run.id, report, told)
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    runtime.quality.runs.work.end(
        run.id, holder, "done", summary=summary_of(report), questions=len(QUESTIONS), generation=3,
        finished_at=moment, started_at=moment, queued_at=moment,
    )  # fmt: skip
    return run.id


def a_report(cases, misses):
    """As an evaluation makes it, of rows that are made up."""
    runs, told = [], []
    for number, (strategy, flow) in enumerate(WAYS):
        rows = tuple(_row(case, at < misses + number, at, number) for at, case in enumerate(cases))
        runs.append(
            EvaluatedRun(
                strategy, flow, "embedded", rows, {"pages": 5, "chunks": 40, "seconds": 1.5 * number}
            )
        )
        told += [
            (number, row.id, {"id": row.id, "type": row.type, "question": row.question, "ranked_urls": row.ranked_urls,
                              "answer": row.answer, "verdicts": row.verdicts, "strategy": strategy, "flow": flow})
            for row in rows
        ]  # fmt: skip
    return report_of(Evaluated("lantern", "Lantern Shop", runs)), told


def _row(case, is_missed, at, way):
    url = "https://lantern.example/delivery"
    if not case.answerable:
        return EvaluatedRow(case.case_id, case.type, case.question, [url], {"refused_unanswerable": float(not is_missed)}, 9.0 + at,
                   _answer("refused" if not is_missed else "answered", url), answer_ms=30.0 + at)  # fmt: skip
    rank = 0.0 if is_missed else 1.0
    verdicts = {
        **{f"hit@{k}": rank for k in (1, 3, 5, 10)}, **{f"recall@{k}": rank for k in (3, 5, 10)}, "mrr@10": rank,
        "ndcg@10": rank, "refused_answerable": float(is_missed and at % 2), "citation_correct": rank,
    }  # fmt: skip
    return EvaluatedRow(case.case_id, case.type, case.question, [url, "https://lantern.example/prices"], verdicts, 8.0 + at,
               _answer("answered", url), answer_ms=40.0 + 7 * at + 20 * way, used={"calls": 0, "cost": 0.0})  # fmt: skip


def _answer(outcome, url):
    cited = {"number": 1, "url": url, "title": "Delivery", "quote": "Parcels to islands take five working days.",
             "link": f"{url}#:~:text=Parcels"}  # fmt: skip
    said = (
        "Parcels to islands take five working days. [1]"
        if outcome == "answered"
        else "The site says nothing about that."
    )
    return {
        "outcome": outcome,
        "answer": said,
        "citations": [cited] if outcome == "answered" else [],
        "trace": {},
    }


def hold_back(runtime, at="https://lantern.example"):
    crawl_id = begin_crawl(runtime.stores.crawls, "lantern")
    runtime.stores.crawls.finish(
        crawl_id,
        "held",
        "2 of 7 test questions got worse: ndcg@10 fell from 0.912 to 0.701, and 3.0 points may be lost",
    )
    worse = [
        {"id": "3", "question": QUESTIONS[2][0], "before": 1.0, "after": 0.0, "expected": [f"{at}/returns"], "present": [False]},
        {"id": "4", "question": QUESTIONS[3][0], "before": 1.0, "after": 0.43, "expected": [f"{at}/returns"], "present": [False]},
    ]  # fmt: skip
    generation = runtime.stores.content("lantern").live_generation() + 1
    values = {"metric": "ndcg@10", "before": 0.912, "after": 0.701, "largest_drop": 0.03, "questions": 7}
    values["details"] = {"worse": worse, "worse_count": 2, "worse_more": 0}
    return runtime.quality.gates.note("lantern", crawl_id, generation, HELD, values)
