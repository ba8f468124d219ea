"""Tokens of scripts that are searched by pairs of characters: Chinese, Japanese, Korean, Thai and others.

Pairs need no dictionary and find words that a dictionary lacks. All pairs of a page are indexed. Of a
question, only meaningful pairs are searched: pairs with Korean endings, Japanese particles and endings, and
phrases such as "how do I" would only add noise.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from server.languages.loader import alternatives, language

_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_KATAKANA = re.compile(r"[\u30a1-\u30ff]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LONG_VOWEL = re.compile(r"(?<=[\u30a1-\u30fc]{2})\u30fc(?![\u30a1-\u30ff])")
"""The long vowel mark at the end of a Japanese word, which half of all writers leave out."""
_CHINESE, _JAPANESE, _KOREAN = (language(code).unspaced for code in ("zh", "ja", "ko"))
_JAPANESE_PARTICLES = frozenset(_JAPANESE.particles)
PHRASES = re.compile(alternatives(lambda one: one.unspaced.phrases))
"""Phrases at which a Chinese question is split."""
_CHINESE_FUNCTION_WORDS = frozenset(_CHINESE.function_words)
"""Characters ignored when they are alone between other scripts or phrases."""
_FINAL_PARTICLES = frozenset(_CHINESE.final_particles)
KOREAN_FUNCTION_WORDS = frozenset(_KOREAN.function_words)
_AFTER_ONE = frozenset(_KOREAN.particles_after_one)
_GLUED: dict[str, list[str]] = {}
"""Particles and endings by their last character, longest first."""
for _ending in sorted({*_KOREAN.particles, *_KOREAN.verb_endings}, key=len, reverse=True):
    _GLUED.setdefault(_ending[-1:], []).append(_ending)


def pairs(run: str) -> tuple[str, ...]:
    """Return the tokens of a run of such characters on a page: overlapping pairs, or a single character."""
    run = _LONG_VOWEL.sub("", run)
    if not _HANGUL.fullmatch(run):
        return _overlapping(run)
    bare = bare_noun(run)
    # "값은": the noun alone, and the whole, which may be a word of two syllables.
    return (run, bare) if len(bare) == 1 < len(run) else _overlapping(bare)


def asked_pairs(run: str) -> tuple[str, ...]:
    """Return the meaningful pairs of a question, without those of phrases such as "how do I"."""
    if _HANGUL.fullmatch(run):
        return () if run in KOREAN_FUNCTION_WORDS else pairs(run)
    run = _LONG_VOWEL.sub("", run)
    if _HIRAGANA.search(run) or _KATAKANA.search(run):
        found = tuple(pair for pair in _overlapping(run) if _is_meaningful(pair))
        return found if len(run) > 1 else (run,)
    return tuple(pair for part in (PHRASES.split(run) if len(run) > 1 else [run]) for pair in _chinese(part))


def singles(run: str) -> tuple[str, ...]:
    """Return each Chinese character of a run, so that a question of one character finds it."""
    return tuple(_HAN.findall(run)) if len(run) > 1 else ()


def _chinese(part: str) -> Iterator[str]:
    """Yield the pairs without final particles such as "de" and "le"."""
    if len(part) > 1:
        part = part.rstrip("".join(_FINAL_PARTICLES))
    for pair in _overlapping(part):
        if len(pair) == 1:
            kept = pair not in _CHINESE_FUNCTION_WORDS
        else:
            kept = pair in _CHINESE.no_particles or _FINAL_PARTICLES.isdisjoint(pair)
        if kept:
            yield pair


def _is_meaningful(pair: str) -> bool:
    """Return whether a Japanese pair is neither an ending nor contains a particle."""
    if _HIRAGANA.fullmatch(pair):
        return False
    first, second = pair[0], pair[-1]
    if _KATAKANA.match(first) or _KATAKANA.match(second):
        return bool(_KATAKANA.fullmatch(pair)) or bool(_HAN.match(first) or _HAN.match(second))
    return first not in _JAPANESE_PARTICLES and second not in _JAPANESE_PARTICLES


def _overlapping(run: str) -> tuple[str, ...]:
    return tuple(one + two for one, two in pairwise(run)) or ((run,) if run else ())


def bare_noun(word: str) -> str:
    """Return a Korean word without its particle or ending. Only some particles may leave one syllable."""
    for ending in _GLUED.get(word[-1:], ()):
        left = len(word) - len(ending)
        if word.endswith(ending) and (left > 1 or (left == 1 and ending in _AFTER_ONE)):
            return word[:left]
    return word
