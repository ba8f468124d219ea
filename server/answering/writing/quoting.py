"""Writes answers without a model: the section of the site that answers best is shown, and cited.

A section is shown whole where it is short. Of a longer one, the blocks around the answering unit are shown:
whole paragraphs, lists, tables with their head, and the lines that introduce them. The answering unit is
marked, and its words are the proof that the citation opens. A second section follows only if the question
compares, or if the first one leaves words of the question open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.answering.shortcuts.overview import is_prose
from server.answering.understanding.discourse import introduces, is_label, refers_back
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.evidence import Evidence, Support
from server.answering.writing.quotation import Quotation, escape_markdown, heading_link
from server.answering.writing.units import Unit, UnitKind, units
from server.domain.answer import EMBEDDED, Claim
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.indexes.tokens import tokens
from server.retrieval.question_kinds import compares
from server.retrieval.rarity import Rarity, chunk_words, coverage

CHUNKS = 6
"""Number of chunks among which the sections are chosen."""
MAX_CHARS = 650
"""Maximum length of a section, in Latin letters (see `_size`)."""
SECOND_CHARS = 360
"""The same for each of two sections."""
SUPPORT = 0.3
"""Weight of the best unit of a section, relative to the section's own score."""
OPEN, OPEN_SAME = 0.3, 0.12
"""Share of the question's weight from which on words that the first section lacks need a second one: of
another page, and of the same page."""
NEAR = 0.75
"""A second section must have at least this share of the first one's score."""
EQUAL = 0.93
"""From this share on it cannot be said which of the two answers, so that both are shown."""


