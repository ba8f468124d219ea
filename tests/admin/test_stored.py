"""Sentences that the server and the crawler write are known to the catalogue, and so shown in every language."""

import ast
import re
from pathlib import Path

import pytest

from admin.formats import report_text
from admin.sites.scope import STEPS
from admin.stored import BREAKS, CODES, DETAILS, KINDS, found_in, translated
from admin.texts import written_in
from server.evaluation.report import Evaluated, report_of
from server.evaluation.report_forms import html_report, markdown_report
from tests.admin.routes import rules
from tests.evaluation.test_report import STRONG, WEAK, report, run, with_unanswerable  # noqa: F401

ROOT = Path(__file__).parents[2]
RAISED = {
    "BadFile",
    "BadStart",
    "CrawlError",
    "FetchError",
    "Refused",
    "UnreadableSource",
    "Unsupported",
}
FOLDERS = (
    "crawler/discovery",
    "crawler/extractors",
    "crawler/fetching",
    "crawler/judging",
    "crawler/sources",
    "server/jobs",
)


def calls(*folders):
    for folder in folders:
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield file, node


def texts(node):
    """The texts that an expression may give, with "on" for each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "on" for part in node.values)]
    if isinstance(node, ast.IfExp):
        return [*texts(node.body), *texts(node.orelse)]
    return []


def is_known(text):
    # A file is a kind of file that the same module names.
    whole = text in ("on", "on is on") or found_in(text) is not None
    return whole or any(mark in text and all(map(is_known, text.split(mark))) for mark in BREAKS)


def test_what_stops_a_crawl_or_leaves_out_an_address_is_known():
    unknown = []
    for file, call in calls(*FOLDERS):
        name = getattr(call.func, "id", "")
        reason = (
            call.args[:1] if name in RAISED else call.args[2:3] if name in ("ended", "UrlOutcome") else []
        )
        if name == "FetchError":
            reason = call.args[1:2]
        unknown += [(file.name, text) for one in reason for text in texts(one) if not is_known(text)]
    assert unknown == []


def test_what_a_crawl_would_do_with_an_address_is_known():
    findings = [call for _, call in calls("crawler") if getattr(call.func, "id", "") == "Finding"]
    assert {call.args[0].value for call in findings} == set(STEPS)
    unknown = [text for call in findings for text in texts(call.args[1]) if not is_known(text)]
    assert unknown == []


def test_what_operators_did_is_known():
    unknown = []
    for file, call in calls("admin", "server/commands", "server/api"):
        name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
        at = {
            "changed": 0,
            "_note": 1,
            "note": 1,
            "add": 1,
            "refused_access": 0,
            "failed": 1,
            "_do": 2,
            "_decided": 2,
        }.get(name)
        if at is None or (name == "add" and "audit" not in ast.unparse(call.func)):
            continue
        unknown += [
            (file.name, text) for one in call.args[at : at + 1] for text in texts(one) if not is_known(text)
        ]
    assert unknown == []


def test_what_the_audit_log_notes_of_a_change_has_words():
    names = set()
    for _, call in calls("admin", "server/commands", "server/api"):
        name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
        if name in ("changed", "_note", "note") or (name == "add" and "audit" in ast.unparse(call.func)):
            given = [key for one in call.args if isinstance(one, ast.Dict) for key in one.keys]
            names |= {one.arg for one in call.keywords} | {getattr(one, "value", None) for one in given}
    assert len(names) > 50
    assert names - set(DETAILS) - {None} == set()


def test_codes_are_names_of_pages_that_say_what_they_did(app):
    pages = {endpoint.removeprefix("admin.").replace("_", " ") for endpoint, _, _ in rules(app, "POST")}
    assert set(CODES) - pages == set()


NAMES_OF_FIGURES = re.compile(r"[a-z]+(@\d+|\d*_\w+)|bytes|f1|precision|recall|[a-z]*ness|hallucination|id")


def test_each_text_of_a_quality_report_is_known(report):  # noqa: F811
    careless = report_of(Evaluated("shop", "Shop", [with_unanswerable(run("hybrid", STRONG), 3)]))
    shown = []

    def say(text):
        shown.append(text)
        return text

    for one in (report, careless):
        html_report(one, say)
        markdown_report(one, say)
    fixed = {re.sub(r"[-+…\d.,:/ %n()]+", "", text) and text for text in shown} - {""}
    own = {run["name"] for one in (report, careless) for run in one["runs"]}
    assert len(fixed - own) > 60
    unknown = {text for text in fixed - own - set(KINDS) if not is_known(text)}
    assert {text for text in unknown if not NAMES_OF_FIGURES.fullmatch(text)} == set()


def test_a_quality_report_is_in_the_language_of_its_reader(report):  # noqa: F811
    with written_in("de"):
        page, text = html_report(report, report_text, "de"), markdown_report(report, report_text)
    assert '<html lang="de">' in page
    assert "0,500" in page
    assert "0.500" not in re.sub("<svg.*?</svg>", "", page)
    assert "+0,500" in text
    assert "hipporag, direct" in text


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("site create", "hat eine Website hinzugefügt"),
        ("status 503, asks to come back after 120", "Status 503, bittet um einen neuen Versuch nach 120"),
        ("nearly the same as https://a.example/b (97 %)", "fast gleich wie https://a.example/b (97 %)"),
        ("https://a.example/: status 404. Check the address in a browser.",
         "https://a.example/: Status 404. Prüfen Sie die Adresse in einem Browser."),
        ("pages: 5 indexed, 3 unchanged, 1 removed; sections: 9 new, 2 removed",
         "Seiten: 5 aufgenommen, 3 unverändert, 1 entfernt; Abschnitte: 9 neu, 2 entfernt"),
        ("2 of 7 test questions got worse: ndcg@10 fell from 0.912 to 0.701, and 3.0 points may be lost",
         "2 von 7 Testfragen wurden schlechter: ndcg@10 ist von 0,912 auf 0,701 gesunken, erlaubt sind 3,0 Punkte"),
        ("was refused: wrong password", "wurde abgelehnt: falsches Passwort"),
        ("error: no answer: the browser hung", "Fehler: keine Antwort: der Browser hing"),
        ('disallowed: status 200: its Content-Signal header says "ai-input=no"',
         'gesperrt: Status 200: ihr Header Content-Signal sagt „ai-input=no“'),
        ("OSError: no such file", "OSError: no such file"),
    ],
)  # fmt: skip
def test_a_stored_sentence_is_shown_in_the_language_of_its_reader(text, german):
    with written_in("de"):
        assert translated(text) == german
    assert translated(text) == CODES.get(text, text)
