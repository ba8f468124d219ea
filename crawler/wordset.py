"""Words and names that the crawler knows, from words.toml."""

import tomllib
from pathlib import Path

_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)


def wordlist(name: str) -> list[str]:
    """Return the words of a table in their order, such as those of "urls.tracking"."""
    table, _, key = name.partition(".")
    return _TABLES[table][key].split()


def wordset(name: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(wordlist(name))


def wordpairs(name: str) -> dict[str, str]:
    """Return a table of words such as "tel=telephone"."""
    return dict(pair.split("=") for pair in wordlist(name))
