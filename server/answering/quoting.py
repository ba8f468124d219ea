"""The writer that needs no model: it answers with the site's own sentences, each cited.

1. Every unit (sentence, list item, table row, code block) of the best chunks is scored by the query
   words it holds, weighted by their rarity, by its nearness in meaning, and by its chunk's relevance.
2. The best units are taken, near-duplicates left out, until the answer is long enough or the next
   one is clearly worse. Steps come with their list, an introduction with what it introduces.
3. Neighbours are joined to one quotation; the page with the best unit comes first, each in page order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.answering.quotation import Quotation
from server.answering.units import Unit, UnitKind, units
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.protocols import Embedder, ModelError
from server.domain.question import Query, Question
from server.indexes.tokens import tokens
from server.retrieval.parts import cosines
from server.retrieval.rarity import Rarity, coverage, text_tokens

_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", "؟")

CHUNKS = 5
"""Chunks that are read; the rest only stand by."""
MAX_CHARS = 700
"""An answer is not continued past this length."""
MAX_PICKS = 4
KEEP = 0.72
"""A further unit must reach this share of the best one's score."""
WORDS, MEANING, CHUNK, HEADING, LEAD = 0.4, 0.3, 0.2, 0.1, 0.05
"""Weights of a unit's score; LEAD goes to the first sentence under a heading."""
LABEL = 0.15
"""Taken from lines such as "max_connections (integer)": they hold the words asked for and tell nothing."""
EMBEDDED_UNITS = 12
"""Units whose meaning is compared; the others are judged by their words."""


@dataclass(slots=True)
class _Candidate:
    source: int
    position: int
    unit: Unit
    score: float


