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
