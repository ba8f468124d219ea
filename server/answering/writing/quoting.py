"""Writes answers without a model, from the site's own sentences, each cited.

Units (sentences, list items, table rows, code) of the best chunks are scored (`Evidence`), and the best that
go together are chosen (`Selection`). Neighbours are joined into one quotation. The page with the best unit
comes first; the units of a page keep its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from server.answering.shortcuts.overview import is_prose
from server.answering.understanding.discourse import is_label
from server.answering.verifying.untrusted import trusted_units
from server.answering.writing.evidence import Evidence, Support
from server.answering.writing.quotation import Quotation, escape_markdown
from server.answering.writing.quote_context import quote_context
from server.answering.writing.units import Unit, UnitKind, units
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.retrieval.rarity import Rarity, coverage

CHUNKS = 6
"""Number of chunks that are quoted from."""


class QuotingWriter:
    """Implements Writer; never fails."""

    model = "embedded"

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Yield quotations of `chunks` in page order; none when no unit is relevant. Chunks that represent
        themes are quoted one per page."""
        if any(hit.theme for hit in chunks):
            yield from quote_themes(chunks)
            return
        chunks = chunks[:CHUNKS]
        read = [units(hit.chunk.text) for hit in chunks]
        evidence = Evidence(self._rarity, query)

        def unfit(place: Place) -> bool:
            return trusted_units(chunks[place[0]].chunk.text)[place[1]] is None

        chosen = Selection(read, evidence.weights, unfit).choose(evidence.of(chunks, read))
        joined = False
        for quotation in _quotations(chosen, read, chunks):
            yield Claim(quotation.markdown, (quotation.source,), quotation.quote, "\n\n" if joined else "")
            joined = True


def _quotations(
    chosen: Mapping[Place, int], read: Sequence[Sequence[Unit]], chunks: Sequence[ScoredChunk]
) -> list[Quotation]:
    """Join chosen units into runs of neighbours. Pages are ordered by their best pick, units by position."""
    best_pick: dict[str, int] = {}
    for (source, _), pick in chosen.items():
        url = chunks[source].chunk.url
        best_pick[url] = min(pick, best_pick.get(url, pick))
    order = sorted(
        chosen,
        key=lambda key: (best_pick[chunks[key[0]].chunk.url], chunks[key[0]].chunk.position, key[1]),
    )
    runs: list[list[Place]] = []
    for source, position in order:
        if runs and runs[-1][-1] == (source, position - 1):
            runs[-1].append((source, position))
        else:
            runs.append([(source, position)])
    quotations = []
    for run in runs:
        source = run[0][0]
        quotations.append(Quotation(source, [read[source][position] for _, position in run], read[source]))
    return _without_repeats(quotations)


def _without_repeats(quotations: Sequence[Quotation]) -> list[Quotation]:
    """Drop quotations contained in others: chunks overlap, so words may have been chosen twice."""
    kept: list[Quotation] = []
    for quotation in quotations:
        if not any(quotation.quote in other.quote for other in kept):
            kept.append(quotation)
    return kept


MAX_PICKS = 5
"""Maximum number of units chosen; each may bring the context that it needs."""
MAX_CHARS = 700
"""Maximum length of an answer, in Latin letters (see `_size`)."""
KEEP = 0.75
"""A further unit must reach this share of the best score, including its bonus for new words."""
LOOKED_AT = 20
"""Number of candidates compared; the others support too little."""
NEW_WORDS, SAME_CHUNK, NEIGHBOUR = 0.2, 0.03, 0.04
REPEATED = 0.7
"""A unit that shares more than this part of its words with a chosen one counts as a repetition."""

Place = tuple[int, int]
"""Index of a chunk, and position of a unit in it."""


class Selection:
    """Chooses the units of one answer."""

    def __init__(
        self, read: Sequence[Sequence[Unit]], weights: dict[str, float], unfit: Callable[[Place], bool]
    ) -> None:
        """An `unfit` unit is never quoted, not even as the context of another."""
        self._read = read
        self._unfit = unfit
        self._weights = weights
        self._held: set[str] = set()
        self._sources: set[int] = set()
        self._words: list[frozenset[str]] = []
        self._length = 0.0
        self.places: dict[Place, int] = {}
        """Chosen units with the number of the pick that each belongs to."""

    def choose(self, candidates: Sequence[Support]) -> dict[Place, int]:
        """Choose from `candidates`, which are sorted best first."""
        left = list(candidates[:LOOKED_AT])
        pick = 1
        while left and pick <= MAX_PICKS:
            worth = [self._worth(support) for support in left] if self.places else [left[0].score]
            most = max(worth)
            if self.places and most < KEEP * candidates[0].score:
                break
            best = left.pop(worth.index(most))
            if not self._is_repetition(best) and not self._unfit((best.source, best.position)):
                self._take(best, pick)
                pick += 1
        return self.places

    def _worth(self, support: Support) -> float:
        worth, new = support.score, support.held - self._held
        if new:
            worth += NEW_WORDS * coverage(self._weights, new)
        source, position = support.source, support.position
        if source in self._sources:
            worth += SAME_CHUNK
        is_next = (source, position - 1) in self.places or (source, position + 1) in self.places
        return worth + NEIGHBOUR if is_next else worth

    def _is_repetition(self, support: Support) -> bool:
        if (support.source, support.position) in self.places:
            return True
        words = _words(support.unit)
        return any(len(words & other) > REPEATED * len(words | other) for other in self._words)

    def _take(self, support: Support, pick: int) -> None:
        found = self._read[support.source]
        group = quote_context(found, support.position, int(MAX_CHARS * 1.5))
        new = [
            position
            for position in group
            if (support.source, position) not in self.places and not self._unfit((support.source, position))
        ]
        size = sum(_size(found[position].text) for position in new)
        if self.places and self._length + size > MAX_CHARS:
            return
        self._length += size
        self._held |= support.held
        self._sources.add(support.source)
        for position in new:
            self.places[support.source, position] = pick
            self._words.append(_words(found[position]))


@lru_cache(maxsize=5_000)
def _words(unit: Unit) -> frozenset[str]:
    text = unit.quote.casefold()
    if text.isascii() or " " in text:
        return frozenset(text.split())
    return frozenset(text[at : at + 2] for at in range(len(text) - 1)) or frozenset((text,))


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
