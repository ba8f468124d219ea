"""The widget's own words."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from server.answering.phrases import Phrase, say

TEXTS = Path(__file__).parents[2] / "widget" / "src" / "texts"
LANGUAGES = sorted(path.stem for path in TEXTS.glob("*.js"))
ROW = re.compile(r'^  (\w+): "((?:[^"\\]|\\.)+)",$', re.MULTILINE)


def rows(language):
    return dict(ROW.findall((TEXTS / f"{language}.js").read_text(encoding="utf-8")))


def test_ten_languages_are_spoken_and_known_to_the_element_and_the_loader():
    assert sorted(["en", "zh", "ja", "ko", "es", "fr", "de", "pt", "ru", "ar"]) == LANGUAGES
    element = (TEXTS.parent / "site-chat.js").read_text(encoding="utf-8")
    assert sorted(re.search(r"SPOKEN = /\^\(([a-z|]+)\)", element)[1].split("|")) == LANGUAGES
    loader = (TEXTS.parents[1] / "embed.js").read_text(encoding="utf-8")
    assert sorted(re.findall(r'^    (\w\w): "', loader, re.MULTILINE)) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_exists_in_every_language(language):
    assert rows(language).keys() == rows("en").keys()
    if language != "en":
        same = [key for key, text in rows(language).items() if text == rows("en")[key]]
        assert len(same) <= 2, f"not translated: {same}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_widget_says_that_an_assistant_answers_before_the_server_does(language):
    assert rows(language)["about"] == say(Phrase.ASSISTANT, language)


def test_every_language_has_a_note_of_what_its_texts_say():
    notes = tomllib.loads(Path(__file__).with_name("back_translations.toml").read_text("utf-8"))
    assert sorted([*notes, "en"]) == LANGUAGES
    for language, note in notes.items():
        assert {*note["changed"], *note["says"]} <= rows(language).keys(), language
        assert note["address"]


def test_every_text_is_used():
    code = "".join(path.read_text(encoding="utf-8") for path in TEXTS.parent.glob("*.js"))
    told = {"offline", "failed", "cut", "limited", "refused", "long", "insecure"}
    unused = [key for key in rows("en") if key not in told and not re.search(rf"texts\.{key}\b", code)]
    assert unused == []


def test_every_kind_of_failure_has_a_text():
    code = (TEXTS.parent / "conversation.js").read_text(encoding="utf-8")
    assert set(re.findall(r'"(offline|failed|cut|limited|refused|long|insecure)"', code)) <= rows("en").keys()
