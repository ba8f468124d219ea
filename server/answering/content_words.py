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
from server.retrieval.rarity import Rarity

CHANCE_PAIR = 0.25
"""Weight of a pair of characters that the site never uses, as a share of a usual one: most such pairs stand
across the border of two words, so they tell little of what the site lacks."""

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_HIRAGANA = re.compile(r"[\u3041-\u3096]+")
_KANA = re.compile(r"[\u3041-\u30fa]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ASCII = re.compile(r"[\x00-\x7f]")
_CHINESE = re.compile(
    "为什么|為什麼|怎么样|怎麼樣|怎么办|怎麼辦|怎么|怎麼|如何|什么时候|什麼時候|什么|什麼|哪些|哪个|哪個|哪里|哪裡|哪儿|谁|誰"
    "|多少|几个|幾個|有没有|有沒有|能不能|可不可以|是不是|要不要|可以|能够|能夠|应该|應該|需要|想要|我们|我們|你们|你們|他们|他們"
    "|或者|还是|還是|这个|這個|那个|那個|这些|這些|那些|时候|時候|一下|一个|一個|没有|沒有|请问|請問|告诉|告訴"
    "|[我你您它他她请請吗嗎呢吧啊的了着著过過是在和与與或把被让讓给給对對到从從为為就都也还還又很最这這那个個会會要想能用有不做]"
)
_KOREAN = frozenset(
    word
    for line in (
        "어떻게 무엇 무엇을 무엇이 뭐 뭐가 뭘 뭔가요 어디 어디서 어디에 언제 왜 얼마",
        "얼마나 어떤 어느 누가 누구 있는 있나요 있어요 있습니까 없나요 하나요 되나요 해야 하려면",
        "하면 할 수 것 것은 게 거 좀 그 이 저 제 내 우리",
        "나 저는 나는 싶어요 싶은데 싶습니다 알려줘 알려주세요 주세요 해주세요 방법 방법은 방법이 그리고",
        "그런데 하는 한",
    )
    for word in line.split()
)


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
