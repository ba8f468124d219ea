"""The check of a site: questions made from its pages are asked, and three sentences say how it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admin.formats import day
from admin.texts import _, lazy
from server.api.access import configuration, quality_stores
from server.domain.site import Site
from server.evaluation.candidates import KINDS, MODEL
from server.quality.run_store import DONE
from server.quality.runs import RUN
from server.storage.columns import now

ANSWERABLE, UNANSWERABLE = 60, 15
"""Questions of a check."""
WEAK = 0.85
"""A smaller share of right answers is called weak."""
RUNS = 50


@dataclass(frozen=True, slots=True)
class Measure:
    """What a check counts, and what it says about it. The texts take %(good)s, %(bad)s and %(all)s."""

    verdict: str
    """Key of a question's verdict; after a minus, of one where 0 is right."""
    good: str
    weak: str
    advice: str


MEASURES = (
    Measure(
        "refused_unanswerable",
        lazy("Docent refused %(good)s of %(all)s questions whose page was left out, as it should."),
        lazy(
            "Weak: the page with the answer was left out of the search for %(all)s questions, and Docent "
            "still answered %(bad)s of them from other pages."
        ),
        lazy(
            "To do: look at these answers. If they are wrong, choose “Refuse more” in the settings of the "
            "site and check again."
        ),
    ),
    Measure(
        "-refused_answerable",
        lazy("Docent answered %(good)s of %(all)s questions that the site can answer."),
        lazy("Weak: Docent refused %(bad)s of %(all)s questions that the site can answer."),
        lazy("To do: choose “Answer more” in the settings of the site, then check again."),
    ),
    Measure(
        "hit@5",
        lazy("Docent found the right page for %(good)s of %(all)s questions."),
        lazy("Weak: Docent did not find the right page for %(bad)s of %(all)s questions."),
        lazy("To do: look at these questions, and give their pages headings that say what they answer."),
    ),
    Measure(
        "citation_correct",
        lazy("The answer named the right page for %(good)s of %(all)s questions."),
        lazy("Weak: the answer did not name the right page for %(bad)s of %(all)s questions."),
        lazy("To do: look at these questions, and write your own answer to those that matter."),
    ),
)


def sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what is weak, what to do about it, and what is best. If nothing is weak: what is best, what is
    least good, and that there is nothing to do. Fewer sentences if there was less to measure."""
    counted = []
    for measure in MEASURES:
        name, is_inverse = measure.verdict.removeprefix("-"), measure.verdict.startswith("-")
        values = [row["verdicts"][name] for row in rows if name in row["verdicts"]]
        if values:
            good = sum((value == 0) if is_inverse else (value > 0) for value in values)
            counted.append((good / len(values), measure, good, len(values)))
    if not counted:
        return []
    counted.sort(key=lambda one: one[0])  # the order of the table where shares are equal

    def said(text: str, one: tuple[float, Measure, int, int]) -> str:
        return str(text) % {"good": one[2], "bad": one[3] - one[2], "all": one[3]}

    worst, best = counted[0], counted[-1]
    others = [said(best[1].good, best)] if best is not worst else []
    if worst[0] < WEAK:
        return [said(worst[1].weak, worst), str(worst[1].advice), *others]
    return [
        *others,
        said(worst[1].good, worst),
        _("Nothing needs to be done. Check again when the site changes."),
    ]


def check_of(site: Site) -> dict[str, Any]:
    """The newest check of a site, as the template shows it: `made` is its test set, `run` its run."""
    found = quality_stores()
    made = next((one for one in found.testsets.all(site.id) if RUN in one.chosen), None)
    runs = found.runs.all(site.id, RUNS) if made else []
    run = next((one for one in runs if made and one.testset_id == made.id), None)
    is_open = bool(made and (made.is_open or (run and run.is_open)))
    rows = found.runs.report_rows(run.id, 0) if run and run.state == DONE and not is_open else []
    return {
        "made": made,
        "run": run if made and not made.is_open else None,
        "checking": is_open,
        "sentences": sentences(rows),
        "rows": len(rows),
    }


def too_many(most: int) -> str:
    """The message where a site has as many test sets as it may have."""
    return _("The site has %(most)s test sets, which is the limit. Delete one first.", most=most)


class NotNow(Exception):
    """Why a check cannot start, as a sentence."""


def start_check(site: Site) -> int:
    """Ask the questions of the last check again if the pages are the same, otherwise make new ones first.
    Return the number of the test set. Raises NotNow."""
    if not site.generation:
        raise NotNow(_("Crawl the site first. Then there are pages to ask about."))
    if check_of(site)["checking"]:
        raise NotNow(_("The check is running already."))
    found, quality = quality_stores(), configuration().settings.quality
    run = {"strategies": [site.strategy], "flows": [site.flow], "judge": "none", "abilities": 0, "limit": 0}
    run["writes"] = True
    testsets = found.testsets.all(site.id)
    checks = [one for one in testsets if RUN in one.chosen and one.is_ready]
    is_full = len(testsets) >= quality.testsets_per_site
    same = next((one for one in checks if is_full or one.chosen["generation"] == site.generation), None)
    if same is not None:
        found.runs.queue(site.id, same.id, same.name, run, quality.runs_kept)
    elif is_full:
        raise NotNow(too_many(quality.testsets_per_site))
    else:
        kinds = [kind for kind in KINDS if kind != MODEL]
        wanted = {"count": ANSWERABLE, "unanswerable": UNANSWERABLE, "kinds": kinds, "seed": 0}
        chosen = {**wanted, "generation": site.generation, RUN: run}
        same = found.testsets.order(site.id, _("Check of %(day)s", day=day(now())), "headings", chosen)
    return same.id
