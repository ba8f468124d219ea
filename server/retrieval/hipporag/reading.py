"""What every passage says: its phrases, and facts that tie two phrases to each other.

Read without a model the facts of a page make a star: the name of the page is tied to each phrase on it, its
headings among them. Ties between all phrases of a passage were measured to be worse, and stars around the
headings too would double the edges: what stands below a heading is tied to it by the passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from server.domain.chunk import Chunk
from server.domain.derived import Monitor
from server.retrieval.graph.names import Names
from server.retrieval.graph.phrases import LONGEST, phrase_key, phrases

MOST_PAGES = 0.05
"""A title on a larger share of the pages is the site's name, or "Introduction"."""
AT_LEAST_PAGES = 3
_BRACKETS = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_TITLE_PARTS = re.compile(r"\s+[|•·—–:›»-]+\s+|\s*[|›»]\s*")
Pages = Sequence[Sequence[Chunk]]
"""The chunks of each page."""
Triple = tuple[str, str, str]
"""Subject, relation, object, as they are written."""


@dataclass
class Reading:
    """Phrases by their keys."""

    passages: list[Counter[str]] = field(default_factory=list)
    """Of each chunk, in the order of the chunks: its phrases and how often they stand there."""
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(subject, object) and how many passages say so."""
    shown: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Key -> how it is written, and in which language."""
    names: set[str] = field(default_factory=set)
    """Keys of titles, headings and the words of links."""
    stated: dict[Triple, list[str]] = field(default_factory=dict)
    """Facts that a model told -> ids of their chunks."""

    def key(self, phrase: str, language: str, *, name: bool = False) -> str:
        """Of a phrase that is part of what was read from now on; "" for one that is none."""
        key = phrase_key(phrase) if len(phrase) <= LONGEST else ""
        if key:
            self.shown.setdefault(key, (phrase, language))
            if name:
                self.names.add(key)
        return key

    def passage(self, titles: Sequence[str], under: Sequence[str], said: Counter[str]) -> None:
        """The next chunk: what its page and its headings are called, and its phrases."""
        above = dict.fromkeys((*titles, *under), 1)
        for centre in titles[:1] or under[-1:]:
            self.facts.update((centre, other) for other in said.keys() | above.keys() if other != centre)
        self.passages.append(said + Counter(above))


def aliases(title: str) -> list[str]:
    """What a page may be called: its title, without brackets, and the parts of "Name - Site"."""
    parts = _TITLE_PARTS.split(title)
    names = [title, _BRACKETS.sub("", title), *(parts if len(parts) > 1 else [])]
    return list(dict.fromkeys(name.strip() for name in names if len(name.strip()) > 1))


class Subjects:
    """What pages and headings are called, unless many pages are."""

    def __init__(self, pages: Pages, reading: Reading) -> None:
        self._reading = reading
        titles = (page[0].title for page in pages)
        counted = Counter(key for title in titles for key in {phrase_key(name) for name in aliases(title)})
        most = max(AT_LEAST_PAGES, MOST_PAGES * len(pages))
        self._common = {key for key, seen in counted.items() if seen > most}

    def of_page(self, page: Sequence[Chunk]) -> list[str]:
        """Keys, the one that the star is made around first: without brackets and the name of the site."""
        keys = self._keys(aliases(page[0].title), page[0].language)
        return sorted(keys, key=lambda key: (len(key.split()) < 2, len(key)))

    def of_headings(self, chunk: Chunk) -> list[str]:
        """Keys of the two headings nearest to the chunk."""
        return self._keys(chunk.heading_path[-2:], chunk.language)

    def _keys(self, names: Iterable[str], language: str) -> list[str]:
        keys = (self._reading.key(name, language, name=True) for name in names)
        return [key for key in dict.fromkeys(keys) if key and key not in self._common]


def read(pages: Pages, anchors: Iterable[str], monitor: Monitor) -> Reading:
    """Without a model. `anchors` are the words of the site's own links."""
    reading = Reading()
    subjects, names = Subjects(pages, reading), _site_names(pages, anchors)
    for done, page in enumerate(pages):
        if done % 10 == 0:
            monitor.step("phrases", done, len(pages))
        titles = subjects.of_page(page)
        for chunk in page:
            said = Counter(_phrases_of(chunk, names, reading))
            reading.passage(titles, subjects.of_headings(chunk), said)
    return reading


def entities(chunk: Chunk) -> list[str]:
    """What a passage speaks of, read without a model, each once."""
    return list(dict.fromkeys(phrases(chunk.text, chunk.language)))


def _site_names(pages: Pages, anchors: Iterable[str]) -> Names:
    headings = {heading for page in pages for chunk in page for heading in chunk.heading_path}
    titles = {name for page in pages for name in aliases(page[0].title)}
    return Names(sorted(titles | headings | set(anchors)), sorted({page[0].language for page in pages}))


def _phrases_of(chunk: Chunk, names: Names, reading: Reading) -> Iterator[str]:
    for phrase in phrases(chunk.text, chunk.language):
        if key := reading.key(phrase, chunk.language):
            yield key
    for name in names.found(chunk.text):
        yield reading.key(name, chunk.language, name=True)