class QuotingWriter:
    """Implements Writer; never fails: without vectors it goes by the words."""

    model = "embedded"

    def __init__(self, rarity: Rarity, embedder: Embedder) -> None:
        self._rarity = rarity
        self._embedder = embedder

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Quotations of `chunks` in page order; none when no unit bears on the query."""
        read = [units(hit.chunk.text) for hit in chunks[:CHUNKS]]
        candidates = self._scored(query, chunks, read)
        chosen = _choose(candidates, read)
        joined = False
        for quotation in _quotations(chosen, read, chunks):
            yield Claim(quotation.markdown, (quotation.source,), quotation.quote, "\n\n" if joined else "")
            joined = True

    def _scored(
        self, query: Query, chunks: Sequence[ScoredChunk], read: Sequence[Sequence[Unit]]
    ) -> list[_Candidate]:
        asked = list(dict.fromkeys(tokens(query.text, query.language)))
        weights = self._rarity.weights(asked)
        best = max((hit.score for hit in chunks), default=1.0) or 1.0
        candidates = []
        for source, found in enumerate(read):
            chunk = chunks[source].chunk
            heading = frozenset(text_tokens(chunk.heading, chunk.language))
            for position, unit in enumerate(found):
                present = frozenset(text_tokens(unit.text, chunk.language))
                score = (
                    WORDS * coverage(weights, present | heading) * (0.5 + 0.5 * coverage(weights, present))
                    + CHUNK * chunks[source].score / best
                    + HEADING * coverage(weights, heading)
                    + (LEAD if position == 0 and unit.kind is UnitKind.SENTENCE else 0.0)
                    - (LABEL if _is_label(unit) else 0.0)
                )
                candidates.append(_Candidate(source, position, unit, score))
        candidates.sort(key=lambda candidate: -candidate.score)
        self._add_meaning(query, candidates[:EMBEDDED_UNITS])
        return sorted(candidates, key=lambda candidate: -candidate.score)

    def _add_meaning(self, query: Query, candidates: Sequence[_Candidate]) -> None:
        if self._embedder.languages and query.language not in self._embedder.languages:
            return
        texts = [candidate.unit.quote[:400] for candidate in candidates]
        try:
            vectors = self._embedder.embed([query.searched_text, *texts])
        except ModelError:
            return  # the words alone decide; the failure itself was reported by the retrieval
        for candidate, similarity in zip(candidates, cosines(vectors[0], vectors[1:]), strict=True):
            candidate.score += MEANING * similarity


def _is_label(unit: Unit) -> bool:
    words = unit.quote.split()
    return unit.kind is UnitKind.SENTENCE and len(words) < 6 and not unit.quote.endswith(_ENDS)


def _choose(candidates: Sequence[_Candidate], read: Sequence[Sequence[Unit]]) -> dict[tuple[int, int], int]:
    """(source, position) of the units to quote, with the rank of the pick that they belong to."""
    chosen: dict[tuple[int, int], int] = {}
    seen: list[set[str]] = []
    length = picks = 0
    for candidate in candidates:
        if picks == MAX_PICKS or (candidates and candidate.score < KEEP * candidates[0].score):
            break
        if (candidate.source, candidate.position) in chosen:
            continue
        words = set(candidate.unit.quote.casefold().split())
        if any(len(words & other) > 0.7 * len(words | other) for other in seen):
            continue
        group = _with_company(candidate, read[candidate.source])
        size = sum(len(read[candidate.source][position].text) for position in group)
        if chosen and length + size > MAX_CHARS:
            continue
        seen.append(words)
        picks += 1
        length += size
        for position in group:
            chosen.setdefault((candidate.source, position), picks)
    return chosen


def _with_company(candidate: _Candidate, found: Sequence[Unit]) -> list[int]:
    """The unit with what it cannot be understood without: its list, its introduction, its example."""
    first = last = candidate.position
    unit = candidate.unit
    if unit.kind in (UnitKind.STEP, UnitKind.ROW, UnitKind.ITEM):
        first, last = _run(found, candidate.position, whole=unit.kind is UnitKind.STEP)
    if unit.kind is not UnitKind.SENTENCE and first and found[first - 1].text.endswith((":", "：")):
        first -= 1
    if found[last].text.endswith((":", "：")) and last + 1 < len(found):
        _, last = _run(found, last + 1, whole=True)
    size = 0
    group: list[int] = []
    for position in range(first, last + 1):
        size += len(found[position].text)
        if group and size > MAX_CHARS * 1.5 and position > candidate.position:
            break
        group.append(position)
    return group


def _run(found: Sequence[Unit], position: int, *, whole: bool) -> tuple[int, int]:
    """First and last position of the list or table around `position`; of short lists only, unless `whole`."""
    unit = found[position]
    if unit.kind is UnitKind.SENTENCE or unit.kind is UnitKind.CODE:
        return position, position
    first = last = position
    while first and found[first - 1].block == unit.block and found[first - 1].kind is not UnitKind.SENTENCE:
        first -= 1
    while last + 1 < len(found) and found[last + 1].block == unit.block:
        last += 1
    size = sum(len(found[n].text) for n in range(first, last + 1))
    return (first, last) if whole or size <= MAX_CHARS // 2 else (position, position)


def _quotations(
    chosen: dict[tuple[int, int], int], read: Sequence[Sequence[Unit]], chunks: Sequence[ScoredChunk]
) -> list[Quotation]:
    """Chosen units joined into runs of neighbours; pages by their best pick, each in page order."""
    best_pick: dict[str, int] = {}
    for (source, _), pick in chosen.items():
        url = chunks[source].chunk.url
        best_pick[url] = min(pick, best_pick.get(url, pick))
    order = sorted(
        chosen,
        key=lambda key: (best_pick[chunks[key[0]].chunk.url], chunks[key[0]].chunk.position, key[1]),
    )
    runs: list[list[tuple[int, int]]] = []
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
    """Chunks of one section overlap, so the same words may have been chosen twice."""
    kept: list[Quotation] = []
    for quotation in quotations:
        if not any(quotation.quote in other.quote for other in kept):
            kept.append(quotation)
    return kept
