"""Words of other scripts in Latin letters, and how words sound, to recognise names and loanwords.

"テキサス", "Техас" and "Texas" are written differently and sound alike. Only consonants are compared between
scripts, because vowels differ most. The spellings of one sound ("f" and "ph", "k" and "c") become one letter.
"""

import re
from functools import lru_cache

from server.languages.scripts import fold

_LETTERS = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "j", "з": "z", "и": "i", "й": "i",
    "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u",
    "ф": "f", "х": "h", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ы": "i", "ь": "", "э": "e",
    "ю": "iu", "я": "ia", "і": "i", "ї": "i", "є": "e", "ґ": "g",
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k",
    "λ": "l", "μ": "m", "ν": "n", "ξ": "ks", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "τ": "t", "υ": "i",
    "φ": "f", "χ": "h", "ψ": "ps", "ω": "o",
    "ا": "a", "ب": "b", "ت": "t", "ث": "th", "ج": "j", "ح": "h", "خ": "h", "د": "d", "ذ": "d", "ر": "r",
    "ز": "z", "س": "s", "ش": "sh", "ص": "s", "ض": "d", "ط": "t", "ظ": "z", "ع": "a", "غ": "g", "ف": "f",
    "ق": "k", "ك": "k", "ل": "l", "م": "m", "ن": "n", "ه": "h", "و": "u", "ي": "i", "ء": "", "ئ": "i",
    "ؤ": "u",
}  # fmt: skip
_KANA = {
    char: consonant + vowel
    for consonant, row in {
        "": "アイウエオ", "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サシスセソ", "z": "ザジズゼゾ",
        "t": "タチツテト", "d": "ダヂヅデド", "n": "ナニヌネノ", "h": "ハヒフヘホ", "b": "バビブベボ",
        "p": "パピプペポ", "m": "マミムメモ", "r": "ラリルレロ",
    }.items()
    for char, vowel in zip(row, "aiueo", strict=True)
} | {
    "シ": "shi", "ジ": "ji", "チ": "chi", "ツ": "tsu", "フ": "fu", "ヴ": "v", "ワ": "wa", "ヲ": "o",
    "ン": "n", "ヤ": "ya", "ユ": "yu", "ヨ": "yo", "ャ": "ya", "ュ": "yu", "ョ": "yo", "ァ": "a",
    "ィ": "i", "ゥ": "u", "ェ": "e", "ォ": "o", "ッ": "", "ー": "",
}  # fmt: skip
_SYLLABLES = str.maketrans(_LETTERS | _KANA)
_HANGUL_FIRST = (
    "g",
    "kk",
    "n",
    "d",
    "tt",
    "r",
    "m",
    "b",
    "pp",
    "s",
    "ss",
    "",
    "j",
    "jj",
    "ch",
    "k",
    "t",
    "p",
    "h",
)
_HANGUL_VOWELS = (
    "a", "e", "ia", "ie", "o", "e", "io", "ie", "o", "ua", "ue", "ue", "io", "u", "uo", "ue", "ui", "iu", "u",
    "ui", "i",
)  # fmt: skip
_HANGUL_LAST = (
    "", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "p", "t", "t", "p", "l", "m", "p", "p", "t", "t",
    "n", "t", "t", "k", "t", "p", "t",
)  # fmt: skip
_HANGUL_START, _HANGUL_END = 0xAC00, 0xD7A3

_SOUNDS = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"ph|f", "p"), (r"tch|tsch|ch", "C"), (r"sch|sh", "s"), (r"ts|tz", "s"), (r"th", "t"),
        (r"dge?|dj", "j"), (r"ck|cq", "k"), (r"c(?=[eiy])", "s"), (r"g(?=[eiy])", "j"), (r"[cq]", "k"),
        (r"x", "ks"), (r"z", "s"), (r"v", "b"), (r"m", "n"), (r"r(?![aeiouyr])", ""), (r"l", "r"),
        (r"[^a-zC]", ""),
    )
)  # fmt: skip
_VOWELS = re.compile(r"[aeiouyw]")
_ENDINGS = tuple(
    (re.compile(f"(?:{ending})$"), by)
    for ending, by in (
        ("[tcz]i?on(?:e|en|es|s)?|ci[oó]n(?:es)?|ca[o]|coes|cj[aei]|tie", "sion"),
        ("ty|ties|da[d]e?s?|tat|taten|tet|teit|tes?", "ti"),
        ("ics?|ical|iques?|ic[oa]s?|isch(?:e[nrs]?)?|iek|iki?|yk[ai]?", "ik"),
        ("(?<=..)(?:en|es|os|as|[eoasn])", ""),
    )
)


@lru_cache(maxsize=10_000)
def romanised(word: str) -> str:
    """Return a lower-case word in the letters a to z; letters of unknown scripts are left out."""
    latin = fold("".join(map(_roman, word)).translate(_SYLLABLES))
    return "".join(char for char in latin if "a" <= char <= "z")


def _roman(char: str) -> str:
    if not _HANGUL_START <= ord(char) <= _HANGUL_END:
        return char
    syllable, last = divmod(ord(char) - _HANGUL_START, len(_HANGUL_LAST))
    first, vowel = divmod(syllable, len(_HANGUL_VOWELS))
    return _HANGUL_FIRST[first] + _HANGUL_VOWELS[vowel] + _HANGUL_LAST[last]


@lru_cache(maxsize=50_000)
def consonants(word: str) -> str:
    """Return the consonants that are heard in a romanised word, one letter for each sound."""
    for pattern, by in _SOUNDS:
        word = pattern.sub(by, word)
    return re.sub(r"(.)\1+", r"\1", _VOWELS.sub("", word))


@lru_cache(maxsize=50_000)
def stem_sound(word: str) -> str:
    """Return a romanised word with one letter for each sound, and one ending for those that languages share
    ("-tion", "-ción", "-zione")."""
    for pattern, by in _ENDINGS:
        shorter = pattern.sub(by, word)
        if shorter != word:
            word = shorter
            break
    word = word.replace("ph", "f").replace("th", "t").replace("ck", "k").replace("y", "i").replace("w", "v")
    word = re.sub(r"c(?=[ei])|z", "s", word)
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[cq]", "k", word))
