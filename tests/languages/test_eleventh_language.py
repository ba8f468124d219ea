"""Another language is one new file: the example of docs/extending.md works without any change of the code."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from server.languages import loader

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"^```toml\n(# server/languages/sv\.toml.*?)^```", GUIDE, re.M | re.S)
ASKED = """
import json, sys
from pathlib import Path
from server.languages import loader
loader.FOLDER = Path(sys.argv[1])
from server.answering.verifying.dates import dates
from server.answering.verifying.amounts import amounts
from server.answering.understanding.glossary import look_up, words
from server.answering.understanding.language import question_language
from server.answering.phrases import Phrase, languages, refusal, say
from server.answering.verifying.polarity import flips
from server.answering.understanding.reference import leaning
from server.answering.understanding.routing import read
from server.indexes.tokens import tokens

[found] = look_up("Var är mina paket?", "sv")
print(json.dumps({
    "languages": "sv" in languages(),
    "refusal": refusal("sv", "Lampor")[0],
    "missing text": say(Phrase.THANKS, "sv", "Lampor"),
    "greeting": [read("Hej!", "sv").kind, read("God morgon", "en").language, read("Hej, var är lampan?", "sv").text],
    "stop words": tokens("Var är lamporna och bordet?", "sv"),
    "detected": question_language("Hur byter jag lampan och bordet?", "en"),
    "wished": question_language("How do I change it? Svara på svenska", "en"),
    "date": sorted(dates("den 3 maj 2024")[0][1]),
    "amount": [amounts("två veckor")[0].unit, sorted(amounts("två veckor")[0].values)],
    "negation": flips("Lampan är inte tät.", "Lampan är tät.", "sv"),
    "follow-up": leaning("och bordet?", "sv"),
    "glossary": [word for concept in found.concepts for word in words(concept, "en")],
}))
"""


def with_file(tmp_path, text):
    """The shipped languages and one more."""
    folder = shutil.copytree(
        loader.FOLDER, tmp_path / "languages", ignore=shutil.ignore_patterns("*.py", "__*")
    )
    (folder / "sv.toml").write_text(text, encoding="utf-8")
    return folder


def test_one_file_adds_a_language(tmp_path):
    folder = with_file(tmp_path, EXAMPLE)
    command = [sys.executable, "-c", ASKED, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "languages": True,
        "refusal": "Jag hittade inget svar på det på Lampor.",
        "missing text": "You're welcome! Is there anything else you would like to know about Lampor?",
        "greeting": ["greeting", "sv", "var är lampan?"],
        "stop words": ["lamp", "bordet"],
        "detected": "sv",
        "wished": "sv",
        "date": [[2024, 5, 3]],
        "amount": ["week", [2.0]],
        "negation": True,
        "follow-up": "goes on",
        "glossary": ["parcel", "package"],
    }


NAMED = """
import sys
from pathlib import Path
from server.languages import loader
loader.FOLDER = Path(sys.argv[1])
from server.answering.understanding.question_words import names
print(names("Kan jeg laane en Cykel med GPS?", "sv"))
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "['Cykel', 'GPS']"), ("[writing]\ncapital_nouns = true", "['GPS']")],
    ids=["capitals are names", "nouns have capitals"],
)
def test_a_file_says_whether_nouns_have_capitals(tmp_path, text, found):
    command = [sys.executable, "-c", NAMED, str(with_file(tmp_path, text))]
    assert (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip() == found
    )


def test_every_pattern_of_the_shipped_files_is_a_regular_expression():
    loader.check()


def test_each_concept_of_a_glossary_has_english_words():
    known = set(loader.language("en").glossary)
    for code, one in loader.languages().items():
        assert set(one.glossary) <= known, code


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[courtesies]\ngreting = 'hej'", "sv.toml: courtesies.greting is not a known key"),
        ("[greetings]\nhello = 'hej'", "sv.toml: greetings is not a known key"),
        ("[stop_words]\nsearch = 3", "sv.toml: stop_words.search must be text or a list of texts"),
        ("[writing]\nrank = 'first'", "sv.toml: writing.rank must be a whole number"),
        ("writing = 1", "sv.toml: writing must be a table"),
        ("glossary = 'paket'", "sv.toml: glossary must be a table"),
        ("[questions]\ncompared = 'a'", "sv.toml: questions.compared must be a list"),
        ("[[commands.families]]\nbegins = 'igno'", "sv.toml: commands.families[0].pattern is missing"),
        ("[courtesies", "sv.toml: "),
        (
            "[courtesies]\ngreeting = '(hej'",
            "sv.toml: courtesies.greeting is not a regular expression: missing )",
        ),
        ("[dates]\nmonths = ['januari']", "sv.toml: dates.months must have 12 texts"),
        (
            "[texts]\nrefused = 'Inget på {name}'",
            "sv.toml: texts.refused holds {name}; only {title} is filled in",
        ),
    ],
)
def test_a_wrong_file_is_one_error_that_names_file_and_key(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(loader, "FOLDER", with_file(tmp_path, text))
    loader.languages.cache_clear()
    try:
        with pytest.raises(loader.LanguageFileError, match=re.escape(message)):
            loader.compiled(loader.alternatives(lambda one: one.courtesies.greeting))
    finally:
        loader.languages.cache_clear()
