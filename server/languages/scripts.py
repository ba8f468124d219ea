"""Characters by writing system: word characters, scripts without spaces, and folding of accents."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from server.languages.loader import language
from server.languages.loader import languages as known_languages

UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u309f\u30a1-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\u1100-\u11ff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, kana, Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
"""Regex ranges of scripts searched by character pairs: they have no spaces between words, or attach
endings to words, like Hangul. Digits of these scripts are words like any other digits."""

UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")

MARKS = "".join(
    chr(code)
    for code in range(0x300, 0x1DFF)
    if unicodedata.category(chr(code)).startswith("M") and not 0xE31 <= code <= 0xECD
)
"""Vowel signs and accents inside words, which Python's \\w does not match."""

_SCRIPTS = (
    (0x0250, "latin"),
    (0x0370, "other"),
    (0x0400, "greek"),
    (0x0530, "cyrillic"),
    (0x0590, "armenian"),
    (0x0600, "hebrew"),
    (0x0780, "arabic"),
    (0x0900, "other"),
    (0x0980, "devanagari"),
    (0x0B80, "other"),
    (0x0C00, "tamil"),
    (0x1E00, "other"),
    (0x1F00, "latin"),
    (0x2000, "greek"),
)
"""(first code point after the range, script)."""

_LANGUAGES = {
    "be": "cyrillic", "bg": "cyrillic", "bn": "other", "el": "greek", "fa": "arabic", "he": "hebrew",
    "hi": "devanagari", "hy": "armenian", "kk": "cyrillic", "mk": "cyrillic", "mr": "devanagari",
    "ne": "devanagari", "sr": "cyrillic", "ta": "tamil", "th": "unspaced", "uk": "cyrillic", "ur": "arabic",
    "yi": "hebrew",
}  # fmt: skip
"""Scripts of languages without a file that are not written in Latin letters."""

_FOLDED = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
    "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": None, "ς": "σ",
})  # fmt: skip


_MARKS_OF_ASCII = re.compile(r"(?<=[\x00-\x7f])[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Script:
    """A script that identifies one or several languages."""

    name: str
    letters: re.Pattern[str]
    usual: str
    """Its most common language."""
    languages: frozenset[str]
    """All languages that are written in it."""


def _script(name: str, letters: str, languages: str) -> Script:
    usual, *_ = languages.split()
    own = (code for code, one in known_languages().items() if one.writing.script == name)
    return Script(name, re.compile(letters), usual, frozenset((*languages.split(), *own)))


SCRIPTS = (
    _script("kana", r"[\u3040-\u30ff]", "ja"),
    _script("hangul", r"[\uac00-\ud7af\u1100-\u11ff]", "ko"),
    _script("han", r"[\u3400-\u9fff]", "zh ja yue"),
    _script("arabic", r"[\u0600-\u06ff]", "ar fa ur ps ckb ug"),
    _script("cyrillic", r"[\u0400-\u04ff]", "ru uk be bg sr mk kk mn ky tg"),
    _script("greek", r"[\u0370-\u03ff]", "el"),
    _script("hebrew", r"[\u0590-\u05ff]", "he yi"),
    _script("thai", r"[\u0e00-\u0e7f]", "th"),
    _script("devanagari", r"[\u0900-\u097f]", "hi mr ne sa"),
)


@cache
def script_of_language(code: str) -> str:
    """Return the script that a language is written in."""
    return language(code).writing.script or _LANGUAGES.get(code, "latin")


def script_of(word: str) -> str:
    """Return the script of a word's first letter; "other" for scripts without a stemmer."""
    if word.isascii():
        return "latin"
    letter = next((char for char in word if char.isalpha()), "")
    code = ord(letter) if letter else 0
    return next((name for end, name in _SCRIPTS if code < end), "other")


def fold(word: str) -> str:
    """Remove the marks that people leave out when they type from a lower-case word.

    These are accents of Latin and Greek letters, and vowel points of Arabic and Hebrew. Marks that make
    another letter are kept: Cyrillic short i, vowel signs of Indic scripts, the dots of kana.
    """
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_FOLDED))
    bare = _MARKS_OF_ASCII.sub("", decomposed)
    if bare.isascii():  # most are: then no letter has to be looked at
        return bare
    return unicodedata.normalize("NFC", "".join(_without_marks(decomposed)))


def _without_marks(text: str) -> list[str]:
    kept: list[str] = []
    base = "other"
    for char in text:
        if unicodedata.category(char) != "Mn":
            base = script_of(char)
            kept.append(char)
        elif base not in ("latin", "greek", "hebrew", "arabic"):
            kept.append(char)
    return kept
