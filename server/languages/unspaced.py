"""Words of scripts that are searched by pairs of characters: Chinese, Japanese, Korean, Thai and others.

Pairs need no dictionary and find what a dictionary would not hold. A page gives all of them. A question
gives those that tell something: what is glued to Korean nouns and verbs, Japanese particles and
endings, and phrases such as "how do I" make pairs of their own that only blur the search.
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
"""Half of all writers leave it out at the end of a Japanese word."""
_CHINESE, _JAPANESE, _KOREAN = (language(code).unspaced for code in ("zh", "ja", "ko"))
_JAPANESE_PARTICLES = frozenset(_JAPANESE.particles)
PHRASES = re.compile(alternatives(lambda one: one.unspaced.phrases))
"""They part a Chinese question where they stand in it."""
_CHINESE_FUNCTION_WORDS = frozenset(_CHINESE.function_words)
"""Where one is left alone between other scripts or phrases."""
_FINAL_PARTICLES = frozenset(_CHINESE.final_particles)
KOREAN_FUNCTION_WORDS = frozenset(_KOREAN.function_words)
_AFTER_ONE = frozenset(_KOREAN.particles_after_one)
_GLUED = sorted({*_KOREAN.particles, *_KOREAN.verb_endings}, key=len, reverse=True)


def pairs(run: str) -> tuple[str, ...]:
    """The tokens of a run of such characters on a page: what overlaps two by two; a single one stays."""
    run = _LONG_VOWEL.sub("", run)
    if not _HANGUL.fullmatch(run):
        return _overlapping(run)
    bare = bare_noun(run)
    # "값은": the noun alone, and the whole, for it may be a word of two syllables.
    return (run, bare) if len(bare) == 1 < len(run) else _overlapping(bare)


def asked_pairs(run: str) -> tuple[str, ...]:
    """Return those of a question that tell what it is about; none of "how do I"."""
    if _HANGUL.fullmatch(run):
        return () if run in KOREAN_FUNCTION_WORDS else pairs(run)
    run = _LONG_VOWEL.sub("", run)
    if _HIRAGANA.search(run) or _KATAKANA.search(run):
        told = tuple(pair for pair in _overlapping(run) if _tells(pair))
        return told if len(run) > 1 else (run,)
    return tuple(pair for part in (PHRASES.split(run) if len(run) > 1 else [run]) for pair in _chinese(part))


def singles(run: str) -> tuple[str, ...]:
    """Each Chinese character of a run, so that a question of one character finds it."""
    return tuple(_HAN.findall(run)) if len(run) > 1 else ()


def _chinese(part: str) -> Iterator[str]:
    """Pairs without those that "de" and "le" make: they follow a word, or stand between two."""
    if len(part) > 1:
        part = part.rstrip("".join(_FINAL_PARTICLES))
    for pair in _overlapping(part):
        if len(pair) == 1:
            told = pair not in _CHINESE_FUNCTION_WORDS
        else:
            told = pair in _CHINESE.no_particles or _FINAL_PARTICLES.isdisjoint(pair)
        if told:
            yield pair


def _tells(pair: str) -> bool:
    """Return whether a Japanese pair is more than an ending or a particle with what stands beside it."""
    if _HIRAGANA.fullmatch(pair):
        return False
    first, second = pair[0], pair[-1]
    if _KATAKANA.match(first) or _KATAKANA.match(second):
        return bool(_KATAKANA.fullmatch(pair)) or bool(_HAN.match(first) or _HAN.match(second))
    return first not in _JAPANESE_PARTICLES and second not in _JAPANESE_PARTICLES


def _overlapping(run: str) -> tuple[str, ...]:
    return tuple(one + two for one, two in pairwise(run)) or ((run,) if run else ())


def bare_noun(word: str) -> str:
    """A Korean word without what is glued to it; two syllables are left, or one of two."""
    for ending in _GLUED:
        left = len(word) - len(ending)
        if word.endswith(ending) and (left > 1 or (left == 1 and ending in _AFTER_ONE)):
            return word[:left]
    return word
