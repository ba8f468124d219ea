import pytest

from server.answering.understanding.routing import Kind, is_small_talk, read

ALIKE = {
    Kind.GREETING: ["Hello!", "你好", "こんにちは", "안녕하세요", "¡Hola!", "Bonjour", "Guten Tag", "Olá", "Здравствуйте", "مرحبا"],
    Kind.THANKS: ["Thanks a lot!", "谢谢", "ありがとうございます", "감사합니다", "Muchas gracias", "Merci beaucoup", "Vielen Dank", "Muito obrigado", "Спасибо", "شكرا"],
    Kind.GOODBYE: ["Bye!", "再见", "さようなら", "안녕히 계세요", "Hasta luego", "Au revoir", "Auf Wiedersehen", "Até logo", "До свидания", "مع السلامة"],
    Kind.IDENTITY: ["Are you a bot?", "你是机器人吗？", "あなたは誰ですか", "누구세요?", "¿Quién eres?", "Qui êtes-vous ?", "Wer bist du?", "Quem é você?", "Ты кто?", "من أنت؟"],
    Kind.PERSON: [
        "Can I talk to a human?", "转人工", "担当者と話したいです", "상담원 연결해 주세요", "¿Puedo hablar con una persona?", "Puis-je parler à un humain ?",
        "Kann ich mit einem Menschen sprechen?", "Quero falar com um atendente", "Можно поговорить с человеком?", "أريد التحدث مع موظف",
    ],
    Kind.OVERVIEW: [
        "What is this site about?", "这个网站是做什么的？", "このサイトは何についてのサイトですか？", "이 사이트는 뭐 하는 곳이에요?", "¿De qué trata este sitio?",
        "De quoi parle ce site ?", "Worum geht es auf dieser Website?", "Do que se trata este site?", "О чём этот сайт?", "عن ماذا يتحدث هذا الموقع؟",
    ],
}  # fmt: skip
LANGUAGES = ("en", "zh", "ja", "ko", "es", "fr", "de", "pt", "ru", "ar")


@pytest.mark.parametrize(
    ("text", "kind", "language"),
    [(text, kind, tag) for kind, texts in ALIKE.items() for text, tag in zip(texts, LANGUAGES, strict=True)],
)
def test_small_talk_and_wishes_are_known_in_ten_languages(text, kind, language):
    message = read(text, language)
    assert (message.kind, message.language) == (kind, language)


@pytest.mark.parametrize(
    "text",
    ["what is this site", "What's this website?", "whats this page", "what is this", "what is on this site"],
)
def test_what_a_site_is_asks_for_the_overview(text):
    assert read(text, "en").kind is Kind.OVERVIEW
    assert read(f"{text} lamp", "en").kind is Kind.QUESTION


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *(("Was macht ihr?", "de"), ("Wer seid ihr eigentlich?", "de"), ("Vous faites quoi ?", "fr")),
        *(("¿A qué os dedicáis?", "es"), ("Chi siete?", "it"), ("O que vocês fazem?", "pt")),
    ],
)
def test_what_those_behind_a_site_do_asks_for_the_overview(text, language):
    assert read(text, language).kind is Kind.OVERVIEW
    assert read("¿Qué ofrecen?", "es").kind is Kind.QUESTION, "they may be others"
    assert read("¿Quiénes son?", "es").kind is Kind.QUESTION
    assert read("O que fazem?", "pt").kind is Kind.QUESTION
    assert read("Was macht ihr mit alten Lampen?", "de").kind is Kind.QUESTION


def test_a_greeting_is_answered_in_its_own_language_on_a_site_in_another():
    assert read("Bonjour !", "en").language == "fr"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Hello, how do I return a lamp?", "how do I return a lamp?"),
        ("Hi there! What does delivery cost?", "What does delivery cost?"),
        ("good morning when do you open", "when do you open"),
        ("thanks, and how do I undo that?", "and how do I undo that?"),
        ("Guten Tag, wie gebe ich eine Lampe zurück?", "wie gebe ich eine Lampe zurück?"),
        ("Здравствуйте, как вернуть лампу?", "как вернуть лампу?"),
        ("您好，请问怎么退货", "请问怎么退货"),
    ],
)
def test_a_greeting_before_a_question_is_cut_off(text, question):
    assert read(text, "en").kind is Kind.QUESTION
    assert read(text, "en").text == question


@pytest.mark.parametrize(
    "text",
    [
        "operator precedence", "support for lists", "help with vacuum", "what is a hot standby", "backup?", "403",
        "how do I contact support?", "what can I do if the disk is full", "감사 로그 설정", "How are you different from MySQL?",
        "what are you allowed to return", "Who may read the log files?", "hosting",
    ],
)  # fmt: skip
def test_a_question_about_the_site_is_not_taken_for_small_talk(text):
    assert read(text, "en").text == text
    assert not is_small_talk(text, "en")


@pytest.mark.parametrize("text", ["👋", "???", "…"])
def test_a_message_without_words_is_met_with_a_greeting(text):
    assert read(text).kind is Kind.GREETING


def test_several_courtesies_are_the_most_telling_of_them():
    assert read("ok thanks, bye!").kind is Kind.GOODBYE
    assert read("hello, can I speak to a person please").kind is Kind.PERSON
