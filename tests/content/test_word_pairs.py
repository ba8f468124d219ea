"""Pages in two languages teach a site's own translations, which questions in the other language are searched by."""

import pytest

from server.answering.understanding.steps import Understanding
from server.answering.understanding.translation import GlossaryStep
from server.domain.question import Query, Question
from server.indexing.word_pairs import pairs_of, stored_word_pairs
from server.retrieval.rarity import Rarity
from server.storage.content.derived import DerivedStore

BLOCKS = [
    ("Der Leuchtturm ist im Sommer geöffnet.", "The lighthouse is open in summer."),
    ("Steigen Sie mit uns auf den Leuchtturm.", "Climb the lighthouse with us."),
    ("Der Leuchtturm leuchtet in der Nacht.", "The lighthouse shines at night."),
    ("Die Werft baut Boote aus Holz.", "The shipyard builds boats of wood."),
    ("Die Führung durch die Werft beginnt um zehn.", "The tour of the shipyard begins at ten."),
    ("Am Montag ist die Werft geschlossen.", "On Monday the shipyard is closed."),
    ("Das Museum liegt am alten Hafen.", "The museum lies at the old port."),
    ("Im Hafen ankert ein Feuerschiff.", "A lightship is anchored in the port."),
]
PATHS = ("/lights", "/lichter", "/yard", "/bau")


def test_words_that_translate_each_other_are_pairs():
    found = pairs_of(BLOCKS, "de", "en")
    assert {word: found.get(word) for word in ("leuchtturm", "werft", "haf")} == {
        "leuchtturm": "lighthouse",
        "werft": "shipyard",
        "haf": "port",
    }


def test_a_word_of_a_single_block_has_no_pair():
    assert "feuerschiff" not in pairs_of(BLOCKS, "de", "en")


def test_pairs_of_a_script_without_spaces_are_its_pairs_of_characters():
    blocks = [
        ("登记截止日期", "Registration deadline"),
        ("网上登记", "Online registration"),
        ("邮寄登记", "Registration by mail"),
    ]
    assert pairs_of(blocks, "zh", "en")["登记"] == "registration"


@pytest.fixture
def museum(shop):
    """A museum with two pages in two languages, and one in English alone."""

    def page(path, other, language, title, blocks):
        links = "".join(
            f"<link rel='alternate' hreflang='{code}' href='{link}'>"
            for code, link in ((language, path), ({"en": "de", "de": "en"}[language], other))
        )
        text = "".join(f"<p>{block}</p>" for block in blocks)
        menu = "".join(f"<a href='{link}'>{link}</a>" for link in (*PATHS, "/canteen"))
        shop.website.files[path] = (
            "text/html; charset=utf-8",
            f"<!doctype html><html lang='{language}'><head><title>{title}</title>{links}</head><body>"
            f"<nav>{menu}</nav><main><h1>{title}</h1>{text}</main></body></html>".encode(),
        )

    for (english, german), blocks in (((PATHS[0], PATHS[1]), BLOCKS[:3]), ((PATHS[2], PATHS[3]), BLOCKS[3:])):
        page(german, english, "de", "Das Museum am Hafen", [block for block, _ in blocks])
        page(english, german, "en", "The museum at the port", [block for _, block in blocks])
    canteen = "<p>The canteen of the shipyard serves soup to the visitors of the lighthouse every day.</p>"
    shop.set_page("/canteen", "Canteen", canteen)
    shop.set_page("/", "Museum", "".join(f"<p>See <a href='{path}'>{path}</a>.</p>" for path in PATHS))
    shop.crawl()
    return shop


def test_a_crawl_stores_the_pairs_of_a_site_in_two_languages(museum):
    stored = stored_word_pairs(DerivedStore(museum.runtime.database, "shop"))
    assert stored["de"]["leuchtturm"] == "lighthouse"
    assert stored["de"]["werft"] == "shipyard"


def test_the_meaning_of_a_question_is_that_of_the_sites_own_words(museum):
    pipeline = museum.runtime.engine.pipeline(museum.runtime.stores.sites.get("shop"))
    query = pipeline.rewrite(Question("Suppe in der Werft beim Leuchtturm", "shop", (), "de"))
    assert "Werft" in query.text  # the words are searched as they are: German pages have them
    assert {"shipyard", "lighthouse"} <= set(query.meaning.split())


def test_a_site_in_one_language_has_no_pairs(shop):
    shop.crawl()
    assert stored_word_pairs(DerivedStore(shop.runtime.database, "shop")) == {}


def translated(museum, text, language, pairs):
    words = museum.runtime.engine.parts("shop").words
    glossary = GlossaryStep(
        Rarity(words), "en", lambda: frozenset({"en"}), words.vocabulary, pairs=lambda: pairs
    )
    so_far = Understanding(Question(text, "shop", (), language), Query(text, language))
    return glossary.apply(so_far).query


def test_a_question_in_a_language_of_few_pages_is_translated_by_them(museum):
    stored = stored_word_pairs(DerivedStore(museum.runtime.database, "shop"))
    query = translated(museum, "Werft beim Leuchtturm", "de", stored)
    assert query.language == "en"
    assert {"shipyard", "lighthouse"} <= set(query.text.split())


def test_a_word_like_one_of_another_language_of_the_site_gets_its_translation(museum):
    query = translated(museum, "Feuerschif", "nl", {"de": {"feuerschiff": "lightship"}})
    assert query.text == "lightship"
