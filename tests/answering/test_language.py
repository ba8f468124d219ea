import pytest

from server.answering.language import question_language


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
