"""Typing errors are mended by the words of the site, and nothing else is."""

import pytest

from server.domain.chunk import Chunk
from server.indexes.spelling import SiteSpeller
from server.indexes.words import SqlWordIndex
from server.storage.database import Database

TEXTS = [
    "Partition a table by month. A replication slot keeps old files on the server.",
    "The database holds a timestamp for each of the password changes.",
    "Create an index on an expression without blocking readers. Refresh a view.",
    "The connection is refused when too many clients are connected to the database.",
    "The cast of a value to another type. Every cast needs a function.",
    "Click which of the settings should receive a certificate; see max_connections.",
]
COMMON = frozenset({"cat", "cats", "value", "weather"})


def chunks(texts, language="en", copies=4):
    return [
        Chunk(f"{language}{copy}-{at}", "https://shop.example/", "", (), text, 0, language)
        for copy in range(copies)
        for at, text in enumerate(texts)
    ]


@pytest.fixture
def words(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/words.db")
    yield SqlWordIndex(database, "shop")
    database.close()


@pytest.fixture
def speller(words):
    words.add(chunks(TEXTS))
    return SiteSpeller(words, COMMON)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("replicaton", "replication"),  # a letter is missing
        ("pasword", "password"),
        ("databbase", "database"),  # one is too many
        ("certifikate", "certificate"),  # one is another
        ("tabel", "table"),  # two are swapped
        ("atble", "table"),
        ("expresion", "expression"),
        ("conection", "connection"),
        ("repplicaton", "replication"),  # two changes in a long word
        ("recieve", "receive"),
        ("indx", "index"),
        ("vew", "view"),
        ("xpression", "expression"),  # the first letter is missing
    ],
)
def test_a_typing_error_becomes_the_word_that_the_site_uses(speller, typed, meant):
    assert speller.correct(f"how to fix the {typed}?", "en") == f"how to fix the {meant}?"


@pytest.mark.parametrize(
    "text",
    [
        "how to partition tables",  # another form of a word that the site has
        "a cat is not a cast",
        "pictures of cats",  # common, though one letter from "cast"
        "set max_conections to 3",  # a name is matched as written
        "file tabel.txt or C:\\tabel",
        "kubernetes",  # resembles nothing
        "the TBLE",  # capitals are names
        "MyTabel",
        "xzq 10.2.3 --tabel",
        "这个数据库",
        "",
        "...",
    ],
)
def test_what_is_no_typing_error_stays_as_it_is(speller, text):
    assert speller.correct(text, "en") == text


def test_a_question_in_capitals_is_mended_too(speller):
    assert speller.correct("FIX THE TABEL", "en") == "FIX THE table"


def test_another_language_than_the_sites_is_left_alone(speller):
    question = "Quelle est la differance entre deux certificats"
    assert speller.correct(question, "fr") == question


def test_a_short_question_taken_for_another_language_is_mended_when_its_words_are_the_sites(speller):
    assert speller.correct("refresh view tabel index", "de") == "refresh view table index"


def test_words_written_apart_are_joined_as_the_site_joins_them(speller):
    assert speller.correct("which data base", "en") == "which database"
    assert speller.correct("time stamp of a change", "en") == "timestamp of a change"


@pytest.mark.parametrize(
    ("language", "page", "question", "searched"),
    [
        ("en", "Make a backup of the table.", "how do I back it up?", "how do I back it up backup?"),
        ("en", "The login needs a table.", "logging in", "logging in login"),
        ("en", "Anything else about a table.", "how do I back it up?", "how do I back it up?"),
        (
            "de",
            "Die Anmeldung steht in der Tabelle.",
            "wie melde ich mich an?",
            "wie melde ich mich an anmelde?",
        ),
        ("de", "Etwas anderes in der Tabelle.", "wie melde ich mich an?", "wie melde ich mich an?"),
    ],
)
def test_a_verb_and_its_particle_are_searched_as_the_word_of_the_site(
    words, language, page, question, searched
):
    words.add(chunks([page], language))
    assert SiteSpeller(words).correct(question, language) == searched


def test_words_written_together_are_parted_as_the_site_parts_them(speller):
    assert speller.correct("a replicationslot", "en") == "a replication slot"


def test_german_compounds_are_parted_at_their_joint(words):
    words.add(chunks(["Die Installation von Medien.", "Ein Medien-Paket, Installation der Pakete"], "de"))
    assert SiteSpeller(words).correct("Installationsmedien", "de") == "installation medien"


def test_a_german_word_that_may_be_right_is_not_made_another(words):
    words.add(chunks(["Die Abfrage heißt query und führt hinter das Ziel."], "de", copies=9))
    speller = SiteSpeller(words)
    for right in ("quer", "fährt", "hinüber"):
        assert speller.correct(f"was ist {right} dabei", "de") == f"was ist {right} dabei"


def test_words_that_left_the_site_mend_nothing_any_more(words):
    words.add(chunks(TEXTS))
    speller = SiteSpeller(words)
    assert speller.correct("certifikate", "en") == "certificate"
    words.remove([chunk.id for chunk in chunks(TEXTS) if "certificate" in chunk.text])
    assert speller.correct("certifikate", "en") == "certifikate"


def test_a_word_is_mended_as_soon_as_the_site_has_it(words):
    speller = SiteSpeller(words)
    words.add(chunks(TEXTS))
    assert speller.correct("halyrad", "en") == "halyrad"
    words.add(chunks(["The halyard is made of rope."], copies=2)[1:])
    assert speller.correct("halyrad", "en") == "halyard"


def test_accents_are_no_typing_errors(words):
    words.add(chunks(["La información sobre la instalación y la configuración"], "es"))
    assert SiteSpeller(words).correct("informacion de instalacoin", "es") == "informacion de instalación"


def test_the_sites_own_typing_error_is_searched_beside_the_right_word(words):
    words.add(chunks(TEXTS, copies=40))
    words.add(chunks(["The databse is wrong here."], "en", copies=41)[40:])
    assert SiteSpeller(words).correct("my databse", "en") == "my databse database"


def test_a_question_with_typing_errors_finds_what_the_right_one_finds(speller, words):
    mended = speller.correct("replicaton slto keeps old fles", "en")
    assert words.search(mended, 3) == words.search("replication slot keeps old files", 3)
