"""Words of scripts that are searched by pairs of characters: Chinese, Japanese, Korean, Thai and others.

Pairs need no dictionary and find what a dictionary would not hold. A page gives all of them. A question
gives those that tell something: what is glued to Korean nouns and verbs, Japanese particles and
endings, and phrases such as "how do I" make pairs of their own that only blur the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_KATAKANA = re.compile(r"[\u30a1-\u30ff]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LONG_VOWEL = re.compile(r"(?<=[\u30a1-\u30fc]{2})\u30fc(?![\u30a1-\u30ff])")
"""Half of all writers leave it out at the end of a Japanese word."""
_JAPANESE_PARTICLES = frozenset("をはがのにでとへもやか")
_CHINESE_PHRASES = """请问 請問 怎么样 怎么办 怎么 怎麼 怎样 怎樣 如何 为什么 為什麼 什么 什麼 哪里 哪裡 哪个 哪個 哪些 哪种 哪一个 哪 是不是
    能不能 可不可以 有没有 是否 能否 可否 可以 我想 我要 我该 我们 我們 我 你们 你 多少 几个 吗 嗎 呢 吧 啊 应该 該 怎""".split()  # noqa: SIM905
_PHRASE = re.compile("|".join(sorted(map(re.escape, _CHINESE_PHRASES), key=len, reverse=True)))
_FINAL_PARTICLES = frozenset("的了")
_CHINESE_FUNCTION_WORDS = frozenset(
    "的了是在有和与與把被让讓要想会會能上里裡中从從对對就也都又很这這那个個到用为為给給等着著过過"
)
"""Where one is left alone between other scripts or phrases."""

_KOREAN_PARTICLES = """은 는 이 가 을 를 의 에 로 와 과 도 만 에서 에게 한테 께서 으로 까지 부터 처럼 보다 마다 조차 마저 밖에 이나
    라도 이라도 이란 란 에는 에도 에만 에서는 에서도 에서의 에게는 에게서 으로는 으로도 으로만 으로서 으로써 로는 로도 로서 로써 로부터
    으로부터 까지는 까지도 부터는 와는 과는 과의 와의 이며 이고 이다 입니다 인가요 인지 이라는 라는 이라고 라고 들 들은 들이 들을 들의
    들에 들과""".split()  # noqa: SIM905
_AFTER_ONE = frozenset("은는이가을를의에로와과도만")
"""Those that are taken off a noun of one syllable, too."""
_VERB_ENDINGS = {
    "하": "다 는 고 며 면 여 려면 려고 기 기를 기가 지 지만 도록 거나 는데 는지 나요 고자 니 세요 십시오 였다 였습니다",
    "되": "다 는 고 며 면 어 려면 기 지 지만 도록 거나 는데 는지 나요 었다 었습니다",
}
_CONTRACTED = """할 한 함 합니다 합니까 해 해서 해야 해도 해요 했다 했습니다 했던 했을 하겠습니다 할까요 됩니다 될 된 됨 돼 돼요 됐다
    됐습니다""".split()  # noqa: SIM905
_GLUED = sorted(
    {
        *_KOREAN_PARTICLES,
        *_CONTRACTED,
        *(verb + ending for verb, endings in _VERB_ENDINGS.items() for ending in endings.split()),
    },
    key=len,
    reverse=True,
)
_KOREAN_FUNCTION_WORDS = frozenset(
    """어떻게 어떤 어느 무엇 무엇을 무엇이 무엇인가요 뭐 뭔가요 왜 언제 어디 어디서 어디에 어디에서 누가 누구 하나요 되나요 있나요 없나요
    인가요 있습니까 합니까 됩니까 하면 되면 하려면 해야 하는 하는지 되는 되는지 할 수 있는 있는지 있을까요 있어요 있습니다 때 것 등 및 그
    이 저 좀 제 내 나 저는 나는 제가 내가 우리 하고 싶은데 싶어요 싶습니다 알려줘 알려주세요 주세요 되죠 하죠 한가요 인지 합니다 됩니다""".split()  # noqa: SIM905
)


def pairs(run: str) -> tuple[str, ...]:
    """The tokens of a run of such characters on a page: what overlaps two by two; a single one stays."""
    run = _LONG_VOWEL.sub("", run)
    if not _HANGUL.fullmatch(run):
        return _overlapping(run)
    bare = _bare(run)
    # "값은": the noun alone, and the whole, for it may be a word of two syllables.
    return (run, bare) if len(bare) == 1 < len(run) else _overlapping(bare)


def asked_pairs(run: str) -> tuple[str, ...]:
    """Those of a question that tell what it is about; none of "how do I"."""
    if _HANGUL.fullmatch(run):
        return () if run in _KOREAN_FUNCTION_WORDS else pairs(run)
    run = _LONG_VOWEL.sub("", run)
    if _HIRAGANA.search(run) or _KATAKANA.search(run):
        told = tuple(pair for pair in _overlapping(run) if _tells(pair))
        return told if len(run) > 1 else (run,)
    return tuple(pair for part in (_PHRASE.split(run) if len(run) > 1 else [run]) for pair in _chinese(part))


def singles(run: str) -> tuple[str, ...]:
    """Each Chinese character of a run, so that a question of one character finds it."""
    return tuple(_HAN.findall(run)) if len(run) > 1 else ()


def _chinese(part: str) -> Iterator[str]:
    """Pairs without those that "de" and "le" make: they follow a word, or stand between two."""
    if len(part) > 1:
        part = part.rstrip("的了")
    for pair in _overlapping(part):
        if len(pair) == 1:
            told = pair not in _CHINESE_FUNCTION_WORDS
        else:
            told = pair == "目的" or _FINAL_PARTICLES.isdisjoint(pair)
        if told:
            yield pair


def _tells(pair: str) -> bool:
    """Whether a Japanese pair is more than an ending or a particle with what stands beside it."""
    if _HIRAGANA.fullmatch(pair):
        return False
    first, second = pair[0], pair[-1]
    if _KATAKANA.match(first) or _KATAKANA.match(second):
        return bool(_KATAKANA.fullmatch(pair)) or bool(_HAN.match(first) or _HAN.match(second))
    return first not in _JAPANESE_PARTICLES and second not in _JAPANESE_PARTICLES


def _overlapping(run: str) -> tuple[str, ...]:
    return tuple(one + two for one, two in pairwise(run)) or ((run,) if run else ())


def _bare(word: str) -> str:
    """A Korean word without what is glued to it; two syllables are left, or one of two."""
    for ending in _GLUED:
        left = len(word) - len(ending)
        if word.endswith(ending) and (left > 1 or (left == 1 and ending in _AFTER_ONE)):
            return word[:left]
    return word
