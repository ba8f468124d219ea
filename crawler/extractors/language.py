"""Language of a page: as declared, unless its script contradicts; else by its most common words."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lxml.etree import _Element

from crawler.page import Block
from crawler.wordset import tables_of

_COMMON_WORDS: dict[str, str] = tables_of(__file__, "common_words.toml")
_LANGUAGES_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _COMMON_WORDS.items():
    for _word in {word for word in _words.split() if len(word) > 1}:
        _LANGUAGES_BY_WORD.setdefault(_word, []).append(_language)

_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]"), ("ja",)),
    ("ko", re.compile("[\uac00-\ud7a3]"), ("ko",)),
    ("zh", re.compile("[\u4e00-\u9fff]"), ("zh", "ja", "yue")),
    ("ru", re.compile("[\u0400-\u04ff]"), ("ru", "uk", "bg", "sr", "be", "mk", "kk", "mn", "ky", "tg")),
    ("el", re.compile("[\u0370-\u03ff]"), ("el",)),
    ("ar", re.compile("[\u0600-\u06ff]"), ("ar", "fa", "ur", "ps", "ku", "ug")),
    ("he", re.compile("[\u0590-\u05ff]"), ("he", "yi")),
    ("th", re.compile("[\u0e00-\u0e7f]"), ("th",)),
    ("hi", re.compile("[\u0900-\u097f]"), ("hi", "mr", "ne", "sa")),
)
_BEYOND_LATIN = re.compile("[\u0370-\u1fff\u3041-\ud7a3]")
_WORD = re.compile(r"[^\W\d_]+")
_IN_ADDRESS = re.compile(r"[/._]([a-z]{2})(?=[-_][a-z]{2,4}[/.]|[/.])")
_SAMPLE = 4000
_LONG = 160
_LONG_WIDE = 40
_FEWEST_WORDS = 20
_NO_WORDS: frozenset[str] = frozenset()
_WORDS_OF = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}


def primary_language(tag: str) -> str:
    """ "pt_BR, en" -> "pt"; empty for an invalid tag."""
    primary = re.split(r"[-_,;\s]", tag.strip().lower())[0]
    return primary if 2 <= len(primary) <= 3 and primary.isascii() and primary.isalpha() else ""


def page_language(declared: str, root: _Element, blocks: Sequence[Block], url: str = "") -> str:
    """Primary subtag of the page's language; empty if unknown.

    Half-translated pages go to the language that their address names ("/fr-FR/", "intro.fr.html").
    """
    text = " ".join(_prose(blocks))
    language = primary_language(declared) or _of_largest_part(root)
    guess = _by_script(text)
    if guess and not (language and language in guess[1]):
        return _narrow(guess[0], text)  # templates often declare English around other scripts
    if language:
        return language
    return _by_words(text, _named_in(url))


def language_of_text(text: str) -> str:
    """Primary subtag; empty if unknown."""
    guess = _by_script(text[:_SAMPLE])
    return _narrow(guess[0], text) if guess else _by_words(text[:_SAMPLE])


def with_languages(blocks: tuple[Block, ...], language: str) -> tuple[Block, ...]:
    """Blocks with the language that differs from the page's `language`: as their markup declared it, or
    where a long text is clearly in another one."""
    found = [_of_block(block, language) for block in blocks]
    if not any(found) and not any(block.language for block in blocks):
        return blocks
    return tuple(
        block if block.language == own else replace(block, language=own)
        for block, own in zip(blocks, found, strict=True)
    )


def _of_block(block: Block, language: str) -> str:
    """Language of a block; empty for the language of the page."""
    own, text = block.language, block.text
    if block.kind in ("text", "list") and len(text) >= (_LONG if text.isascii() else _LONG_WIDE):
        guess = _by_script(text[:_SAMPLE])
        if guess and (own or language) not in guess[1]:
            own = language if language in guess[1] else _narrow(guess[0], text)
        elif not guess and not own and len(text) >= _LONG:
            own = _other_words(text[:_SAMPLE], language)
    return "" if own == language else own


def _other_words(text: str, language: str) -> str:
    """Another language to which the most common words clearly point; empty without one."""
    words = text.lower().split()
    usual = _WORDS_OF.get(language, _NO_WORDS)
    if len(words) < _FEWEST_WORDS or sum(map(usual.__contains__, words)) * 12 > len(words):
        return ""
    best = _by_words(text)
    votes = sum(map(_WORDS_OF.get(best, _NO_WORDS).__contains__, words))
    return best if votes * 6 > len(words) else ""


def _prose(blocks: Sequence[Block]) -> list[str]:
    """A sample without code, whose words are English everywhere, spread over the page."""
    texts = [block.text for block in blocks if block.kind in ("text", "list")]
    texts = texts or [block.text for block in blocks] + [" ".join(block.heading_path) for block in blocks]
    step = max(1, sum(map(len, texts)) // _SAMPLE)
    return [text[:1000] for text in texts[::step]]


def _of_largest_part(root: _Element) -> str:
    """Language of an element around the content, such as <div lang="fr">."""
    for element in root.iter("main", "article", "div", "section"):
        language = element.get("lang") or element.get("xml:lang")
        if language:
            return primary_language(language)
    return ""


def _by_script(text: str) -> tuple[str, tuple[str, ...]] | None:
    if text.isascii() or not _BEYOND_LATIN.search(text):
        return None
    letters = sum(map(str.isalpha, text))
    for language, pattern, family in _SCRIPTS:
        found = len(pattern.findall(text))
        least = 0.05 if language == "ja" else 0.2
        if found > 4 and found > letters * least:
            return language, family
    return None


def _narrow(language: str, text: str) -> str:
    """One of the languages that share a script, by letters that only this one uses."""
    if language == "ru" and re.search("[іїєґ]", text):
        return "uk"
    if language == "ru" and "ъ" in text and not re.search("[ыэё]", text):
        return "bg"
    if language == "ar" and re.search("[پچژگ]", text):
        return "fa"
    return language


def _named_in(url: str) -> str:
    names = (match[1] for match in _IN_ADDRESS.finditer(url.lower()))
    return next((name for name in names if name in _COMMON_WORDS), "")


def _by_words(text: str, hint: str = "") -> str:
    votes: Counter[str] = Counter()
    words = _WORD.findall(text.lower())
    for word in words:
        for language in _LANGUAGES_BY_WORD.get(word, ()):
            votes[language] += 1
    if not votes:
        return ""
    if hint and votes[hint] * 2 >= max(votes.values()):
        votes[hint] *= 3
    (best, count), *rest = votes.most_common(2)
    if count < 4 or count < len(words) * 0.08:
        return ""
    tie = rest and rest[0][1] == count
    return "" if tie else best
