"""Finds the content words of a question and weighs them by rarity.

Function words say nothing about the subject. In languages with spaces the tokenizer leaves them out. In
Chinese, Japanese and Korean they must be cut out of the run of characters, or their character pairs would
count as words that are missing on the site.
"""

import re
from collections.abc import Iterator, Sequence
from statistics import median

from server.domain.question import Query
from server.indexes.tokens import tokens
from server.languages.loader import language
from server.retrieval.rarity import Rarity

CHANCE_PAIR = 0.25
"""Weight of a character pair that the site never uses, as a share of the usual weight. Most such pairs cross
the boundary of two words, so they are weak evidence that the site lacks a word."""

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_HIRAGANA = re.compile(r"[\u3041-\u3096]+")
_KANA = re.compile(r"[\u3041-\u30fa]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ASCII = re.compile(r"[\x00-\x7f]")
_CHINESE = re.compile("|".join(map(re.escape, language("zh").stop_words.cut)) or "(?!)")
_KOREAN = frozenset(language("ko").stop_words.cut)


def question_words(rarity: Rarity, query: Query) -> dict[str, float]:
    """Return the tokens of a query's content words with their rarity on the site."""
    text = content_text(query.text)
    found = list(dict.fromkeys(tokens(text, query.language)))
    unspaced = _HANGUL.search(text) or _KANA.search(text) or _HAN.search(text)
    if unspaced:  # a single character occurs in too many words
        found = _longer(found) or _longer(list(dict.fromkeys(tokens(query.text, query.language)))) or found
    weights = rarity.weights(found)
    return _with_chance_pairs(weights, found, rarity.unused(found)) if unspaced else weights


def content_text(text: str) -> str:
    """Return the text without Chinese, Japanese or Korean function words; other text unchanged."""
    if _HANGUL.search(text):
        cut = " ".join(word for word in text.split() if word.strip("?？.,!") not in _KOREAN)
    elif _KANA.search(text):
        cut = _HIRAGANA.sub(" ", text)
    elif _HAN.search(text):
        cut = _CHINESE.sub(" ", text)
    else:
        return text
    return cut if re.search(r"\w", cut) else text


def _longer(found: Sequence[str]) -> list[str]:
    return [token for token in found if len(token) > 1 or _ASCII.match(token)]


def _with_chance_pairs(
    weights: dict[str, float], found: Sequence[str], unused: frozenset[str]
) -> dict[str, float]:
    used = [weights[token] for token in found if token not in unused]
    usual = median(used) if used else max(weights.values(), default=1.0)
    return {
        token: CHANCE_PAIR * usual if token in unused and not _ASCII.match(token) else weight
        for token, weight in weights.items()
    }


_WORD = re.compile(r"[A-Za-z][\w.+-]*\w|[A-Z]")
_IDENTIFIER = re.compile(r"[A-Za-z]_|_[A-Za-z]|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\w\.[A-Za-z]")
_UNSPACED = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u0400-\u052f\u0600-\u06ff]")
_EDITION = re.compile(
    r"""\b(?P<said>version|release|edition|v)\.?\ ?(?P<said_number>\d+(?:\.\d+)*)\b
      | (?<=[\w,]\ )(?P<named>[A-Z][A-Za-z]*)\ v?(?P<named_number>\d+(?:\.\d+)*)\b(?!\ ?%)  # not first
      | \b(?P<dotted>[A-Za-z]+)\ v?(?P<dotted_number>\d+(?:\.\d+){1,2})\b(?![.\d/]|\ ?%)""",
    re.X,
)
_SENTENCE_ENDS = (".", "!", "?", ":", "…")


def names(text: str, code: str) -> list[str]:
    """Return the names in a text in the language `code`: identifiers, words with an unexpected capital, and
    Latin words in a text in another script. Where every noun has a capital, only identifiers count."""
    return list(dict.fromkeys(_names(text, code)))


def editions(text: str) -> list[tuple[str, str]]:
    """Return versions and models: ("Name", "15") for "since Name 15", ("name", "2.4") for "name 2.4"."""
    found = (
        (match[kind], match[f"{kind}_number"])
        for match in _EDITION.finditer(text)
        for kind in ("said", "named", "dotted")
        if match[kind]
    )
    return list(dict.fromkeys(found))


def lacks_edition(text: str, name: str, number: str) -> bool:
    """Return whether the text has only other versions of the name. If it has none and the name is a proper
    name, return whether the number is missing too. 15.2 is a version of 15; 115 and 2.15 are not."""
    said = rf"\b(?:{re.escape(name)}|version|release|v)[\W_]{{0,3}}(?:version |release |v)?"
    this = rf"(?<![\d.]){re.escape(number)}(?!\d)"
    if re.search(rf"{said}\d", text, re.I):
        return re.search(said + this, text, re.I) is None
    return name[0].isupper() and re.search(this, text) is None


def _names(text: str, code: str) -> Iterator[str]:
    foreign = bool(_UNSPACED.search(text))
    shouting = text.isupper()
    capitals_tell = not shouting and not language(code).writing.capital_nouns
    for found in _WORD.finditer(text):
        before = text[: found.start()].rstrip()
        starts = not before or before.endswith(_SENTENCE_ENDS)
        capital = capitals_tell and not starts and found[0][0].isupper()
        named = capital or foreign or (not shouting and _IDENTIFIER.search(found[0]))
        if named and len(found[0]) > 1:
            yield found[0]
