"""Splits texts into the tokens of the word index, with one function for pages and one for queries.

Rules:

- Letters are normalised (NFKC, lower case, accents folded after stemming).
- Words are stemmed by Snowball in the language of the text, or for another script in its usual language.
  Function words are left out unless they are in capitals ("WHO", "IT").
- Scripts without spaces, and Korean, become overlapping pairs of characters. A single character is
  a token of its own.
- Identifiers are tokens, and so are their parts: `max_connections` -> max_connections, max,
  connect. The same applies to `__init__`, `os.path.join`, `--allow-private`, `CamelCase` and `COVID-19`.
  An abbreviation in the plural also gives its singular: `PDFs` -> pdfs, pdf.
  Versions also give the versions that they belong to: `3.11.4` -> 3.11.4, 3.11, 3.

The language of a short query is uncertain. A page is therefore stemmed in its own language, and a query in
every language of the indexed pages, so that it has the right stem for each page. On a site in one language
that is one stem per word, and many stems are the same in several languages. Only for function words the
language of the query is guessed: the one with most function words in it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from unicodedata import normalize

from server.languages.scripts import MARKS, UNSPACED, UNSPACED_CHARACTER, fold
from server.languages.stems import language_of_word, stem, without_article
from server.languages.stop_words import STOP_WORDS
from server.languages.unspaced import asked_pairs, pairs, singles

LONGEST_TOKEN = 64
"""Longer tokens are encoded data. They are cut, so that equal ones still match."""

_WORD = rf"(?:[^\W{UNSPACED}]|[{MARKS}])"
_RAW = re.compile(
    rf"[{UNSPACED}]+"
    rf"|(?<!{_WORD})(?<!-)--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*"
    rf"|{_WORD}+(?:[.\-'’]{_WORD}+)*(?:\+\+|#(?!\w))?"
)
_RAW_ASCII = re.compile(
    r"(?<!\w)(?<!-)--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*|\w+(?:[.\-']\w+)*(?:\+\+|#(?!\w))?", re.ASCII
)
"""The same for ASCII text, in half the time."""
_RAW_SPACED = re.compile(
    r"(?<!\w)(?<!-)--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*|\w+(?:[.\-'’]\w+)*(?:\+\+|#(?!\w))?"
)
"""The same for text without the characters of `_SPECIAL`, in two thirds of the time."""
_SPECIAL = re.compile(f"[{UNSPACED}{MARKS}]")
_SEPARATOR = re.compile(r"[._\-'’]+")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_INNER_WORDS = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_STOP_FORMS = {
    language: words | {fold(word) for word in words} | {word.translate(_SPELLED_OUT) for word in words}
    for language, words in STOP_WORDS.items()
}
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})
_NO_STOP_WORDS: frozenset[str] = frozenset()


def tokens(text: str, language: str = "") -> list[str]:
    """Return the tokens of any question or claim in reading order, with repetitions.

    `language` is a primary subtag. With "", each word counts as the usual language of its script.
    """
    return list(_tokens(text, language))


@lru_cache(maxsize=1 << 10)
def _tokens(text: str, language: str) -> Sequence[str]:
    """Cached, because every step needs those of the question."""
    raws = _raw_words(text, language)
    asked = [] if text.isascii() else [token for raw in raws for token in _asked(raw, language, language)]
    return asked or _all(raws, language)


def page_tokens(text: str, language: str = "") -> list[str]:
    """Return all tokens that a page can be found by: its tokens in reading order, then single Chinese
    characters and the stems of words typed without accents."""
    raws = _raw_words(text, language)
    found = _all(raws, language)
    if not text.isascii():
        found += [token for raw in raws if not raw.isascii() for token in _additional_tokens(raw, language)]
    return found


def query_tokens(text: str, languages: Sequence[str]) -> list[str]:
    """Return each token of a query once, for an index of texts in `languages`, most frequent first."""
    words = _raw_words(text, languages[0] if languages else "")
    asked_in = _language_of_query(words, languages)
    found = (
        token for raw in words for language in languages or ("",) for token in _asked(raw, language, asked_in)
    )
    return list(dict.fromkeys(found)) or _all(words, "")


def _all(raws: Sequence[str], language: str) -> list[str]:
    # A page has hundreds of words, so that nothing but the analysis of a word is left to Python.
    return list(chain.from_iterable(map(_analysed, raws, repeat(language), repeat(language))))


def _asked(raw: str, language: str, stop_language: str) -> tuple[str, ...]:
    if UNSPACED_CHARACTER.match(raw):
        return asked_pairs(raw)
    return _analysed(raw, language, stop_language)


def letters_of(text: str, language: str) -> Iterator[str]:
    """Yield the words of a text as written, in lower case, and the parts of names."""
    for raw in _raw_words(text, language):
        lowered = _lower(raw, language)
        if lowered.isalpha():
            yield lowered
        if not lowered.isalpha() or not (raw.islower() or raw[1:].islower()):
            for part in _SEPARATOR.split(raw):
                yield from (piece.lower() for piece in _INNER_WORDS.findall(part) or [part])


def _raw_words(text: str, language: str) -> list[str]:
    if not text.isascii():
        text = normalize("NFKC", text)
    if text.isupper():
        text = _lower(text, language)  # all capitals: they no longer distinguish names
    if text.isascii():
        return _RAW_ASCII.findall(text)
    return (_RAW if _SPECIAL.search(text) else _RAW_SPACED).findall(text)


def _language_of_query(words: Sequence[str], languages: Sequence[str]) -> str:
    """Return the language with most function words in the query; the first one if equal."""
    lowered = [word.lower() for word in words]
    known = list(dict.fromkeys([*languages, "en"]))
    return max(known, key=lambda name: sum(word in _STOP_FORMS.get(name, _NO_STOP_WORDS) for word in lowered))


@lru_cache(maxsize=1 << 14)
def _analysed(raw: str, language: str, stop_language: str) -> tuple[str, ...]:
    """Return all tokens of one match of `_RAW`. Cached, because most words of a text are in many others."""
    if not raw.isascii() and UNSPACED_CHARACTER.match(raw):
        return pairs(raw)
    if raw.isalnum():  # most are: nothing in them is a separator
        return _plain(raw, language, stop_language)
    if raw.startswith("-"):
        return (raw.lower()[:LONGEST_TOKEN], *_analysed(raw.lstrip("-"), language, stop_language))
    if not any(char.isalnum() for char in raw):
        return ()
    if version := _VERSION.fullmatch(raw):
        numbers = version[1].split(".")
        return tuple(".".join(numbers[:n])[:LONGEST_TOKEN] for n in range(len(numbers), 0, -1))
    parts = [part for part in _SEPARATOR.split(raw) if part]
    if parts == [raw]:
        return _plain(raw, language, stop_language)
    # Words joined by an apostrophe are not one name: l'adresse, don't.
    whole = [] if "'" in raw or "’" in raw else [_whole(raw, language)]
    inner = [t for p in parts if len(p) > 1 or p.isdigit() for t in _plain(p, language, stop_language)]
    return (*whole, *inner)


def _whole(raw: str, language: str) -> str:
    """Return a name of several parts as one token, which ignores hyphens: e-mail, email."""
    if "." in raw or "_" in raw:
        return fold(raw.lower())[:LONGEST_TOKEN]
    joined = raw.replace("-", "")
    own = language_of_word(joined, language)
    return _stemmed(_lower(joined, own), own)


def _plain(word: str, language: str, stop_language: str) -> tuple[str, ...]:
    """Return the tokens of a word without separators: the word, and the parts that capitals mark."""
    own = language_of_word(word, language)
    lowered = _lower(word, own)
    stops_of = own if stop_language == language else language_of_word(lowered, stop_language)
    stops = _STOP_FORMS.get(stops_of, _NO_STOP_WORDS)
    found = () if lowered in stops and not (word.isupper() and len(word) > 1) else (_stemmed(lowered, own),)
    is_letters = word.isalpha()
    if is_letters and (word == lowered or not word.isascii()):
        return found
    has_digit = not is_letters and any(char.isdigit() for char in word)
    if has_digit or (word.isascii() and not word.islower()):
        inner = [part for part in _INNER_WORDS.findall(word) if len(part) > 1]
        if len(inner) > 1 or (inner and inner[0].isalpha() and len(inner[0]) < len(word)):
            parts = (_stemmed(part.lower(), own) for part in inner if part.lower() not in stops)
            return (*found, *(part for part in parts if part not in found))
    return found


def _stemmed(word: str, language: str) -> str:
    if language == "ar":
        word = without_article(fold(word), language)
    stemmed = stem(word, language) if word.isalpha() or not word.isascii() else word
    return fold(stemmed)[:LONGEST_TOKEN]


@lru_cache(maxsize=1 << 12)
def _additional_tokens(raw: str, language: str) -> tuple[str, ...]:
    """Return the additional tokens that a piece of a page is found by."""
    if UNSPACED_CHARACTER.match(raw):
        return singles(raw)
    own = language_of_word(raw, language)
    bare = _stemmed(fold(_lower(raw, own)), own)
    return () if bare in _analysed(raw, language, language) or not raw.isalpha() else (bare,)


def _lower(text: str, language: str) -> str:
    return (text.translate(_TURKISH) if language in ("tr", "az") else text).lower()
