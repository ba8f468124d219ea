"""Reads the language files: one file `<code>.toml` per language, in the folder of this module.

The files are read once per process. A new language is a new file; features without data are left out.
The glossary is one table, `words.tsv`, with a column per language and a row per concept. The first English
word of a row is the concept's name. A language file can add a glossary of its own.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args, get_origin, get_type_hints

from server.languages.sections import (
    Amounts,
    AnswerLanguage,
    Card,
    Commands,
    Courtesies,
    Dates,
    Facts,
    FollowUps,
    HeadingWords,
    KeyPagePatterns,
    Moods,
    NameWords,
    Pattern,
    Questions,
    Sentences,
    StopWords,
    Texts,
    ThisPage,
    Unspaced,
    Words,
    Writing,
)

FOLDER = Path(__file__).parent
MONTHS = 12


class LanguageFileError(Exception):
    """A language file is invalid; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Language:
    """Data about one language."""

    code: str = ""
    writing: Writing = field(default_factory=Writing)
    stop_words: StopWords = field(default_factory=StopWords)
    unspaced: Unspaced = field(default_factory=Unspaced)
    texts: Texts = field(default_factory=Texts)
    courtesies: Courtesies = field(default_factory=Courtesies)
    moods: Moods = field(default_factory=Moods)
    follow_ups: FollowUps = field(default_factory=FollowUps)
    this_page: ThisPage = field(default_factory=ThisPage)
    key_pages: KeyPagePatterns = field(default_factory=KeyPagePatterns)
    answer_language: AnswerLanguage = field(default_factory=AnswerLanguage)
    amounts: Amounts = field(default_factory=Amounts)
    dates: Dates = field(default_factory=Dates)
    names: NameWords = field(default_factory=NameWords)
    facts: Facts = field(default_factory=Facts)
    card: Card = field(default_factory=Card)
    questions: Questions = field(default_factory=Questions)
    sentences: Sentences = field(default_factory=Sentences)
    headings: HeadingWords = field(default_factory=HeadingWords)
    commands: Commands = field(default_factory=Commands)
    glossary: dict[str, Words] = field(default_factory=dict)
    """Common words of organisations' visitors by concept; concepts have English names."""


UNKNOWN = Language()
"""A language without a file."""


def language(code: str) -> Language:
    """Return a language by its primary subtag; UNKNOWN if it has no file."""
    return languages().get(code, UNKNOWN)


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by code, the one with the lowest rank first. Raises LanguageFileError."""
    shared = _shared_glossary()
    read = [_read_file(path) for path in FOLDER.glob("*.toml")]
    found = [replace(one, glossary={**shared.get(one.code, {}), **one.glossary}) for one in read]
    return {one.code: one for one in sorted(found, key=lambda one: (one.writing.rank, one.code))}


def _shared_glossary() -> dict[str, dict[str, Words]]:
    """Return the words of `words.tsv` by language and concept. Raises LanguageFileError."""
    path = FOLDER / "words.tsv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    codes = head.split("\t")
    found: dict[str, dict[str, Words]] = {code: {} for code in codes}
    for number, row in enumerate(rows, 2):
        cells = [tuple(cell.split(", ")) for cell in row.split("\t")]
        if len(cells) != len(codes):
            raise LanguageFileError(f"{path.name}: line {number} must have {len(codes)} cells")
        concept = re.sub(r"\W", "_", cells[0][0].lower())
        for code, words in zip(codes, cells, strict=True):
            found[code][concept] = words
    return found


def every_word(select: Callable[[Language], Words]) -> frozenset[str]:
    """Return the words of all languages together."""
    return frozenset(word for one in languages().values() for word in select(one))


def every_pattern(select: Callable[[Language], tuple[Pattern, ...]]) -> tuple[re.Pattern[str], ...]:
    """Return the compiled patterns of all languages, in order."""
    return tuple(compiled(pattern) for one in languages().values() for pattern in select(one))


def alternatives(select: Callable[[Language], str | Words]) -> str:
    """Return a regular expression that matches any language's patterns, or its words, longest first."""
    found: dict[str, None] = {}
    words: dict[str, None] = {}
    for one in languages().values():
        value = select(one)
        if isinstance(value, tuple):
            words.update(dict.fromkeys(map(re.escape, value)))
        elif value:
            found[value] = None
    return "|".join([*found, *sorted(words, key=len, reverse=True)]) or "(?!)"


