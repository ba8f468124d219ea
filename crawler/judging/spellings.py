"""What a crawl learns about spellings: "…/index.html" and "…/" are one page, or "…/docs" and "…/docs/".

Servers differ, so nothing is believed before the site has shown it: by one pair for index files, by
several for slashes, and never again when one pair said different things.
"""

from __future__ import annotations

import json

from crawler.discovery import urls

_ENOUGH_PAIRS = 2


class Spellings:
    """The spellings learned so far. Not thread-safe."""

    def __init__(self) -> None:
        self._index_names: set[str] = set()
        self._slash_pairs = 0
        self._slash_matters = False

    def same(self, one: str, other: str) -> None:
        """Learn that both addresses show one page."""
        for url, short in ((one, other), (other, one)):
            if urls.without_index(url) == short:
                self._index_names.add(urls.index_name(url))
        if urls.other_slash(one) == other:
            self._slash_pairs += 1

    def different(self, one: str, other: str) -> None:
        """Learn that the addresses show different pages."""
        if urls.other_slash(one) == other:
            self._slash_matters = True

    def to_text(self) -> str:
        """Return what was learned as text for `restored`."""
        return json.dumps([sorted(self._index_names), self._slash_pairs, self._slash_matters])

    @classmethod
    def restored(cls, text: str) -> Spellings:
        """Return the spellings that `to_text` wrote."""
        made = cls()
        names, made._slash_pairs, made._slash_matters = json.loads(text)
        made._index_names = set(names)
        return made

    def folder(self, url: str) -> str:
        """Return the address without a known index file; unchanged when it has none."""
        if self._index_names and urls.index_name(url) in self._index_names:
            return urls.without_index(url) or url
        return url

    def twin(self, url: str) -> str:
        """Return the address with or without a final slash that shows the same page; empty if unknown.

        A target of a redirect must not be taken for its twin: the twin may be what redirects.
        """
        if self._slash_matters or self._slash_pairs < _ENOUGH_PAIRS:
            return ""
        return urls.other_slash(url) or ""
