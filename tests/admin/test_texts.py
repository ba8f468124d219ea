"""The texts of the dashboard: English on the pages, the other languages in catalogues that are complete."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from admin.texts import FOLDER, LANGUAGES, language, ngettext, written_in
from tests.admin.conftest import Browser

ROOT = Path(__file__).parents[2]
OTHERS = sorted(set(LANGUAGES) - {"en"})
VALUE = re.compile(r"%\(\w+\)\w")
TAG = re.compile(r"</?\w+[^>]*>")


def forms(message):
    """((English, translation), ...) of each form of number."""
    one, other = message.id, message.string
    return [(one, other)] if isinstance(one, str) else list(zip(one, other, strict=True))


def key(message):
    return message.id if isinstance(message.id, str) else tuple(message.id)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Every text of the dashboard, as `make texts` finds them."""
    file = tmp_path_factory.mktemp("texts") / "messages.pot"
    command = [sys.executable, "-m", "babel.messages.frontend", "--quiet", "extract", "--mapping", "pyproject.toml",
               "--keywords", "lazy", "--output", str(file), "admin"]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    with file.open("rb") as opened:
        return {key(message) for message in read_po(opened) if message.id}


@pytest.fixture(scope="module", params=OTHERS)
def catalogue(request):
    with (FOLDER / f"{request.param}.po").open("rb") as file:
        return [message for message in read_po(file, locale=request.param) if message.id]


def test_a_catalogue_has_each_text_and_no_other(catalogue, said):
    translated = {key(message) for message in catalogue if all(other for _, other in forms(message))}
    assert said - translated == set(), "run make texts, and translate what is new"
    assert {key(message) for message in catalogue} - said == set(), "run make texts"


def test_a_translation_keeps_values_and_markup(catalogue):
    for message in catalogue:
        for english, other in forms(message):
            kept = set(VALUE.findall(other)), Counter(TAG.findall(other))
            wanted = set(VALUE.findall(english)), Counter(TAG.findall(english))
            # The form for one thing may leave the number out.
            assert kept[0] <= set(VALUE.findall(str(message.id))), other
            assert wanted[0] - {"%(num)s"} <= kept[0], other
            assert kept[1] == wanted[1], other


def test_a_text_names_a_field_or_a_page_as_it_is_labelled(catalogue):
    said = [pair for message in catalogue for pair in forms(message)]
    labels = {english.partition(":")[0]: other.partition(":")[0] for english, other in said}
    labels |= dict(said)
    wrong = {
        (named, other)
        for english, other in said
        for named in (*re.findall(r"“([A-Z][^”%]+)”", english), *re.findall(r"Settings, ([A-Z]\w+)", english))
        if named in labels and labels[named].rstrip(".") not in other
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("asks", "code", "word"),
    [
        ("de-AT,de;q=0.9", "de", "Übersicht"),
        ("es", "es", "Resumen"),
        ("fr", "en", "Overview"),
        ("", "en", "Overview"),
    ],
)
def test_the_language_is_what_the_browser_asks_for(operator, asks, code, word):
    page = operator.get("/admin/", headers={"Accept-Language": asks}).text
    assert f'<html lang="{code}">' in page
    assert f"<h1>{word}</h1>" in page


def test_a_person_chooses_another_language(operator, app):
    answer = operator.send(
        "/admin/account", {"language": "de"}, "/admin/account/language", follow_redirects=True
    )
    assert "<h1>Mein Konto</h1>" in answer.text
    assert '<html lang="de">' in operator.get("/admin/sites", headers={"Accept-Language": "es"}).text
    assert '<html lang="es">' in Browser(app).get("/admin/login", headers={"Accept-Language": "es"}).text
    answer = operator.send("/admin/account", {"language": "tlh"}, "/admin/account/language")
    assert answer.status_code == 422


def test_a_letter_is_in_the_language_of_its_reader():
    assert language() == "en"
    with written_in("de"):
        assert ngettext("question", "questions", 2) == "Fragen"
        with written_in("nonsense"):
            assert language() == "en"
        assert language() == "de"
    assert language() == "en"
