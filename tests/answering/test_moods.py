"""Wishes, complaints, insults and emergencies are recognised anywhere in a message, and real questions are not."""

import json
import time
from pathlib import Path

import pytest

from server.answering.understanding.language import question_language
from server.answering.understanding.routing import Kind, read

LABELLED = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "benchmarks/questions/moods.jsonl")
    .read_text("utf-8")
    .splitlines()
]
LIKE = {Kind.WELLBEING: Kind.GREETING, Kind.OVERVIEW: Kind.QUESTION}


@pytest.mark.parametrize("half", ["tuned", "aside"])
def test_labelled_messages_are_recognised(half):
    wrong = []
    for one in LABELLED:
        if one["half"] == half:
            kind = read(one["text"], question_language(one["text"], "en")).kind
            if LIKE.get(kind, kind) != one["kind"]:
                wrong.append(f"{one['text']}: {kind} instead of {one['kind']}")
    asked = sum(one["half"] == half for one in LABELLED)
    report = "\n".join([f"{half}: {asked - len(wrong)} right, {len(wrong)} wrong", *wrong])
    assert len(wrong) <= 0.05 * asked, report


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("This is ridiculous, where do I change my password?", "where do I change my password?"),
        ("You idiot. How do I return a lamp?", "How do I return a lamp?"),
        ("My parcel never arrived, what can I do?", "My parcel never arrived, what can I do?"),
        ("Your last answer was wrong. What does delivery cost?", "What does delivery cost?"),
        ("how do I complain about noise", "how do I complain about noise"),
        ("Was mache ich, wenn mein Paket nie angekommen ist?", "Was mache ich, wenn mein Paket nie angekommen ist?"),
    ],
)  # fmt: skip
def test_a_question_in_an_angry_message_is_searched_without_the_anger(text, searched):
    message = read(text, question_language(text, "en"))
    assert (message.kind, message.text) == (Kind.QUESTION, searched)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How long does it take? I want to talk to a real person", Kind.PERSON),
        ("What does it cost? Help, I am having chest pain", Kind.EMERGENCY),
        ("you useless bot, let me talk, I want to speak to a human", Kind.PERSON),
    ],
)
def test_a_person_and_an_emergency_come_before_a_question(text, kind):
    assert read(text, "en").kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "who can I talk to",
        "My index is broken. Who can I talk to about it?",
        "can I talk to a real dba",
        "get me an engineer, this is hopeless",
        "how do I reach a human",
        "I want to speak with an expert not a bot",
        "please have someone contact me",
        "I'm stuck, who can I write to?",
        "the boiler still leaks and nobody came, customer support",
        "This is ridiculous, nothing works, I want to talk to a real person NOW",
        "Das ist Mist, mit wem kann ich über meine Rechnung reden",
        "¿Con quién puedo hablar de mi factura?",
        "À qui puis-je parler ?",
        "Com quem posso falar?",
        "Con chi posso parlare?",
        "С кем можно поговорить о счёте?",
        "我可以跟谁谈谈？",
        "誰に相談すればいいですか",
        "누구와 이야기할 수 있나요?",
        "مع من يمكنني التحدث؟",
    ],
)
def test_a_wish_for_a_person_is_recognised_anywhere(text):
    assert read(text, question_language(text, "en")).kind is Kind.PERSON


@pytest.mark.parametrize(
    "text",
    [
        "can i talk to the server over ssl",
        "who can I share documents with",
        "I need a person record",
        "how do I return a lamp, and who can I write to?",
        "what is a telephone, operator?",
        "can I talk to a live database",
        "whom should I contact about a refund",
        "im new in st louis, who do i talk to about meetups",
        "Mit wem kann ich über ein Praktikum sprechen?",
        "J'ai besoin de soutien psychologique, qui puis-je contacter ?",
        "Mit wem teile ich meine Daten?",
    ],
)
def test_a_question_about_talking_is_no_wish_for_a_person(text):
    assert read(text, question_language(text, "en")).kind is Kind.QUESTION


WISHES = {
    "could one of your engineers give me a ring, i'd rather talk this through with somebody",
    "i'd prefer to discuss this with a colleague of yours instead of a program, who can i talk to",
    "pls put me through to a real dba, typing to a machine gets me nowhere",
}


def test_of_the_development_questions_only_the_wishes_are_taken_for_wishes():
    folder = Path(__file__).parents[2] / "benchmarks/questions"
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    questions = [one for line in lines if "question" in (one := json.loads(line))]
    found = {one["question"] for one in questions if read(one["question"], one["lang"]).kind is Kind.PERSON}
    assert found == WISHES


@pytest.mark.parametrize("text", ["rsync strncpy", "vacuum", "httpd", "RewriteRule", "MKSYSB", "COVID-19"])
def test_technical_words_are_not_gibberish(text):
    assert read(text, "en").kind is Kind.QUESTION


@pytest.mark.parametrize(
    "text", ["i want to " * 90, "you are so " * 90, "a" * 999, "waiting for " * 80, "我想要" * 300]
)
def test_a_long_message_costs_little(text):
    started = time.process_time()
    read(text, "en")
    assert time.process_time() - started < 0.5
