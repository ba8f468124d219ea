"""The check of a site: made and asked by the worker, said in three sentences that are true."""

import pytest

from admin.quality.check import sentences
from server.domain.roles import Role
from server.quality.questions import read_upload
from server.quality.runs import summary_of
from server.storage.leases import new_holder
from tests.admin.quality.test_quality_sets import ROOT
from tests.admin.samples_quality import a_report


def rows(found=(60, 60), cited=(60, 60), answered=(60, 60), refused=(15, 15)):
    """(right, all) of each measure."""
    made = []
    for name, (good, every) in {
        "hit@5": found,
        "citation_correct": cited,
        "refused_answerable": (answered[1] - answered[0], answered[1]),
        "refused_unanswerable": refused,
    }.items():
        made += [{"verdicts": {name: float(at < good)}} for at in range(every)]
    return made


def test_a_weak_refusal_is_said_first_when_it_is_the_weakest():
    said = sentences(rows(refused=(4, 15), cited=(40, 60)))
    assert said[0] == (
        "Weak: the page with the answer was left out of the search for 15 questions, and Docent still answered "
        "11 of them from other pages."
    )
    assert "Refuse more" in said[1]
    assert len(said) == 3
    assert "Weak" not in said[2]


@pytest.mark.parametrize(
    ("weak", "first", "advice"),
    [
        ({"found": (30, 60)}, "did not find the right page for 30 of 60", "headings"),
        ({"cited": (20, 60), "refused": (9, 15)}, "did not name the right page for 40 of 60", "your own answer"),
        ({"answered": (40, 60)}, "refused 20 of 60 questions that the site can answer", "Answer more"),
    ],
)  # fmt: skip
def test_the_weakest_measure_comes_first_with_what_to_do(weak, first, advice):
    said = sentences(rows(**weak))
    assert first in said[0]
    assert advice in said[1]


def test_a_good_site_has_nothing_to_do():
    said = sentences(rows(found=(58, 60)))
    assert said[1] == "Docent found the right page for 58 of 60 questions."
    assert "Nothing needs to be done" in said[2]
    assert sentences([]) == []


def finish(runtime):
    """What the worker does with a check, with a made-up report."""
    (made,) = runtime.quality.testsets.all("lantern")
    run = runtime.quality.runs.all("lantern")[0]
    runtime.quality.runs.work.claim(holder := new_holder())
    report, told = a_report(runtime.quality.testsets.cases("lantern", made.id), misses=2)
    runtime.quality.runs.keep_report(run.id, report, told)
    runtime.quality.runs.work.end(run.id, holder, "done", summary=summary_of(report), questions=9)
    return run


def test_a_check_makes_questions_asks_them_and_says_what_came_of_it(operator, runtime, site):
    assert "Check my site" in operator.get(ROOT).text
    assert operator.send(ROOT, {}, f"{ROOT}/check").status_code == 302
    (made,) = runtime.quality.testsets.all("lantern")
    assert made.is_open
    assert "Making questions" in operator.get(ROOT).text
    assert operator.get(f"{ROOT}/check/progress").json["active"]
    operator.send(ROOT, {}, f"{ROOT}/check")
    assert len(runtime.quality.testsets.all("lantern")) == 1, "one check at a time"
    run = made.chosen["run"]
    assert (run["strategies"], run["flows"]) == ([site.strategy], [site.flow])
    runtime.quality.testsets.work.claim(holder := new_holder())
    runtime.quality.testsets.fill(made.id, holder, [], "")
    runtime.quality.runs.queue("lantern", made.id, made.name, run, 50)
    shown = operator.get(ROOT).text
    assert "Asking the questions" in shown
    assert "Done" not in shown.split("<details")[0]


def test_a_check_of_unchanged_pages_asks_the_same_questions_again(operator, runtime, site):
    operator.send(ROOT, {}, f"{ROOT}/check")
    (made,) = runtime.quality.testsets.all("lantern")
    runtime.quality.testsets.work.claim(holder := new_holder())
    lines = "\n".join(f'{{"question": "Question {n}?", "expected_urls": ["/delivery"]}}' for n in range(9))
    cases = read_upload(lines.encode(), site, runtime.configuration.settings)
    runtime.quality.testsets.fill(made.id, holder, cases, "")
    runtime.quality.runs.queue("lantern", made.id, made.name, made.chosen["run"], 50)
    run = finish(runtime)
    shown = operator.get(ROOT).text
    assert f"/runs/{run.id}/answers" in shown
    assert "Weak: Docent did not find the right page for 2 of 9 questions." in shown
    operator.send(ROOT, {}, f"{ROOT}/check")
    assert len(runtime.quality.testsets.all("lantern")) == 1
    assert [one.testset_id for one in runtime.quality.runs.all("lantern")] == [made.id, made.id]


def test_a_site_that_was_never_crawled_and_a_viewer_start_no_check(operator, operator_id, runtime, busy):
    page = "/admin/sites/docs/quality"
    operator.send(page, {}, f"{page}/check")
    assert runtime.quality.testsets.all("docs") == []
    assert "Crawl the site first" in operator.get(page).text
    runtime.people.operators.create("second@example.com", "x", Role.OWNER)
    runtime.people.operators.set_role(operator_id, Role.VIEWER)
    assert operator.send(ROOT, {}, f"{ROOT}/check").status_code == 403
