"""Search in the documentation: every section is found by its words."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from server.indexes.tokens import tokens

FIRST = "index"
MOST = 20
"""Results of a search."""


@dataclass(frozen=True, slots=True)
class DocsPage:
    """One rendered file."""

    name: str
    title: str
    summary: str
    """Its first paragraph, as plain text."""
    html: str
    sections: tuple[tuple[str, str], ...]
    """(id, text) of its second-level headings."""
    passages: tuple[tuple[str, str, str], ...]
    """(id, heading, text without code) of each part that has a heading of the first three levels."""
    group: str = ""
    """The heading under which the first page lists it."""

    @property
    def address(self) -> str:
        """Path on this server."""
        return "/docs/" if self.name == FIRST else f"/docs/{self.name}.html"


@dataclass(frozen=True, slots=True)
class Found:
    """A section that a search found."""

    page: DocsPage
    heading: str
    anchor: str
    text: str

    @property
    def address(self) -> str:
        """Its page on this server, at its heading."""
        return f"{self.page.address}#{self.anchor}"


def search_docs(pages: tuple[DocsPage, ...], words: str) -> list[Found]:
    """Return the sections that hold most of the words, rare ones counting more, best first."""
    wanted = set(tokens(words, "en"))
    sections = _sections(pages)
    spread = Counter(word for _, counts in sections for word in counts.keys() & wanted)
    weights = {word: math.log(1 + len(sections) / max(1, spread[word])) for word in wanted}
    scored = []
    for found, counts in sections:
        score = sum(weights[word] * counts[word] / (counts[word] + 1) for word in counts.keys() & wanted)
        if score > 0.5 * sum(weights.values()):
            scored.append((score, found))
    return [found for _, found in sorted(scored, key=lambda pair: -pair[0])[:MOST]]


@lru_cache(maxsize=2)
def _sections(pages: tuple[DocsPage, ...]) -> list[tuple[Found, Counter[str]]]:
    """Each section with its words; those of headings count several times."""
    sections = []
    for page in pages:
        for anchor, heading, text in page.passages:
            counts = Counter(tokens(text, "en"))
            for word in tokens(heading, "en"):
                counts[word] += 6
            for word in tokens(page.title, "en"):
                counts[word] += 3
            sections.append((Found(page, heading, anchor, " ".join(text.split())), counts))
    return sections
