"""Questions that need the page that they are asked on, and questions that do not."""

import json
from pathlib import Path

import pytest

from server.answering.understanding.visitor_page import Pointing, pointing, without_pointing

QUESTIONS = Path(__file__).parents[2] / "benchmarks" / "questions"

AT_PAGE = {
    "en": "What does this page say about returns?",
    "de": "Was steht auf dieser Seite über Versand?",
    "fr": "Que dit cette page sur les retours ?",
    "es": "¿Qué dice esta página sobre devoluciones?",
    "pt": "O que diz esta página sobre devoluções?",
    "ru": "Что на этой странице сказано о возврате?",
    "zh": "这个页面讲了什么？",
    "ja": "このページには返品について何と書いてありますか？",
    "ko": "이 페이지에 반품에 대해 뭐라고 써 있나요?",
    "ar": "ماذا تقول هذه الصفحة عن الإرجاع؟",
}
AT_THING = {
    "en": ["How much is this?", "What does this mean?", "Explain this", "How much is it?", "Is this lamp waterproof?", "How long does it take?"],
    "de": ["Was kostet das?", "Was bedeutet das?", "Erklär mir das", "Ist diese Lampe wasserdicht?", "Wie teuer ist das?"],
    "fr": ["Combien ça coûte ?", "Que signifie cela ?", "C'est combien ?", "Cette lampe est-elle étanche ?"],
    "es": ["¿Cuánto cuesta esto?", "¿Qué significa esto?", "¿Este producto es impermeable?"],
    "pt": ["Quanto custa isto?", "O que significa isso?", "Este produto tem garantia?"],
    "ru": ["Сколько это стоит?", "Что это значит?", "Эта лампа водонепроницаемая?"],
    "zh": ["这个多少钱？", "这是什么意思？", "这款灯防水吗？"],
    "ja": ["これはいくらですか？", "これはどういう意味ですか？", "このランプは防水ですか？"],
    "ko": ["이거 얼마예요?", "이게 무슨 뜻이에요?", "이 제품은 방수인가요?"],
    "ar": ["كم سعر هذا؟", "ماذا يعني هذا؟", "هل هذا المنتج مقاوم للماء؟"],
}  # fmt: skip
ALONE = {
    "en": [
        "How long is delivery?", "Is it possible to return a lamp?", "Do you have lamps that are waterproof?", "Delivery", "hello",
        "What are your opening hours this week?", "What is this site about?", "What does this shop sell?", "I want to talk to a human",
        "Does the Glow Mini have a warranty?", "How long does it take to deliver parcels to islands?",
    ],
    "de": ["Wie lange dauert die Lieferung?", "Gibt es eine Garantie?", "Was kostet das Glow Mini?", "Kann ich das Paket zurückgeben?"],
    "fr": ["Combien coûte la livraison ?", "Est-ce que vous livrez en Belgique ?", "Qu'est-ce que le Glow Mini ?"],
    "es": ["¿Cuánto cuesta el envío?", "¿Está disponible la lámpara?", "¿Cómo devuelvo una lámpara?"],
    "pt": ["Quanto custa a entrega?", "Como devolvo uma lâmpada?"],
    "ru": ["Сколько стоит доставка?", "Как вернуть лампу?"],
    "zh": ["送货需要多久？", "如何退货？"],
    "ja": ["配送にはどのくらいかかりますか？", "ランプを返品するには？"],
    "ko": ["배송은 얼마나 걸리나요?", "램프를 반품하려면?"],
    "ar": ["كم تستغرق عملية التوصيل؟", "كيف أعيد المصباح؟"],
}  # fmt: skip


def rows(table):
    return [(language, text) for language, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), AT_PAGE.items())
def test_naming_the_page_points_at_it(language, text):
    assert pointing(text, language) is Pointing.AT_PAGE


@pytest.mark.parametrize(("language", "text"), rows(AT_THING))
def test_this_and_it_point_at_what_is_at_hand(language, text):
    assert pointing(text, language) is Pointing.AT_THING


@pytest.mark.parametrize(("language", "text"), rows(ALONE))
def test_a_question_that_stands_alone_points_at_nothing(language, text):
    assert pointing(text, language) is Pointing.NOT


def test_of_hundreds_of_real_questions_that_stand_alone_hardly_one_points():
    asked = [
        json.loads(line)["question"]
        for file in QUESTIONS.glob("*.jsonl")
        if file.stem != "moods"
        for line in file.read_text("utf-8").splitlines()
    ]
    pointed = [text for text in asked if pointing(text) is not Pointing.NOT]
    assert len(asked) > 300
    assert len(pointed) <= 0.005 * len(asked), pointed


def test_a_long_text_tells_all_that_is_needed():
    assert pointing("What does this mean? " + "word " * 80, "en") is Pointing.NOT


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What does this page say about returns?", "returns?"),
        ("Explain this", ""),
        ("What does this mean?", ""),
        ("Was bedeutet das?", "Was das?"),
        ("How much is this?", "How much is ?"),
    ],
)
def test_what_is_asked_of_the_page_is_what_is_left(text, rest):
    assert without_pointing(text) == rest
