"""What the local OpenAI-compatible server answers, and how a fault spoils it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from enum import StrEnum
from typing import Any

Request = dict[str, Any]
DIMENSIONS = 256
REFUSAL = "I'm sorry, but I can't help with that."


class Fault(StrEnum):
    """What can go wrong with one request."""

    RATE_LIMITED = "rate_limited"  # 429 with Retry-After
    OUT_OF_QUOTA = "out_of_quota"  # 429 that no waiting cures
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"  # no answer at all until the client goes away
    CUT_STREAM = "cut_stream"  # the connection breaks in the middle of the answer
    BROKEN_BODY = "broken_body"  # 200 with a body that is not of the protocol
    WRONG_KEY = "wrong_key"
    UNKNOWN_MODEL = "unknown_model"
    INVALID_JSON = "invalid_json"  # the model's text is JSON that ends too soon
    MADE_UP_CHUNKS = "made_up_chunks"  # the answer cites chunks that it was not given
    EMPTY_ANSWER = "empty_answer"
    REFUSAL = "refusal"


class Habit(StrEnum):
    """What chat models do that nobody asked for."""

    VERBOSE = "verbose"  # repeats the question, praises it, offers more help
    PREAMBLE = "preamble"  # plain text after "Sure! Here is ..."
    FENCED = "fenced"  # JSON in a code fence, with words before and after it
    TABLE = "table"
    HEADINGS = "headings"
    OTHER_JSON = "other_json"  # an object of its own making
    OTHER_LIST = "other_list"  # a JSON list
    WRONG_NUMBERS = "wrong_numbers"
    WRONG_CITATIONS = "wrong_citations"  # another excerpt that it was given
    NO_CITATIONS = "no_citations"
    THINKS = "thinks"  # <think>...</think> before the answer
    THINKS_INSIDE = "thinks_inside"  # the same within the answer
    THINKS_UNOPENED = "thinks_unopened"  # the server's template ate the opening tag
    THINKS_FOREVER = "thinks_forever"
    THINKS_APART = "thinks_apart"  # reasoning_content before the content
    OTHER_LANGUAGE = "other_language"
    DECLINES = "declines"
    DECLINES_IN_WORDS = "declines_in_words"
    CUT_OFF = "cut_off"  # the reply reaches its longest length
    CUT_OFF_PLAIN = "cut_off_plain"


THOUGHTS = (
    "Okay, the visitor asks this. Delivery costs 4.50 EUR for each order, says excerpt 1. I answer in JSON."
)
GERMAN = "Die Lieferung kostet 4.50 EUR, das ist der Preis für jede einzelne Bestellung. [1]"


def habitual(habit: Habit, body: Request) -> str:
    """The reply of a model with this habit to a request for an answer."""
    good = str(json.loads(grounded_reply(body | {"response_format": {}}))["answer"])
    asked = re.findall(r"^Question:\s*(.+)$", str(body["messages"][-1]["content"]), re.M)[-1]
    said, number = re.sub(r"\s*\[\d+\]", "", good), (re.findall(r"\[\d+\]", good) or ["[1]"])[0]
    other = "[1]" if number == "[2]" else "[2]"
    in_json, thoughts = _as_json(good), THOUGHTS
    return {
        Habit.VERBOSE: _as_json(
            f"{asked} Great question! Thank you for asking us. Here is what I found on the website: {good} "
            "I hope this helps! Is there anything else about delivery that you would like to know?"
        ),
        Habit.PREAMBLE: f"Sure! Here is the answer to your question:\n\n{good}",
        Habit.FENCED: f"Sure! Here is the JSON object:\n\n```json\n{in_json}\n```\nLet me know if you need more.",
        Habit.TABLE: _as_json(f"| What | Answer |\n|---|---|\n| Delivery | {said} {number} |"),
        Habit.HEADINGS: _as_json(f"# Delivery\n\n## Answer\n\n{good}\n\n## Summary\n\n**{said}** {number}"),
        Habit.OTHER_JSON: json.dumps({"response": {"text": good, "confidence": 0.98}}),
        Habit.OTHER_LIST: json.dumps([{"sentence": said, "source": 1}]),
        Habit.WRONG_NUMBERS: _as_json(
            re.sub(r"(\d)(?![\d\]])", lambda digit: str((int(digit[1]) + 3) % 10), good)
        ),
        Habit.WRONG_CITATIONS: _as_json(f"{said} {other}"),
        Habit.NO_CITATIONS: _as_json(said),
        Habit.THINKS: f"<think>\n{thoughts}\n</think>\n\n{in_json}",
        Habit.THINKS_INSIDE: _as_json(f"<think>{thoughts}</think>{good}"),
        Habit.THINKS_UNOPENED: f"{thoughts}\n</think>\n\n{in_json}",
        Habit.THINKS_FOREVER: f"<think>\n{thoughts * 3}",
        Habit.THINKS_APART: in_json,
        Habit.OTHER_LANGUAGE: _as_json(GERMAN),
        Habit.DECLINES: _as_json(""),
        Habit.DECLINES_IN_WORDS: _as_json("I could not find this in the excerpts that I was given."),
        Habit.CUT_OFF: in_json[: len(in_json) * 2 // 3],
        Habit.CUT_OFF_PLAIN: f"{good} {said[: len(said) * 2 // 3]}",
    }[habit]


def _as_json(answer: str) -> str:
    return json.dumps({"answer": answer}, ensure_ascii=False)


def grounded_reply(body: Request) -> str:
    """The sentence of the given chunks that bears best on the question, with its marker."""
    messages = [str(message["content"]) for message in body["messages"]]
    prompt = messages[-1]
    found = re.findall(r"^\s*Question:\s*(.+)$", prompt, re.M)
    question = found[-1] if found else prompt
    chunks = re.findall(r'<chunk\s+number="(\d+)"[^>]*>(.*?)</chunk>', prompt, re.S)
    wanted, best, answer = set(_words(question)), 0.0, "" if chunks else question.strip()
    for number, text in chunks:
        for sentence in re.split(r"(?<=[.!?])\s+|\n+|(?<=[。！？])", text):
            words = set(_words(sentence))
            score = len(words & wanted) / math.sqrt(len(words) + 3)
            if score > best:
                best, answer = score, f"{sentence.strip()} [{number}]"
    as_json = "response_format" in body or any("json" in message.lower() for message in messages)
    return _as_json(answer) if as_json else answer


def embed(text: str) -> list[float]:
    """Hashed bag of words: the same text always gives the same vector of length 1."""
    vector = [0.0] * DIMENSIONS
    for word in _words(text) or [""]:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest()
        vector[int.from_bytes(digest, "big") % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def _words(text: str) -> list[str]:
    """Words of spaced scripts, single characters of Chinese, Japanese and Korean."""
    return re.findall(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+", text.lower())


def embeddings(body: Request) -> Request:
    """The reply to an embeddings request."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
    return {"object": "list", "data": data, "model": body["model"]}


def spoiled(text: str, fault: Fault | None) -> str:
    """The model's text as the fault makes it; most faults leave it alone."""
    spoiled = {
        Fault.INVALID_JSON: text[: max(1, len(text) // 2)],
        Fault.MADE_UP_CHUNKS: re.sub(r"\[\d+\]", "[97]", text),
        Fault.EMPTY_ANSWER: "",
        Fault.REFUSAL: REFUSAL,
    }
    return text if fault is None else spoiled.get(fault, text)
