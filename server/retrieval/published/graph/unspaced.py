"""Phrases of scripts without capitals: Chinese, Japanese, Korean, Thai; Arabic, Hebrew and Hindi."""

from __future__ import annotations

import re
from collections.abc import Iterator

from server.languages.loader import alternatives
from server.languages.scripts import MARKS, UNSPACED
from server.languages.stop_words import STOP_WORDS
from server.languages.unspaced import KOREAN_FUNCTION_WORDS, bare_noun

_RUN = re.compile(f"[{UNSPACED}]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30ff]")
_JAPANESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]{2,8}|[\u30a1-\u30fa\u30fc]{2,}")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_CHINESE = re.compile(
    alternatives(lambda one: one.unspaced.phrases) + "|" + alternatives(lambda one: one.unspaced.breaks)
)
"""Between these stand the words of a Chinese sentence, more often than not."""
_LONGEST = 8
"""Longer runs are clauses, not names."""
_CASELESS = re.compile(rf"(?:[\u0590-\u08ff\u0900-\u0dff\u10a0-\u10ff\u1200-\u137f{MARKS}]+[ \u200c]?)+")


def unspaced_phrases(text: str) -> Iterator[tuple[int, str]]:
    """(place, phrase): Korean nouns without what is glued to them, Japanese words between kana, what
    stands between Chinese function words, and short runs of other scripts."""
    for found in _RUN.finditer(text):
        run, at = found[0], found.start()
        if _HANGUL.fullmatch(run):
            noun = "" if run in KOREAN_FUNCTION_WORDS else bare_noun(run)
            if len(noun) > 1:
                yield at, noun
        elif _KANA.search(run):
            yield from ((at + one.start(), one[0]) for one in _JAPANESE.finditer(run))
        elif _HAN.fullmatch(run):
            yield from _chinese(run, at)
        elif len(run) <= 2 * _LONGEST:
            yield at, run


def _chinese(run: str, at: int) -> Iterator[tuple[int, str]]:
    start = 0
    for found in [*_CHINESE.finditer(run), None]:
        part = run[start : found.start() if found else len(run)]
        if 1 < len(part) <= _LONGEST:
            yield at + start, part
        start = found.end() if found else start


def caseless_phrases(text: str, language: str = "") -> Iterator[tuple[int, str]]:
    """(place, phrase) in scripts with spaces but no capitals: up to three words between function words,
    pairs of words where there are more."""
    stops = STOP_WORDS.get(language, frozenset())
    for found in _CASELESS.finditer(text):
        run: list[tuple[int, str]] = []
        at = found.start()
        for word in [*found[0].split(" "), ""]:
            if word and word not in stops and len(word) > 1:
                run.append((at, word))
            else:
                yield from _of_words(run)
                run = []
            at += len(word) + 1


def _of_words(run: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    size = len(run) if len(run) <= 3 else 2
    for first in range(len(run) - size + 1 if run else 0):
        yield run[first][0], " ".join(word for _, word in run[first : first + size])
