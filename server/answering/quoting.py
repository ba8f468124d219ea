"""The writer that needs no model: it answers with the site's own sentences, each cited.

Units (sentences, list items, table rows, code) of the best chunks are scored (`evidence`), the best that
go together are chosen (`selection`), neighbours are joined to one quotation, and the page with the best
one comes first, each page in its own order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from server.answering.evidence import Evidence
from server.answering.quotation import Quotation
from server.answering.selection import Place, Selection
from server.answering.themes import of_themes
from server.answering.units import Unit, units
from server.answering.untrusted import trusted_units
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk
from server.domain.question import Query, Question
from server.retrieval.rarity import Rarity

CHUNKS = 6
"""Chunks that are read; the rest only stand by."""


class QuotingWriter:
    """Implements Writer; never fails."""

    model = "embedded"

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def write(self, question: Question, query: Query, chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
        """Quotations of `chunks` in page order; none when no unit bears on the query. Chunks that stand for
        themes are told theme by theme."""
        if any(hit.theme for hit in chunks):
            yield from of_themes(chunks)
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
    """Chosen units joined into runs of neighbours; pages by their best pick, each in page order."""
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
    """Chunks of one section overlap, so the same words may have been chosen twice."""
    kept: list[Quotation] = []
    for quotation in quotations:
        if not any(quotation.quote in other.quote for other in kept):
            kept.append(quotation)
    return kept
