"""What every passage says, read without a model: its phrases, and facts that tie them to what the page is about.

The facts of a page make a star: the name of the page is tied to each phrase on it, a heading to each phrase
below it. Ties between all phrases of a passage were measured to be worse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from server.domain.chunk import Chunk
from server.domain.derived import Monitor
from server.retrieval.graph.names import Names
from server.retrieval.graph.phrases import phrase_key, phrases

MOST_PAGES = 0.05
"""A title on a larger share of the pages is the site's name, or "Introduction"."""
AT_LEAST_PAGES = 3
_BRACKETS = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_TITLE_PARTS = re.compile(r"\s+[|•·—–:›»-]+\s+|\s*[|›»]\s*")
_LONGEST = 80


@dataclass
class Reading:
    """Phrases by their keys."""

    passages: list[Counter[str]] = field(default_factory=list)
    """Of each chunk, in the order of the chunks: its phrases and how often they stand there."""
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(subject, object) and how many passages say so."""
    shown: dict[str, str] = field(default_factory=dict)
    """Key -> how it is written."""

    def add(self, phrase: str) -> str:
        """Its key."""
        key = phrase_key(phrase)
        if key:
            self.shown.setdefault(key, phrase)
        return key


def aliases(title: str) -> list[str]:
    """What a page may be called: its title, without brackets, and the parts of "Name - Site"."""
    bare = _BRACKETS.sub("", title)
    parts = _TITLE_PARTS.split(title)
    names = [title, bare, *(parts if len(parts) > 1 else [])]
    return list(dict.fromkeys(name for name in names if 1 < len(name.strip()) <= _LONGEST))


def read(pages: Sequence[Sequence[Chunk]], links: Sequence[Sequence[str]], monitor: Monitor) -> Reading:
    """`links` are the words of each page's links."""
    reading = Reading()
    common = _on_many_pages(pages)
    headings = {heading for page in pages for chunk in page for heading in chunk.heading_path}
    titles = {name for page in pages for name in aliases(page[0].title)}
    languages = sorted({page[0].language for page in pages})
    names = Names(sorted(titles | headings | {words for page in links for words in page}), languages)
    for done, page in enumerate(pages):
        if done % 20 == 0:
            monitor.step("phrases", done, len(pages))
        subjects = [key for name in aliases(page[0].title) if (key := reading.add(name)) and key not in common]
        for chunk in page:
            said = Counter(_phrases_of(chunk, names, reading))
            under = [key for heading in chunk.heading_path[-2:] if (key := reading.add(heading)) and len(heading) <= _LONGEST]
            for subject in dict.fromkeys([*subjects, *under]):
                reading.facts.update((subject, other) for other in said if other != subject)
            reading.facts.update((subject, key) for subject in subjects[:1] for key in under if key != subject)
            reading.passages.append(said + Counter(dict.fromkeys([*subjects, *under], 1)))
    return reading


def _phrases_of(chunk: Chunk, names: Names, reading: Reading) -> Iterator[str]:
    for phrase in phrases(chunk.text, chunk.language):
        yield reading.add(phrase)
    for key in names.found(chunk.text):
        reading.shown.setdefault(key, key)
        yield key


def _on_many_pages(pages: Sequence[Sequence[Chunk]]) -> set[str]:
    counted = Counter(key for page in pages for key in {phrase_key(name) for name in aliases(page[0].title)})
    most = max(AT_LEAST_PAGES, MOST_PAGES * len(pages))
    return {key for key, seen in counted.items() if seen > most}
