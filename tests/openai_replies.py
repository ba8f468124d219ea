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
    return json.dumps({"answer": answer}, ensure_ascii=False) if as_json else answer


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
