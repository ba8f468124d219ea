"""Reads the language files: one file `<code>.toml` per language, in the folder of this module.

The files are read once per process. A new language is a new file; features without data are left out.
The glossary is one table, `words.tsv`, with a column per language and a row per concept. The first English
word of a row is the concept's name. A language file can add a glossary of its own.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

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
    Phrase,
    Questions,
    Section,
    Sentences,
    StopWords,
    Synonyms,
    ThisPage,
    Unspaced,
    Words,
    Writing,
)

FOLDER = Path(__file__).parent
MONTHS = 12


class LanguageFileError(Exception):
    """A language file is invalid; the message names the file and the key."""


class Language(Section):
    """Data about one language."""

    code: str = ""
    writing: Writing = Writing()
    stop_words: StopWords = StopWords()
    unspaced: Unspaced = Unspaced()
    texts: dict[Phrase, str] = Field(default_factory=dict)
    courtesies: Courtesies = Courtesies()
    moods: Moods = Moods()
    follow_ups: FollowUps = FollowUps()
    this_page: ThisPage = ThisPage()
    key_pages: KeyPagePatterns = KeyPagePatterns()
    answer_language: AnswerLanguage = AnswerLanguage()
    amounts: Amounts = Amounts()
    dates: Dates = Dates()
    names: NameWords = NameWords()
    facts: Facts = Facts()
    card: Card = Card()
    questions: Questions = Questions()
    sentences: Sentences = Sentences()
    synonyms: Synonyms = Synonyms()
    headings: HeadingWords = HeadingWords()
    commands: Commands = Commands()
    glossary: dict[str, Words] = Field(default_factory=dict)
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
    found = [
        one.model_copy(update={"glossary": {**shared.get(one.code, {}), **one.glossary}}) for one in read
    ]
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
        for key, pattern in _patterns("", one):
            try:
                re.compile(pattern, re.I | re.X if "families" in key else re.I)
            except re.error as error:
                raise LanguageFileError(
                    f"{one.code}.toml: {key} is not a regular expression: {error}"
                ) from None


def _patterns(key: str, value: object) -> Iterator[tuple[str, Pattern]]:
    if isinstance(value, Pattern):
        yield key, value
    elif isinstance(value, Section):
        for name, part in value:
            yield from _patterns(f"{key}.{name}".lstrip("."), part)
    elif isinstance(value, tuple):
        for part in value:
            yield from _patterns(key, part)


def _read_file(path: Path) -> Language:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        parts = tables.pop("parts", {})
        if not isinstance(parts, dict):
            raise LanguageFileError(f"{path.name}: parts must be a table")
        if "code" in tables:
            raise LanguageFileError(f"{path.name}: code is not a known key")
        filled = {name: _alternation(part) for name, part in parts.items()}
        one = Language.model_validate({**tables, "code": path.stem}, context=filled)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LanguageFileError(f"{path.name}: {error}") from None
    except ValidationError as error:
        raise LanguageFileError(f"{path.name}: {_fault(error.errors()[0])}") from None
    if len(one.dates.months) not in (0, MONTHS):
        raise LanguageFileError(f"{path.name}: dates.months must have {MONTHS} texts")
    for name, text in one.texts.items():
        for place in re.findall(r"{(.*?)}", text):
            if place != "title":
                raise LanguageFileError(
                    f"{path.name}: texts.{name} holds {{{place}}}; only {{title}} is filled in"
                )
    return one


def _alternation(value: object) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else str(value)


_FAULTS = {
    "extra_forbidden": "is not a known key",
    "enum": "is not a known key",
    "missing": "is missing",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "tuple_type": "must be a list",
    "model_type": "must be a table",
    "dict_type": "must be a table",
}


def _fault(error: ErrorDetails) -> str:
    """Return the key of a value that its section does not allow, and what is wrong with it."""
    place = [part for part in error["loc"] if part != "[key]"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    return f"{key} {_FAULTS.get(error['type']) or error['msg'].removeprefix('Value error, ')}"
