"""Words of other scripts in Latin letters, and how words sound, to recognise names and loanwords.

"テキサス", "Техас" and "Texas" are written differently and sound alike. Only consonants are compared between
scripts, because vowels differ most. The spellings of one sound ("f" and "ph", "k" and "c") become one letter.
"""

import re
import unicodedata
from functools import lru_cache

from server.languages.loader import FOLDER
from server.languages.scripts import fold

_TABLE = (FOLDER / "romanised.txt").read_text(encoding="utf-8")
_LETTERS = str.maketrans(dict(re.findall(r"(\S)=(\S*)", _TABLE)))
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")

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


@lru_cache(maxsize=1 << 12)
def romanised(word: str) -> str:
    """Return a lower-case word in the letters a to z; letters of unknown scripts are left out."""
    parts = _HANGUL.sub(lambda run: unicodedata.normalize("NFD", run[0]), word)
    return "".join(char for char in fold(parts.translate(_LETTERS)) if "a" <= char <= "z")


@lru_cache(maxsize=1 << 12)
def consonants(word: str) -> str:
    """Return the consonants that are heard in a romanised word, one letter for each sound."""
    for pattern, by in _SOUNDS:
        word = pattern.sub(by, word)
    return re.sub(r"(.)\1+", r"\1", _VOWELS.sub("", word))


@lru_cache(maxsize=1 << 12)
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
