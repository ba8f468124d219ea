"""Words that the site never uses are searched as what it says instead."""

import pytest

from server.answering.trace import Trace
from server.answering.understanding.steps import understand
from server.answering.understanding.synonyms import SynonymStep
from server.domain.answer import Answer, Outcome
from server.domain.question import Question
from server.indexes.tokens import tokens
from server.indexes.words import SqlWordIndex
from server.languages.loader import languages
from server.retrieval.rarity import Rarity
from tests.equal_words import EqualWords


class Words(EqualWords):
    """A word index of a site that uses these tokens."""

    def __init__(self, **used):
        self._used = used

    def document_frequencies(self, tokens):
        return {token: self._used.get(token, 0) for token in tokens}


def searched(text, language="en", **used):
    step = SynonymStep(Rarity(Words(**used)))
    return understand(Question(text, "shop", language=language), [step], Trace()).text


def test_the_site_s_word_is_searched_for_one_that_it_never_uses():
    assert searched("is there a cab to the mill?", taxi=3, mill=1) == "is there a taxi to the mill?"
    assert searched("Cabs?", taxi=3) == "taxi?"


@pytest.mark.parametrize(
    ("spoken", "asked", "used", "searched_for"),
    [
        ("de", "gibt es eine spendenquittung?", "spendenbestat", "gibt es eine Spendenbestätigung?"),
        ("fr", "une appli pour les moulins", "appliqu", "une application pour les moulins"),
        ("es", "¿hay chamba en el molino?", "emple", "¿hay empleo en el molino?"),
    ],
)
def test_visitors_words_in_other_languages_become_the_site_s(spoken, asked, used, searched_for):
    assert searched(asked, spoken, **{used: 3}) == searched_for


def test_a_word_of_the_site_stays_also_if_the_site_has_others_for_it():
    assert searched("is there a cab", cab=1, taxi=30) == "is there a cab"


def test_words_that_the_site_has_no_other_for_stay():
    assert searched("is there a cab or a zebra", mill=1) == "is there a cab or a zebra"


def test_of_several_words_the_one_that_the_site_uses_most_is_searched():
    assert searched("the loo", toilet=2, restroom=9) == "the restroom"
    assert searched("the loo", toilet=9, restroom=2) == "the toilet"


def test_phrases_of_several_words_are_replaced_and_are_replacements():
    assert searched("my money back please", refund=4, my=1) == "my refund please"


def test_the_words_of_a_known_phrase_are_not_replaced_one_by_one():
    assert searched("a gift voucher", donat=3, coupon=3) == "a gift voucher"
    assert searched("a gift voucher", card=3, gift=3) == "a gift card"
    assert searched("a gift, or a voucher", donat=3, coupon=3) == "a donation, or a coupon"


def test_a_phrase_is_not_taken_for_the_one_word_of_it_that_is_searched():
    assert searched("which person", face=4) == "which person", "in person, face to face"
    assert searched("daycare, anyone", child=4, care=2) == "child care, anyone"


@pytest.mark.parametrize(
    ("text", "language", "used", "found"),
    [
        ("Gibt es eine Kita?", "de", {"kinderbetreu": 2}, "Gibt es eine Kinderbetreuung?"),
        ("il y a un ascenseur ou un portable ?", "fr", {"mobil": 2}, "il y a un ascenseur ou un mobile ?"),
        ("hur mår cab", "sv", {"taxi": 2}, "hur mår cab"),
    ],
)
def test_each_language_has_its_own_words(text, language, used, found):
    assert searched(text, language, **used) == found


@pytest.mark.parametrize(
    ("spoken", "asked", "used"),
    [
        ("fr", "Où est la gare ?", "stationnement"),
        ("fr", "Est-ce important de venir ?", "téléverser"),
        ("fr", "Qui sont les candidats ?", "postuler"),
        ("fr", "qui peut gagner", "lauréat"),
        ("fr", "retirer mon dossard", "supprimer"),
        ("fr", "au début", "novice"),
        ("de", "Womit beschäftigt sich der Verein?", "Mitarbeiter"),
        ("de", "Was kann man in der Stadt unternehmen?", "Firma"),
        ("de", "Kenntnisse erwerben", "kaufen"),
        ("de", "Wie bilde ich den Plural", "Foto"),
        ("de", "vom Kurs abmelden", "abbestellen"),
        ("de", "gibt es veganes Essen", "vegetarisch"),
        ("es", "el fallo del jurado", "error"),
        ("es", "¿Cómo se aplica la norma?", "app"),
        ("es", "¿hay apuntes?", "inscribirse"),
        ("es", "comprobar el pago", "justificante"),
        ("es", "¿Qué tallas hay?", "workshop"),
        ("es", "tengo sed", "recinto"),
        ("es", "¿Quedan plazas?", "fecha límite"),
        ("es", "¿Quién trabaja aquí?", "curro"),
        ("es", "cuánto vale la entrada", "cupón"),
        ("fr", "Comment je paie ?", "salaire"),
        ("fr", "Où est la cour ?", "formation"),
        ("de", "Kann ich Fragen stellen?", "Job"),
        ("de", "Wo kann ich drucken?", "Printer"),
        ("en", "vegan food", "vegetarian"),
    ],
)
def test_other_words_of_a_stem_and_words_that_mean_something_else_too_stay(spoken, asked, used):
    site = {token: 3 for token in tokens(used, spoken)}
    assert searched(asked, spoken, **site) == asked


@pytest.mark.parametrize(
    ("spoken", "asked", "used", "searched_for"),
    [
        ("fr", "les lauréats", "gagnant", "les gagnant"),
        ("de", "Ist das Foto frei?", "Bild", "Ist das Bild frei?"),
        ("de", "gibt es Vorträge?", "Talk", "gibt es Talk?"),
        ("de", "wer spendet", "unterstützen", "wer unterstützen"),
        ("es", "comida vegetariana", "vegano", "comida vegano"),
        ("es", "¿Cómo puedo apuntarme?", "inscribirse", "¿Cómo puedo inscribirse?"),
        ("es", "¿Cómo borro mi cuenta?", "eliminar", "¿Cómo eliminar mi cuenta?"),
        ("fr", "je supprime mon compte", "enlever", "je enlever mon compte"),
    ],
)
def test_forms_of_a_word_are_replaced_as_the_word(spoken, asked, used, searched_for):
    site = {token: 3 for token in tokens(used, spoken)}
    assert searched(asked, spoken, **site) == searched_for


def test_every_group_of_a_language_names_several_words():
    for code, one in languages().items():
        for group in one.synonyms.groups:
            phrases = group.split(", ")
            assert len(set(phrases)) == len(phrases) > 1, f"{code}: {group}"


def test_a_question_in_other_words_than_the_site_s_is_answered(shop):
    steps = [SynonymStep(Rarity(SqlWordIndex(shop.database, "shop")))]
    events = shop.pipeline(understanding=steps).answer(
        Question("how long is the guarantee of a lantern", "shop", language="en")
    )
    *_, answer = events
    assert isinstance(answer, Answer)
    assert answer.outcome is Outcome.ANSWERED
    assert any("warranty" in citation.quote.lower() for citation in answer.citations)
