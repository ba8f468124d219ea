import pytest

from server.answering.phrases import Phrase, refusal, say
from server.answering.understanding.language import question_language, requested_language
from server.languages.detector import text_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I return a lamp?", "en"),
        ("Wie kann ich die Lampe zurückgeben?", "de"),
        ("Comment puis-je retourner la lampe ?", "fr"),
        ("¿Cómo puedo devolver la lámpara?", "es"),
        ("Como posso devolver a minha lâmpada?", "pt"),
        ("Как вернуть лампу?", "ru"),
        ("如何退回灯具？", "zh"),
        ("ランプを返品するにはどうすればよいですか", "ja"),
        ("램프를 어떻게 반품하나요?", "ko"),
        ("كيف أعيد المصباح؟", "ar"),
    ],
)
def test_a_question_is_known_by_its_script_or_its_function_words(text, language):
    assert question_language(text) == language


@pytest.mark.parametrize("text", ["SSL_ERROR_42", "max_connections", "12345", "", "???"])
def test_a_question_that_tells_nothing_is_in_the_language_of_the_site(text):
    assert question_language(text, fallback="de") == "de"


def test_a_foreign_name_in_a_question_does_not_change_its_language():
    assert question_language("Who wrote 吾輩は猫 for the lantern shop and where is it sold?") == "en"


@pytest.mark.parametrize(
    ("text", "language", "site"),
    [
        ("opening hours", "en", "de"),
        ("Passwort vergessen", "de", "en"),
        ("mot de passe oublié", "fr", "en"),
        ("precio", "es", "en"),
        ("preço", "pt", "en"),
        ("退货", "zh", "en"),
        ("返品方法", "ja", "ja"),
        ("退货政策", "zh", "ja"),
        ("max_connections erhöhen", "de", "en"),
        ("wie SELECT ohne WHERE", "de", "en"),
        ("run perl cgi scripts outside cgi-bin", "en", "en"),
        ("VACUUM FULL", "de", "de"),
    ],
)
def test_a_few_words_tell_the_language_and_code_does_not(text, language, site):
    assert question_language(text, site) == language


@pytest.mark.parametrize(
    ("text", "wanted", "rest"),
    [
        ("How do I return a lamp? Please answer in German", "de", "How do I return a lamp?"),
        ("Was ist ein Index? Bitte auf Englisch", "en", "Was ist ein Index?"),
        ("répondez en espagnol : où est mon colis ?", "es", "où est mon colis ?"),
        ("¿Cómo creo una tabla? responde en inglés", "en", "¿Cómo creo una tabla?"),
        ("responda em alemão: como crio um índice", "de", "como crio um índice"),
        ("Что такое индекс? ответь на английском", "en", "Что такое индекс?"),
        ("用英语回答：什么是索引？", "en", "什么是索引？"),
        ("インデックスとは？英語で答えてください", "en", "インデックスとは？"),
        ("인덱스가 뭐예요? 영어로 답해 주세요", "en", "인덱스가 뭐예요?"),
        ("ما هو الفهرس؟ أجب بالإنجليزية", "en", "ما هو الفهرس؟"),
    ],
)
def test_a_wish_for_a_language_is_honoured(text, wanted, rest):
    assert requested_language(text) == (wanted, rest)
    assert question_language(text) == wanted
    assert text_language(rest) != wanted


@pytest.mark.parametrize(
    "text",
    ["what is the German VAT rate", "Is the manual available in German?", "translate text in German corpora"],
)
def test_a_question_about_a_language_is_no_wish_for_it(text):
    assert requested_language(text) == ("", text)


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko", "es", "fr", "de", "pt", "ru", "ar"])
def test_everything_that_docent_says_itself_is_said_in_ten_languages(language):
    texts = [say(what, language, "Lantern Shop") for what in Phrase] + list(refusal(language, "Lantern Shop"))
    assert all(texts)
    assert any("Lantern Shop" in text for text in texts)
    if language != "en":
        assert not {say(what, "en", "Lantern Shop") for what in Phrase}.intersection(texts)
