"""The tokens of the word index: one function for pages, one for queries.

What becomes of a text:

- letters are brought to one form (NFKC, lower case, accents folded after stemming);
- words are stemmed by Snowball in the language of the text, a word of another script in the usual
  language of that script; function words are left out, save in capitals ("WHO", "IT");
- scripts without spaces, and Korean, become overlapping pairs of characters; a character that
  stands alone stays;
- identifiers stay whole and give their parts too: `max_connections` -> max_connections, max,
  connect; `__init__`, `os.path.join`, `--allow-private`, `CamelCase`, `COVID-19` alike; a version gives the
  versions that it belongs to: `3.11.4` -> 3.11.4, 3.11, 3.

Query and page have to meet although nobody knows for sure in which language a short query is.
So a page is stemmed in its own language, and a query in every language that the index holds pages
of: whatever the page's language is, the query has the stem that this language gives. On a site in
one language that is one stem a word; languages agree on many more. Only function words need a
guess: those of the language that has most of them in the query are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import normalize

from server.languages.scripts import MARKS, UNSPACED, UNSPACED_CHARACTER, fold
from server.languages.stems import language_of_word, stem
from server.languages.stop_words import STOP_WORDS
from server.languages.unspaced import asked_pairs, pairs, singles

LONGEST_TOKEN = 64
"""Longer ones are encoded data; they are cut, so that equal ones still meet."""

_WORD = rf"(?:[^\W{UNSPACED}]|[{MARKS}])"
_RAW = re.compile(
    rf"[{UNSPACED}]+"
    rf"|(?<!{_WORD})(?<!-)--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*"
    rf"|{_WORD}+(?:[.\-'’]{_WORD}+)*(?:\+\+|#(?!\w))?"
)
_RAW_ASCII = re.compile(
    r"(?<!\w)(?<!-)--?[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*|\w+(?:[.\-']\w+)*(?:\+\+|#(?!\w))?", re.ASCII
)
"""The same for text without other characters, in half the time."""
_SEPARATOR = re.compile(r"[._\-'’]+")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_INNER_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_STOP_FORMS = {
    language: words | {fold(word) for word in words} | {word.translate(_SPELLED_OUT) for word in words}
    for language, words in STOP_WORDS.items()
}
_ARTICLE = re.compile(r"^(?:[\u0648\u0641]?[\u0628\u0643]?\u0627\u0644|[\u0648\u0641]?\u0644\u0644)(?=\w{3})")
"""Arabic "the", alone or behind "and", "so", "in", "as", "for"."""
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})
_NO_STOP_WORDS: frozenset[str] = frozenset()


def tokens(text: str, language: str = "") -> list[str]:
    """What a text asks or claims: its tokens in reading order, repeated as they occur. Any text is valid.

    `language` is a primary subtag; "" takes each word for the usual language of its script.
    """
    raws = _raw_words(text, language)
    return [token for raw in raws for token in _asked(raw, language, language)] or _all(raws, language)


def page_tokens(text: str, language: str = "") -> list[str]:
    """All that a page can be found by: its tokens in reading order; at the end single Chinese characters,
    and the stems that words have when they are typed without their accents."""
    raws = _raw_words(text, language)
    found = _all(raws, language)
    if not text.isascii():
        found += [token for raw in raws if not raw.isascii() for token in _also(raw, language)]
    return found


def query_tokens(text: str, languages: Sequence[str]) -> list[str]:
    """Tokens of a query, each once, for an index that holds texts in these languages.

    `languages` come most frequent first.
    """
    words = _raw_words(text, languages[0] if languages else "")
    asked_in = _language_of_query(words, languages)
    found = (
        token for raw in words for language in languages or ("",) for token in _asked(raw, language, asked_in)
    )
    return list(dict.fromkeys(found)) or _all(words, "")


def _all(raws: Sequence[str], language: str) -> list[str]:
    return [token for raw in raws for token in _analysed(raw, language, language)]


def _asked(raw: str, language: str, stop_language: str) -> tuple[str, ...]:
    if UNSPACED_CHARACTER.match(raw):
        return asked_pairs(raw)
    return _analysed(raw, language, stop_language)


def letters_of(text: str, language: str) -> Iterator[str]:
    """The words of a text as they are written, in lower case: whole, and the parts of a name."""
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
        text = _lower(text, language)  # shouting: capitals no longer tell names from function words
    return (_RAW_ASCII if text.isascii() else _RAW).findall(text)


def _language_of_query(words: Sequence[str], languages: Sequence[str]) -> str:
    """The language with most function words in the query; the first of equals."""
    lowered = [word.lower() for word in words]
    known = list(dict.fromkeys([*languages, "en"]))
    return max(known, key=lambda name: sum(word in _STOP_FORMS.get(name, _NO_STOP_WORDS) for word in lowered))


@lru_cache(maxsize=1 << 17)
def _analysed(raw: str, language: str, stop_language: str) -> tuple[str, ...]:
    """All tokens of one piece of text that `_RAW` found."""
    if UNSPACED_CHARACTER.match(raw):
        return pairs(raw)
    if raw.startswith("-"):
        return (_cut(raw.lower()), *_analysed(raw.lstrip("-"), language, stop_language))
    if not any(char.isalnum() for char in raw):
        return ()
    if version := _VERSION.fullmatch(raw):
        numbers = version[1].split(".")
        return tuple(_cut(".".join(numbers[:n])) for n in range(len(numbers), 0, -1))
    parts = [part for part in _SEPARATOR.split(raw) if part]
    if parts == [raw]:
        return tuple(_plain(raw, language, stop_language))
    # An apostrophe joins two words that are not one name: l'adresse, don't.
    whole = [] if re.search(r"['’]", raw) else [_whole(raw, language)]
    inner = [t for p in parts if len(p) > 1 or p.isdigit() for t in _plain(p, language, stop_language)]
    return (*whole, *inner)


def _whole(raw: str, language: str) -> str:
    """A name of several parts as one token. With and without hyphens is the same: e-mail, email."""
    if re.search(r"[._]", raw):
        return _cut(fold(raw.lower()))
    joined = raw.replace("-", "")
    own = language_of_word(joined, language)
    return _stemmed(_lower(joined, own), own)


def _plain(word: str, language: str, stop_language: str) -> Iterator[str]:
    """The tokens of a word without separators: itself, and the words that capitals mark in it."""
    own = language_of_word(word, language)
    lowered = _lower(word, own)
    stops = _STOP_FORMS.get(language_of_word(lowered, stop_language), _NO_STOP_WORDS)
    if lowered not in stops or (word.isupper() and len(word) > 1):
        yield _stemmed(lowered, own)
    if (word.isascii() and not (word.islower() or word.isdigit())) or any(char.isdigit() for char in word):
        inner = [part for part in _INNER_WORDS.findall(word) if len(part) > 1]
        if len(inner) > 1 or (inner and inner[0].isalpha() and len(inner[0]) < len(word)):
            yield from (_stemmed(part.lower(), own) for part in inner if part.lower() not in stops)


def _stemmed(word: str, language: str) -> str:
    if language == "ar":
        # Its stemmer takes other endings off a word with the article than off the same without.
        word = _ARTICLE.sub("", fold(word))
    return _cut(fold(stem(word, language) if word.isalpha() or not word.isascii() else word))


@lru_cache(maxsize=1 << 16)
def _also(raw: str, language: str) -> tuple[str, ...]:
    """What a piece of a page is found by beside its tokens."""
    if UNSPACED_CHARACTER.match(raw):
        return singles(raw)
    own = language_of_word(raw, language)
    bare = _stemmed(fold(_lower(raw, own)), own)
    return () if bare in _analysed(raw, language, language) or not raw.isalpha() else (bare,)


def _lower(text: str, language: str) -> str:
    return (text.translate(_TURKISH) if language in ("tr", "az") else text).lower()


def _cut(token: str) -> str:
    return token[:LONGEST_TOKEN]
