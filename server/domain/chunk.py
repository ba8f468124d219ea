"""What is indexed and what retrieval returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from server.domain.sentences import PICTURE

PageLinks = Callable[[str], Sequence[tuple[str, str]]]
"""Returns (address, words) of the links on a page, by the page's address."""


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
    kind: str = ""
    """Kind of the page, see crawler.judging.page_kinds; empty for a standing page."""
    dated: str = ""
    """Day of the page's last change or publication, such as "2024-05-31"; empty when unknown."""
    ended: str = ""
    """Day on which the event that the page marks up ends; empty for a page about no event."""

    def __hash__(self) -> int:
        """Caches look chunks up hundreds of times per question, and the id tells nearly all of them apart."""
        return hash(self.id)

    @property
    def heading(self) -> str:
        """Title and heading path in one line, without repeating a heading that equals the title."""
        line = self.title
        for heading in self.heading_path:
            if heading and heading != self.title:
                line = f"{line} › {heading}" if line else heading
        return line

    @property
    def indexed_text(self) -> str:
        """The text that is embedded: title and heading path first, then the chunk's own text."""
        return f"{self.heading}\n\n{self.text}" if self.heading else self.text


@dataclass(slots=True)
class ScoredChunk:
    """A chunk with its relevance to one query. Never change one: `rescored` and `replace` make another. It is
    not frozen, because a question makes two hundred, and a frozen one takes four times as long to make."""

    chunk: Chunk
    score: float
    """Relevance in [0, 1]; comparable within one retrieval only."""
    scores: dict[str, float] = field(default_factory=dict)
    """What each retriever or feature gave, by name: {"dense": 0.61, "words": 0.9}. For traces."""
    context: str = ""
    """A text derived from this and other chunks under which it was found, such as a summary: a model may
    read it in addition to the chunk; it is never quoted or cited."""
    why: str = ""
    """How it was found, in words, for the trace; empty where the scores tell."""
    theme: str = ""
    """Name of the part of the whole that the chunk stands for, where all of the site is asked for and the
    strategy knows its themes; such a chunk need not share a word with the question."""

    sentence: str = ""
    """The sentence of the chunk that is nearest to the question in meaning; empty when not compared."""

    def rescored(
        self, score: float, scores: dict[str, float] | None = None, sentence: str | None = None
    ) -> ScoredChunk:
        """Return the same with another score, and other details and sentence where they are given."""
        details = self.scores if scores is None else scores
        nearest = self.sentence if sentence is None else sentence
        return ScoredChunk(self.chunk, score, details, self.context, self.why, self.theme, nearest)


@dataclass(frozen=True, slots=True)
class Changes:
    """What one crawl changed in a site, for a strategy to index.

    No id is in both `added` and `removed`. A changed page appears as its old chunks removed and its new
    chunks added; chunks whose text stayed the same appear on neither side.
    """

    added: tuple[Chunk, ...] = ()
    removed: tuple[str, ...] = ()
    twins: Mapping[str, str] = field(default_factory=dict)
    """Added chunk -> a chunk with the same indexed text that may be indexed already, perhaps itself: what
    was computed of it need not be computed again."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


LEAST_REPEATED, MOST_REPEATED = 8, 1000
"""Characters at the end of a chunk that the next one may begin with: sentences, not a single word."""
_MARKER = re.compile(rf"^(?: *(?:-|\d+\.) |{PICTURE})", re.M)
_FENCE = re.compile(r"^```$", re.M)


def joined_text(chunks: Sequence[Chunk]) -> str:
    """The text of chunks that follow each other on a page, without what they repeat of one another."""
    text, before = "", None
    for chunk in chunks:
        if before is None:
            text = chunk.text
        else:
            repeated = _repeated(before, chunk)
            text += chunk.text[repeated:] if repeated else "\n\n" + chunk.text
        before = chunk
    return text


def _repeated(before: Chunk, after: Chunk) -> int:
    """Characters at the end of a chunk that its successor in the section begins with."""
    if before.heading_path != after.heading_path:
        return 0
    end = len(before.text)
    opening = after.text[:LEAST_REPEATED]
    start = before.text.find(opening, max(0, end - MOST_REPEATED))
    while start >= 0:
        # What is repeated are whole sentences: they begin at the start or behind white space.
        if (not start or before.text[start - 1].isspace()) and after.text.startswith(before.text[start:]):
            return end - start
        start = before.text.find(opening, start + 1)
    return 0


class PageWords:
    """The words of a page, white space folded, in which quotes are looked for."""

    def __init__(self, text: str) -> None:
        """`text` in the line conventions of `crawler.page`."""
        self._text = text

    @cached_property
    def _as_written(self) -> str:
        return _folded(self._text)

    @cached_property
    def _without_markers(self) -> str:
        """The words as quotes have them: without the markers of lists and code."""
        return _folded(_FENCE.sub("", _MARKER.sub("", self._text)))

    def hold(self, quote: str) -> bool:
        """Return whether the quote stands there word for word."""
        wanted, longest = _sought(quote)
        if not wanted or longest not in self._text:
            return False
        return wanted in self._as_written or wanted in self._without_markers


@lru_cache(maxsize=100)
def _sought(quote: str) -> tuple[str, str]:
    """Return the folded quote and its longest word. Cached, because a quote is looked for in many texts."""
    wanted = _folded(quote)
    return wanted, max(wanted.split(), key=len, default="")


def _folded(text: str) -> str:
    return " ".join(text.split())
