"""Searches the words of questions and answers with the full-text index of each database.

This module prepares the words, not the database, so that both databases find the same: lower case without
accents, and every character of a script without spaces as a separate word.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, text

_WORDS = re.compile(r"[^\W_]+")
# Thai to Khmer, Kana, Han: scripts without spaces between words.
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LAST_PLACE = 16_383
"""Highest position of a word in PostgreSQL."""
_LONGEST = 500
MOST_WORDS = 12
"""Maximum number of words in a search."""


def words_of(written: str) -> list[str]:
    """Return the words of a text in indexed form."""
    plain = written.casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        bare = _NOT_ASCII.sub(lambda one: "" if unicodedata.combining(one[0]) else one[0], decomposed)
        plain = _UNSPACED.sub(r" \1 ", bare)
    return [word[:_LONGEST] for word in _WORDS.findall(plain)]


def index_rows(connection: Connection, rows: Iterable[tuple[int, str, str]]) -> None:
    """Add messages, each as (number, question, answer), to the index."""
    if connection.dialect.name == "sqlite":
        into, made = _SQLITE, [(number, " ".join(words_of(f"{q} {a}"))) for number, q, a in rows]
    else:
        into, made = _POSTGRESQL, [(number, _vector(words_of(f"{q} {a}"))) for number, q, a in rows]
    if made:
        connection.execute(into, [{"number": number, "words": words} for number, words in made])


def found_by(dialect: str, search: str) -> ColumnElement[bool] | None:
    """Return the condition on messages.number for a search: the question or answer contains every word, or a
    word that begins with it. None if there is nothing to search for."""
    sought = _sought(dialect, search)
    if not sought:
        return None
    condition: Any = text(f"messages.number IN ({_FOUND[dialect]})").bindparams(bindparam("sought", sought))
    return condition  # type: ignore[no-any-return]


def count_found(connection: Connection, search: str, most: int) -> int:
    """Return the number of matches, counted up to `most`; -1 if there is nothing to search for."""
    dialect = connection.dialect.name
    sought = _sought(dialect, search)
    if not sought:
        return -1
    counted = text(f"SELECT count(*) FROM ({_FOUND[dialect]} LIMIT :most) AS found")
    return int(connection.execute(counted, {"sought": sought, "most": most}).scalar_one())


def _sought(dialect: str, search: str) -> str:
    """Return the search in the syntax of the database; "" if there is nothing to search for."""
    phrases = [words for written in search.split()[:MOST_WORDS] if (words := words_of(written))]
    if dialect == "sqlite":
        # Words contain neither quotes nor spaces.
        return " AND ".join(f'"{" ".join(words)}"*' for words in phrases)
    spelled = [[*map(_quoted, words[:-1]), _quoted(words[-1]) + ":*"] for words in phrases]
    return " & ".join(f"({' <-> '.join(words)})" for words in spelled)


_FOUND = {
    "sqlite": "SELECT rowid FROM message_search WHERE message_search MATCH :sought",
    "postgresql": "SELECT number FROM message_search WHERE words @@ CAST(:sought AS tsquery)",
}
_SQLITE = text("INSERT INTO message_search (rowid, words) VALUES (:number, :words)")
_POSTGRESQL = text("INSERT INTO message_search (number, words) VALUES (:number, CAST(:words AS tsvector))")


def _vector(words: list[str]) -> str:
    return " ".join(f"{_quoted(word)}:{place}" for place, word in enumerate(words[:_LAST_PLACE], start=1))


def _quoted(word: str) -> str:
    return f"'{word}'"