def compiled(pattern: str, flags: re.RegexFlag = re.I) -> re.Pattern[str]:
    """Compile a pattern made from language files. Raises LanguageFileError if a file's pattern is invalid."""
    try:
        return re.compile(pattern, flags)
    except re.error:
        check()
        raise


def check() -> None:
    """Compile every pattern of every file separately. Raises LanguageFileError for the first invalid one."""
    for one in languages().values():
        for section in fields(Language):
            _check(f"{one.code}.toml", section.name, Pattern, getattr(one, section.name))


def _check(file: str, key: str, kind: object, value: object) -> None:
    if is_dataclass(value) and not isinstance(value, type):
        kinds = get_type_hints(type(value))
        for part in fields(value):
            _check(file, f"{key}.{part.name}", kinds[part.name], getattr(value, part.name))
    elif isinstance(value, tuple) and not (value and isinstance(value[0], str) and kind == Words):
        for one in value:
            _check(file, key, Pattern, one)
    elif kind is Pattern and isinstance(value, str):
        try:
            re.compile(value, re.I | re.X if "families" in key else re.I)
        except re.error as error:
            raise LanguageFileError(f"{file}: {key} is not a regular expression: {error}") from None


def _read_file(path: Path) -> Language:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LanguageFileError(f"{path.name}: {error}") from None
    parts = tables.pop("parts", {})
    if not isinstance(parts, dict):
        raise LanguageFileError(f"{path.name}: parts must be a table")
    reader = _Reader(path.name, {name: _alternation(part) for name, part in parts.items()})
    if "code" in tables:
        raise LanguageFileError(f"{path.name}: code is not a known key")
    one = cast(Language, reader.section("", Language, {**tables, "code": path.stem}))
    if len(one.dates.months) not in (0, MONTHS):
        raise LanguageFileError(f"{path.name}: dates.months must have {MONTHS} texts")
    for part in fields(one.texts):
        for place in re.findall(r"{(.*?)}", getattr(one.texts, part.name)):
            if place != "title":
                raise LanguageFileError(
                    f"{path.name}: texts.{part.name} holds {{{place}}}; only {{title}} is filled in"
                )
    return one


def _alternation(value: object) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else str(value)


class _Reader:
    """Converts the values of one file to the types that the sections declare."""

    def __init__(self, file: str, parts: Mapping[str, str]) -> None:
        self._file = file
        self._parts = parts

    def section(self, key: str, kind: Any, value: object) -> object:
        """Return an object of the dataclass `kind`. Raises LanguageFileError."""
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        kinds = get_type_hints(kind)
        for name in value:
            if name not in kinds:
                raise LanguageFileError(f"{self._file}: {_join(key, name)} is not a known key")
        for one in fields(kind):
            required = one.default is MISSING and one.default_factory is MISSING
            if required and one.name not in value:
                raise LanguageFileError(f"{self._file}: {_join(key, one.name)} is missing")
        return kind(**{name: self._value(_join(key, name), kinds[name], one) for name, one in value.items()})

    def _value(self, key: str, kind: Any, value: object) -> object:
        if is_dataclass(kind):
            return self.section(key, kind, value)
        if kind in (str, bool, int):
            if type(value) is not kind:
                raise self._wrong(key, {str: "text", bool: "true or false", int: "a whole number"}[kind])
            return value
        if kind is Pattern:
            return self._filled("|".join(self._texts(key, value)))
        if get_origin(kind) is dict:
            if not isinstance(value, dict):
                raise self._wrong(key, "a table")
            return {name: self._words(f"{key}.{name}", words) for name, words in value.items()}
        inner = get_args(kind)[0]
        if inner is str:
            return self._words(key, value)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return tuple(self._value(f"{key}[{place}]", inner, one) for place, one in enumerate(value))

    def _words(self, key: str, value: object) -> Words:
        return tuple(value.split()) if isinstance(value, str) else self._texts(key, value)

    def _texts(self, key: str, value: object) -> Words:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise self._wrong(key, "text or a list of texts")
        return tuple(texts)

    def _filled(self, pattern: str) -> str:
        for name, part in self._parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return pattern

    def _wrong(self, key: str, wanted: str) -> LanguageFileError:
        return LanguageFileError(f"{self._file}: {key} must be {wanted}")


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
