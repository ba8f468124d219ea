"""The phrases of a text: what a reader would underline. They stand in for entities where no model is asked.

Names in capitals, what stands in quotation marks, years, identifiers and product codes; in scripts
without capitals the words that a page without a dictionary can be taken apart into. Names that a site
gives its own things in headings are found too.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from unicodedata import normalize

from server.languages.loader import alternatives, compiled, every_word
from server.languages.scripts import MARKS, UNSPACED, UNSPACED_CHARACTER, fold
from server.languages.stop_words import STOP_WORDS, is_function_word
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
_CASELESS_WORD = re.compile(rf"(?:[\u0590-\u08ff\u0900-\u0dff\u10a0-\u10ff\u1200-\u137f{MARKS}]+[ \u200c]?)+")


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
    for found in _CASELESS_WORD.finditer(text):
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


_UPPER = "".join(chr(code) for code in range(0x80, 0x2100) if unicodedata.category(chr(code)) in ("Lu", "Lt"))
_JOINING = alternatives(lambda one: one.names.joining)
_SEVERAL = compiled(rf"\s+(?:&|{alternatives(lambda one: one.names.several)})\s+", re.NOFLAG)
_ABBREVIATED = alternatives(lambda one: one.names.abbreviated)
_OPENERS = every_word(lambda one: one.names.openers)
"""Words that open sentences and are names of nothing."""


def _pattern(upper: str, small: str) -> re.Pattern[str]:
    # "George W. Bush", "U.S. Army", "O'Brien", "Jean-Luc", "X-Ray", "iPhone" is found as a code.
    initials = rf"(?:[{upper}]\.(?=[\s{upper}]))+|(?:{_ABBREVIATED})\.(?=\s)"
    word = rf"(?:{initials}|[{upper}][{small}]*(?:['’.\-&][{small}]+)*)"
    number = r"\d[\d.]*\b(?![.\-/%])"
    return compiled(
        rf"(?<![{small}.\-/@]){word}"
        rf"(?:[ \u00a0]{word}|(?:[ \u00a0](?:{_JOINING}|&)){{1,2}}[ \u00a0]{word})*(?:[ \u00a0]{number})?",
        re.NOFLAG,
    )


_PLAIN = _pattern("A-Z", r"A-Za-z0-9_")
_ANY = _pattern(f"A-Z{_UPPER}", rf"\w{MARKS}")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;•|\n\t\"“(*-])\s*$")
_OWNER_ENDING = re.compile(r"['’]s?$")
_ELIDED = compiled(rf"^(?:{alternatives(lambda one: one.names.elided)})['’](?=\w)")
"""French and Italian: "l'Université" is the university."""
_EDGE = compiled(rf"^(?:{_JOINING}|&)\s+")


def capitalised(text: str, language: str = "") -> Iterator[tuple[int, str]]:
    """(place, name) of each; what only stands in capitals because a sentence starts there is left out."""
    stops = STOP_WORDS["en"] | STOP_WORDS.get(language, frozenset())
    for found in (_PLAIN if text.isascii() else _ANY).finditer(text):
        run, at = found[0], found.start()
        opens = bool(_SENTENCE_END.search(text, max(0, at - 4), at))
        run = _without_openers(run, stops, opens)
        if not run:
            continue
        at += len(found[0]) - len(run)
        if opens and " " not in run and run[1:].islower() and f" {run.lower()}" in text:
            continue
        parts = _SEVERAL.split(run) if " " in run else [run]
        # "Oxford University and Harvard University" names two; "Romeo and Juliet" may be one as well.
        if len(parts) == 1 or not any(" " in part for part in parts):
            yield at, _OWNER_ENDING.sub("", run)
        if len(parts) > 1:
            yield from ((at + run.find(one), _OWNER_ENDING.sub("", one)) for one in parts if len(one) > 2)


def _without_openers(run: str, stops: frozenset[str], opens: bool) -> str:
    while run:
        run = _ELIDED.sub("", run)
        first, _, rest = run.partition(" ")
        small = first.lower().replace("’", "'").strip(".'")
        shouted = len(first) > 1 and first.isupper()
        tells = shouted or not (small.split("'")[0] in stops or (opens and small in _OPENERS))
        if tells and (len(small) > 1 or rest):
            return run if len(run.strip(".")) > 1 else ""
        run = _EDGE.sub("", rest)
        opens = opens and not run
    return ""


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


@lru_cache(maxsize=1 << 14)
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


_folded = lru_cache(maxsize=1 << 14)(fold)


def singular(word: str) -> str:
    """Without the s of an English plural."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses")) else word[:-1]


MOST_WORDS = 8
"""Words of a name; of scripts without spaces, twice as many characters."""
_GENERIC = every_word(lambda one: one.headings.nameless)
"""Headings that name nothing on the site."""


class NameFinder:
    """Looks names up in texts, the longest at each place."""

    def __init__(self, names: Iterable[str], languages: Iterable[str] = ()) -> None:
        """Of `names` those count that name something; `languages` are those of the site."""
        self._longest: dict[str, int] = {}
        """First word -> most words of a name that starts with it."""
        self._known: set[str] = set()
        self._unspaced: set[str] = set()
        languages = tuple(languages)
        for key in filter(None, map(phrase_key, names)):
            words = key.split()
            if len(words) == 1 and UNSPACED_CHARACTER.match(key):
                if 2 <= len(key) <= 2 * MOST_WORDS:
                    self._unspaced.add(key)
            elif len(words) <= MOST_WORDS and _names_something(words, languages):
                self._known.add(key)
                first = singular(words[0])
                self._longest[first] = max(len(words), self._longest.get(first, 0))

    def found(self, text: str) -> list[str]:
        """Keys of the names that stand in the text, repeated as they occur."""
        words = phrase_words(text)
        last = [singular(word) for word in words]
        keys, at = [], 0
        while at < len(words):
            most = min(self._longest.get(last[at], 0), len(words) - at)
            for size in range(most, 0, -1):
                key = " ".join([*words[at : at + size - 1], last[at + size - 1]])
                if key in self._known:
                    keys.append(key)
                    at += size - 1
                    break
            at += 1
        if self._unspaced and UNSPACED_CHARACTER.search(text):
            keys += [key for run in _RUN.findall(text) for key in self._in_run(run)]
        return keys

    def _in_run(self, run: str) -> list[str]:
        keys, at = [], 0
        while at < len(run) - 1:
            sizes = range(min(2 * MOST_WORDS, len(run) - at), 1, -1)
            size = next((size for size in sizes if run[at : at + size] in self._unspaced), 0)
            if size:
                keys.append(run[at : at + size])
            at += size or 1
        return keys


def _names_something(words: list[str], languages: tuple[str, ...]) -> bool:
    """Not "Overview", "More about", "3.2"; a single word has at least four characters."""
    telling = [word for word in words if word not in _GENERIC and not is_function_word(word, languages)]
    telling = [word for word in telling if any(char.isalpha() for char in word)]
    return bool(telling) and (len(words) > 1 or len(words[0]) >= 4)