class QuotingWriter:
    """Implements Writer; never fails."""

    model = EMBEDDED

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Yield one claim for each section that is shown, best first; none when nothing may be quoted. Chunks
        that represent themes are quoted one per page."""
        if any(hit.theme for hit in chunks):
            yield from quote_themes(chunks)
            return
        chunks = [hit for hit in chunks[:CHUNKS] if any(trusted_units(hit.chunk.text))]
        if not chunks:
            return
        read = [units(hit.chunk.text) for hit in chunks]
        evidence = Evidence(self._rarity, query)
        best: dict[int, Support] = {}
        for support in evidence.of(chunks, read):
            if trusted_units(chunks[support.source].chunk.text)[support.position]:
                best.setdefault(support.source, support)
        order = sorted(best, key=lambda source: -(chunks[source].score + SUPPORT * best[source].score))
        chosen = order[:1] + self._second(question, query, chunks, order)
        most = MAX_CHARS if len(chosen) == 1 else SECOND_CHARS
        heading = ""
        for source in chosen:
            link = heading_link(chunks[source].chunk)
            section = _section(chunks[source], read[source], best[source], most)
            text = section.text if link == heading else f"{link}\n\n{section.text}"
            yield replace(section, text=text, before="\n\n" if heading else "")
            heading = link

    def _second(
        self, question: Question, query: Query, chunks: Sequence[ScoredChunk], order: Sequence[int]
    ) -> list[int]:
        """Return the second section, if the question needs one."""
        if len(order) < 2:
            return []
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        first = chunks[order[0]]
        left = {token: weight for token, weight in weights.items() if token not in chunk_words(first.chunk)}
        total = sum(weights.values()) or 1.0
        for source in order[1:]:
            hit = chunks[source]
            if hit.score < NEAR * first.score:
                continue
            adds = sum(weight for token, weight in left.items() if token in chunk_words(hit.chunk)) / total
            needed = OPEN_SAME if hit.chunk.url == first.chunk.url else OPEN
            undecided = hit.score >= EQUAL * first.score
            if adds >= needed or undecided or (compares(question.text) and adds > 0):
                return [source]
        return []


def _section(hit: ScoredChunk, found: Sequence[Unit], best: Support, most: int) -> Claim:
    """Return the section as one claim, with the answering unit marked."""
    trusted = trusted_units(hit.chunk.text)
    places = _window(found, best.position, most, [unit is not None for unit in trusted])
    shown = [found[place] for place in places]
    quotation = Quotation(best.source, shown, found, best.unit if len(shown) > 1 else None)
    return Claim(quotation.markdown, (best.source,), quotation.quote, focus=best.unit.text)


def _window(found: Sequence[Unit], position: int, most: int, trusted: Sequence[bool]) -> range:
    """Return the positions of consecutive units to show: all if they fit into `most` characters, else whole
    blocks around `position`, and of a block that is too long the units around it."""
    low, high = position, position
    while low and trusted[low - 1]:
        low -= 1
    while high + 1 < len(found) and trusted[high + 1]:
        high += 1
    sizes = [_size(unit.text) for unit in found]
    if sum(sizes[low : high + 1]) <= most:
        return _without_ends(found, low, high, position)
    first = last = position

    def size() -> float:
        return sum(sizes[first : last + 1])

    def block(at: int) -> tuple[int, int]:
        """Return the first and last position of the block at a position."""
        start = end = at
        while start > low and found[start - 1].block == found[at].block:
            start -= 1
        while end < high and found[end + 1].block == found[at].block:
            end += 1
        return start, end

    start, end = block(position)
    if sum(sizes[start : end + 1]) > most:
        # The units of a long block: first those that the answering one refers to, then those after it.
        while first > start and size() + sizes[first - 1] <= most and refers_back(found[first].quote):
            first -= 1
        while last < end and size() + sizes[last + 1] <= most:
            last += 1
        while first > start and size() + sizes[first - 1] <= most:
            first -= 1
    else:
        first, last = start, end
    if sum(sizes[low : last + 1]) <= most:
        first = low  # the section from its beginning
    elif first > low and _leads(found[first - 1], found[first]) and size() + sizes[first - 1] <= most:
        first -= 1
    while last < high:
        _, end = block(last + 1)
        if sum(sizes[first : end + 1]) > most:
            break
        last = end
    while first > low:
        start, _ = block(first - 1)
        if sum(sizes[start : last + 1]) > most:
            break
        first = start
    return _without_ends(found, first, last, position)


def _leads(before: Unit, unit: Unit) -> bool:
    """Return whether a unit introduces the next one."""
    if before.kind is not UnitKind.SENTENCE:
        return False
    return introduces(before.text) or unit.kind is not UnitKind.SENTENCE or refers_back(unit.quote)


def _without_ends(found: Sequence[Unit], first: int, last: int, position: int) -> range:
    """Leave out labels and introductions at the end, to which nothing belongs."""
    while last > position and found[last].kind is UnitKind.SENTENCE:
        if not (introduces(found[last].text) or is_label(found[last].quote)):
            break
        last -= 1
    return range(first, last + 1)


def _size(text: str) -> float:
    """Return the size in Latin letters; a Chinese, Japanese or Korean character counts as 2.2."""
    return len(text) if text.isascii() else sum(1 if ord(char) < 0x2E80 else 2.2 for char in text)


def quote_themes(chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
    """Yield one quotation of each page, with the page's title. Pages with nothing to quote are left out."""
    quoted: set[str] = set()
    for source, hit in enumerate(chunks):
        unit = _opening(hit)
        if unit is None or hit.chunk.url in quoted:
            continue
        quote = escape_markdown(unit.text.replace("\t", " "))
        text = f"- **{escape_markdown(hit.chunk.title)}**: {quote}" if hit.chunk.title else f"- {quote}"
        yield Claim(text, (source,), Quotation(source, [unit], [unit]).quote, "\n" if quoted else "")
        quoted.add(hit.chunk.url)


def _opening(hit: ScoredChunk) -> Unit | None:
    """Return the first complete sentence, else the first unit that is not a label, or None."""
    found = [unit for unit in trusted_units(hit.chunk.text) if unit and unit.kind is not UnitKind.CODE]
    prose = (unit for unit in found if unit.kind is UnitKind.SENTENCE and is_prose(unit.text))
    other = (unit for unit in found if unit.kind is not UnitKind.SENTENCE or not is_label(unit.quote))
    return next(prose, next(other, None))
