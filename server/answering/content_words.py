"""Which words of a question carry what it asks for, and how much each of them tells.

Function words say nothing of the subject. Where words are separated, the tokenizer leaves them out; in
Chinese, Japanese and Korean they must be cut out of the run of characters that they stand in, or their
pairs of characters would count as words that the site lacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from server.domain.question import Query
from server.indexes.tokens import tokens
from server.languages.loader import language
from server.retrieval.rarity import Rarity

CHANCE_PAIR = 0.25
"""Weight of a pair of characters that the site never uses, as a share of a usual one: most such pairs stand
across the border of two words, so they tell little of what the site lacks."""

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_HIRAGANA = re.compile(r"[\u3041-\u3096]+")
_KANA = re.compile(r"[\u3041-\u30fa]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ASCII = re.compile(r"[\x00-\x7f]")
_CHINESE = re.compile("|".join(map(re.escape, language("zh").stop_words.cut)) or "(?!)")
_KOREAN = frozenset(language("ko").stop_words.cut)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for, in words."""

    weights: dict[str, float]
    """Tokens with their rarity on the site."""
    unused: float
    """Share in [0, 1] of the weight that words have which the site never uses."""


def asked_words(rarity: Rarity, query: Query) -> Asked:
    """The content words of a query, weighed."""
    text = content_text(query.text)
    found = list(dict.fromkeys(tokens(text, query.language)))
    unspaced = _HANGUL.search(text) or _KANA.search(text) or _HAN.search(text)
    if unspaced:  # a single character stands in too many words
        found = _longer(found) or _longer(list(dict.fromkeys(tokens(query.text, query.language)))) or found
    weights = rarity.weights(found)
    unused = rarity.unused(found)
    if unspaced:
        weights = _with_chance_pairs(weights, found, unused)
    total = sum(weights.values())
    return Asked(weights, sum(weights[token] for token in unused) / total if total else 0.0)


def content_text(text: str) -> str:
    """The text without the function words of Chinese, Japanese or Korean; other text as it is."""
    if _HANGUL.search(text):
        cut = " ".join(word for word in text.split() if word.strip("?？.,!") not in _KOREAN)
    elif _KANA.search(text):
        cut = _HIRAGANA.sub(" ", text)
    elif _HAN.search(text):
        cut = _CHINESE.sub(" ", text)
    else:
        return text
    return cut if re.search(r"\w", cut) else text


def _longer(found: Sequence[str]) -> list[str]:
    return [token for token in found if len(token) > 1 or _ASCII.match(token)]


def _with_chance_pairs(
    weights: dict[str, float], found: Sequence[str], unused: frozenset[str]
) -> dict[str, float]:
    used = [weights[token] for token in found if token not in unused]
    usual = median(used) if used else max(weights.values(), default=1.0)
    return {
        token: CHANCE_PAIR * usual if token in unused and not _ASCII.match(token) else weight
        for token, weight in weights.items()
    }
