"""Names that a site gives its things, found again in running text however they are written there.

Titles, headings and the words of links are phrases of their own: "prompt caching" is one in a text
that has no capitals, once a page is called so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from server.languages.loader import every_word
from server.languages.scripts import UNSPACED, UNSPACED_CHARACTER
from server.languages.stop_words import is_function_word
from server.retrieval.published.graph.phrases import phrase_key, phrase_words, singular

LONGEST = 8
"""Words of a name; of scripts without spaces, twice as many characters."""
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
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
                if 2 <= len(key) <= 2 * LONGEST:
                    self._unspaced.add(key)
            elif len(words) <= LONGEST and _names_something(words, languages):
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
            keys += [key for run in _UNSPACED_RUN.findall(text) for key in self._in_run(run)]
        return keys

    def _in_run(self, run: str) -> list[str]:
        keys, at = [], 0
        while at < len(run) - 1:
            sizes = range(min(2 * LONGEST, len(run) - at), 1, -1)
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
