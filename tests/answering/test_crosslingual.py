import json

import pytest

from server.answering.trace import Trace
from server.answering.understanding.follow_ups import FollowUpStep
from server.answering.understanding.glossary import languages, look_up, words
from server.answering.understanding.steps import Understanding, understand
from server.answering.understanding.translation import GlossaryStep, ModelTranslationStep
from server.domain.question import Query, Question
from server.indexes.vocabulary import Vocabulary, pack
from server.languages.loader import language


def searched(shop, text, language, site_language="en", spoken=("en",)):
    glossary = GlossaryStep(shop.rarity, site_language, lambda: frozenset(spoken))
    steps = [FollowUpStep("Lantern Shop", "never"), glossary]
    return understand(Question(text, "shop", (), language), steps, Trace())


def test_every_concept_has_a_word_in_thirteen_languages():
    assert languages() == {"en", "zh", "ja", "ko", "es", "fr", "de", "pt", "ru", "ar", "it", "nl", "pl"}
    for concept in language("en").glossary:
        assert all(all(words(concept, code)) and words(concept, code) for code in languages()), concept


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Was kostet die Lieferung?", "de"),
        ("Combien coûte la livraison ?", "fr"),
        ("¿Cuánto cuesta la entrega?", "es"),
        ("Quanto custa a entrega?", "pt"),
        ("Сколько стоит доставка?", "ru"),
        ("配送费用是多少？", "zh"),
        ("配送料金はいくらですか", "ja"),
        ("배송 비용은 얼마예요?", "ko"),
        ("كم تكلفة التوصيل؟", "ar"),
    ],
)
def test_a_question_in_another_language_finds_the_page(shop, text, language):
    query = searched(shop, text, language)
    assert query.language == "en"
    assert "delivery" in query.text
    assert shop.strategy.retriever.retrieve(query, 3)[0].chunk.id == "delivery"


def test_the_word_is_taken_that_the_site_uses(shop):
    assert "parcel" in searched(shop, "Wo ist mein Paket?", "de").text.lower()


@pytest.mark.parametrize(
    ("word", "language", "concepts"),
    [
        ("Rückgabefrist", "de", [("return",), ("deadline",)]),
        ("Buchungsnummer", "de", [("appointment",), ("number",)]),
        ("lidmaatschapskosten", "nl", [("membership",), ("price",)]),
        ("Prüfungsgebühr", "de", [("fee",)]),
        ("Innenstadt", "de", [("city",)]),
        ("ungefähr", "de", []),
        ("Luxemburg", "de", []),
    ],
)
def test_the_known_parts_of_a_compound_are_understood(word, language, concepts):
    assert [found.concepts for found in look_up(word, language)] == concepts


def test_names_and_code_stay_as_they_are(shop):
    assert "lamp-driver.exe" in searched(shop, "Как установить lamp-driver.exe?", "ru").text


@pytest.mark.parametrize(
    ("text", "language", "unknown"),
    [
        ("Was kostet ein Flusspferd?", "de", "Flusspferd"),
        ("如何做红烧肉？", "zh", "红烧肉"),
        ("Сколько стоит борщ?", "ru", "борщ"),
        ("Quanto costa il basilico?", "it", "basilico"),
    ],
)
def test_words_that_are_not_understood_are_searched_and_not_embedded(shop, text, language, unknown):
    query = searched(shop, text, language)
    assert unknown in query.text
    assert unknown not in query.searched_text


def test_a_question_without_a_known_word_stays_as_it_is(shop):
    query = searched(shop, "Xylophon Quark Zebra?", "de")
    assert (query.text, query.language) == ("Xylophon Quark Zebra?", "de")


def test_an_embedder_that_reads_the_question_gets_it_as_it_was_asked(shop):
    glossary = GlossaryStep(shop.rarity, "en", lambda: frozenset({"en"}), reads=frozenset())
    so_far = Understanding(
        Question("Was kostet die Lieferung?", "shop", (), "de"), Query("Was kostet die Lieferung?", "de")
    )
    query = glossary.apply(so_far).query
    assert query.searched_text == "Was kostet die Lieferung?"
    assert "delivery" in query.text


def test_of_several_languages_of_a_site_the_one_is_searched_that_the_embedder_reads(shop):
    query = searched(shop, "Was kostet die Lieferung?", "de", site_language="es", spoken=("es", "en"))
    assert query.language == "en"


@pytest.mark.parametrize(
    ("word", "sounds_like"),
    [
        ("テキサス", "texas"),
        ("텍사스", "texas"),
        ("تكساس", "texas"),
        ("невада", "nevada"),
        ("registración", "registration"),
        ("universität", "university"),
        ("elektronik", "electronics"),
    ],
)
def test_a_word_of_another_language_is_the_word_of_the_site_that_sounds_like_it(word, sounds_like):
    site = Vocabulary(
        pack(["texas", "nevada", "registration", "university", "electronics", "violin", "tickets"])
    )
    assert max(site.cognates(word), key=lambda hit: hit[1])[0] == sounds_like


@pytest.mark.parametrize("word", ["берлин", "cucina", "カメラ", "haus"])
def test_a_word_that_sounds_unlike_every_word_of_the_site_has_no_cognate(word):
    assert Vocabulary(pack(["violin", "cosine", "texas", "hour"])).cognates(word) == []


def test_a_question_in_the_language_of_the_site_is_left_alone(shop):
    assert searched(shop, "Was kostet die Lieferung?", "de", site_language="de").language == "de"


def test_a_question_in_one_of_several_languages_of_the_site_is_left_alone(shop):
    assert searched(shop, "Was kostet die Lieferung?", "de", spoken=("en", "de")).language == "de"


def test_a_compound_is_known_by_its_last_part():
    assert (
        look_up("Wo finde ich die Versandrechnung?", "de")[-1].concepts
        == look_up("Rechnung", "de")[0].concepts
    )


def test_with_a_model_the_question_is_translated_as_a_whole(shop, chat_model, model_server):
    model_server.script = lambda body: json.dumps({"question": "What does delivery cost?"})
    glossary = GlossaryStep(shop.rarity, "en", lambda: frozenset({"en"}))
    translation = ModelTranslationStep(chat_model, glossary, shop.incidents)

    def searched_as(text):
        steps = [FollowUpStep("Lantern Shop", "never"), translation]
        return understand(Question(text, "shop", (), "de"), steps, Trace())

    query = searched_as("Was muss ich für den Versand hinlegen?")
    assert (query.text, query.language) == ("What does delivery cost?", "en")
    model_server.script = lambda body: "sorry"
    assert "delivery" in searched_as("Was kostet die Lieferung?").text
