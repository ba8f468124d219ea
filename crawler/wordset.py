"""Words and names that the crawler knows, from words.toml and other files."""

import tomllib
from pathlib import Path
from typing import Any


def tables_of(module_file: str, name: str) -> dict[str, Any]:
    """Return the TOML file of this name in the folder of a module, which gives its `__file__`."""
    return tomllib.loads(Path(module_file).with_name(name).read_text(encoding="utf-8"))


_TABLES: dict[str, dict[str, str]] = tables_of(__file__, "words.toml")


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
