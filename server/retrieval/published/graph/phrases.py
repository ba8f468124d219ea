"""The phrases of a text: what a reader would underline. They stand in for entities where no model is asked.

Names in capitals, what stands in quotation marks, years, identifiers and product codes; in scripts
without capitals the words that a page without a dictionary can be taken apart into. Names that a site
gives its own things in headings are found by `server.retrieval.published.graph.names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from unicodedata import normalize

from server.languages.loader import every_word
from server.languages.scripts import MARKS, UNSPACED_CHARACTER, fold
from server.retrieval.published.graph.capitals import capitalised
from server.retrieval.published.graph.unspaced import caseless_phrases, unspaced_phrases

LONGEST = 80
"""Characters; longer ones are sentences."""

_CODE_BLOCK = re.compile(r"^```.*?^```", re.S | re.M)
_QUOTED = re.compile(
    r"“([^“”\n]{2,60})”|„([^„“”\n]{2,60})[“”]|«\s?([^«»\n]{2,60}?)\s?»|\"([^\"\n]{2,60})\"|`([^`\n]{2,60})`"
    r"|「([^「」\n]{2,40})」|『([^『』\n]{2,40})』|《([^《》\n]{2,40})》|【([^【】\n]{2,40})】"
)
_NO_WORD = re.compile(r"(?<![\w.@/\-])-{0,2}[A-Za-z](?:[a-z]*(?:[.\-_]+\w|[A-Z0-9]))[\w.\-]*")
"""What may be a code: quick to find, and looked at again by `_CODE`."""
_CODE = re.compile(
    r"--?[a-z][a-z0-9]+(?:-[a-z0-9]+)*"  # --verbose
    r"|[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+(?:\.[A-Za-z]\w*)*"  # max_connections
    r"|[A-Za-z]\w*(?:\.[A-Za-z]\w{2,})+"  # os.path, postgresql.conf
    r"|[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*"  # iPhone, HashMap
    r"|[A-Za-z]+-?\d+[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*"  # COVID-19, mp3, A4
)
_YEAR = re.compile(r"\b[12]\d{3}s?\b")
_NO_YEAR = frozenset(".,/-$€£:#")
_CASELESS = re.compile(r"[\u0590-\u08ff\u0900-\u0dff\u10a0-\u10ff\u1200-\u137f]")
_WORD_START = re.compile(r"\S+")
_MOST_WORDS_QUOTED = 7

_KEY_WORD = re.compile(rf"(?:[^\W_]|[{MARKS}+#])+(?:(?<=\d)\.\d+)*")
_ARTICLES = every_word(lambda one: one.names.articles)
_POSSESSIVE = re.compile(r"['’]s?\b")


def phrases(text: str, language: str = "") -> list[str]:
    """In the order of the text, repeated as they occur. Any text is valid; code blocks give identifiers."""
    prose = _CODE_BLOCK.sub(lambda block: "\n" * len(block[0]), text) if "```" in text else text
    found = list(capitalised(prose, language))
    found += _years(prose)
    for one in _QUOTED.finditer(prose):
        inner = one[one.lastindex or 0].strip()
        if inner and len(inner.split()) <= _MOST_WORDS_QUOTED:
            found.append((one.start() + 1, inner))
    taken = {at + one.start() for at, phrase in found for one in _WORD_START.finditer(phrase)}
    found += ((at, code) for at, code in _codes(text) if at not in taken)
    if UNSPACED_CHARACTER.search(prose):
        found += unspaced_phrases(prose)
    if _CASELESS.search(prose):
        found += caseless_phrases(prose, language)
    found.sort(key=itemgetter(0))
    return [phrase for _, phrase in dict.fromkeys(found) if len(phrase) <= LONGEST and phrase_key(phrase)]


def _codes(text: str) -> Iterator[tuple[int, str]]:
    for one in _NO_WORD.finditer(text):
        code = one[0].rstrip(".-")
        if _CODE.fullmatch(code):
            yield one.start(), code


def _years(text: str) -> Iterator[tuple[int, str]]:
    """Not the thousands of an amount, a part of a date in digits or of a number."""
    for one in _YEAR.finditer(text):
        year, (start, end) = one[0], one.span()
        number = start and text[start - 1] in _NO_YEAR
        number = number or (text[end : end + 1] in _NO_YEAR and text[end + 1 : end + 2].isdigit())
        if not number and year[:2] <= "20" and text[end : end + 1] != "%":
            yield start, year


@lru_cache(maxsize=1 << 17)
def phrase_key(text: str) -> str:
    """What equal phrases have in common: without case, accents, punctuation, article and plural s; "" for a
    text without letters and digits. `max_connections`, "Max connections" and "max connection" are equal."""
    words = phrase_words(text)
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    if words:
        words[-1] = singular(words[-1])
    key = " ".join(words)
    return key if any(char.isalnum() for char in key) else ""


def phrase_words(text: str) -> list[str]:
    """The words of a text as they stand in keys, but for the plural s."""
    if not text.isascii():
        text = normalize("NFKC", text)
    words: list[str] = _KEY_WORD.findall(_POSSESSIVE.sub("", text.lower()))
    return words if text.isascii() else [word if word.isascii() else _folded(word) for word in words]


_folded = lru_cache(maxsize=1 << 16)(fold)


def singular(word: str) -> str:
    """Without the s of an English plural."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses")) else word[:-1]
