"""What is indexed and what retrieval returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page that is embedded, searched, quoted and cited.

    `text` is verbatim from the page, in the line conventions of `crawler.page`: list items
    start with "- " or "1. ", table cells are separated by tabs, code stands between ``` lines.
    """

    id: str
    """Stable: the same page address, heading path and text give the same id."""
    url: str
    title: str
    """Title of the page."""
    heading_path: tuple[str, ...]
    """Headings from the page's first level down to the one the chunk stands under."""
    text: str
    position: int
    """Place on the page, from 0."""
    language: str = ""
    """Primary language subtag such as "en"; empty when unknown."""
    anchor: str = ""
    """Id of the heading's element, so that a link can open the page at `#anchor`."""

    @property
    def heading(self) -> str:
        """Title and heading path in one line, without repeating a heading that equals the title."""
        parts = [self.title, *(h for h in self.heading_path if h != self.title)]
        return " › ".join(part for part in parts if part)

    @property
    def indexed_text(self) -> str:
        """The text that is embedded: title and heading path first, then the chunk's own text."""
        return f"{self.heading}\n\n{self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk with its relevance to one query."""

    chunk: Chunk
    score: float
    """Relevance in [0, 1]; comparable within one retrieval only."""
    scores: dict[str, float] = field(default_factory=dict)
    """What each retriever or feature gave, by name: {"dense": 0.61, "words": 0.9}. For traces."""
    context: str = ""
    """A text derived from this and other chunks under which it was found, such as a summary: a model may
    read it beside the chunk; it is never quoted or cited."""
    why: str = ""
    """How it was found, in words, for the trace; empty where the scores tell."""
    theme: str = ""
    """Name of the part of the whole that the chunk stands for, where all of the site is asked for and the
    strategy knows its themes; such a chunk need not share a word with the question."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What one crawl changed in a site, for a strategy to index.

    Ids never stand on both sides. A changed page appears as its old chunks removed and its new
    chunks added; chunks whose text stayed the same appear on neither side.
    """

    added: tuple[Chunk, ...] = ()
    removed: tuple[str, ...] = ()
    twins: Mapping[str, str] = field(default_factory=dict)
    """Added chunk -> a chunk with the same indexed text that may be indexed already, perhaps itself: what
    was computed of it need not be computed again."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)
