"""An overview of a site from chunks that stand for its themes: each page with the sentence it opens with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from server.answering.discourse import is_label
from server.answering.overview import is_prose
from server.answering.quotation import Quotation, escape_markdown
from server.answering.units import Unit, UnitKind
from server.answering.untrusted import trusted_units
from server.domain.answer import Claim
from server.domain.chunk import ScoredChunk


def of_themes(chunks: Sequence[ScoredChunk]) -> Iterator[Claim]:
    """One quotation of each page, under the page's title; pages with nothing to quote are left out."""
    told: set[str] = set()
    for source, hit in enumerate(chunks):
        unit = _opening(hit)
        if unit is None or hit.chunk.url in told:
            continue
        said = escape_markdown(unit.text.replace("\t", " "))
        text = f"- **{escape_markdown(hit.chunk.title)}**: {said}" if hit.chunk.title else f"- {said}"
        yield Claim(text, (source,), Quotation(source, [unit], [unit]).quote, "\n" if told else "")
        told.add(hit.chunk.url)


def _opening(hit: ScoredChunk) -> Unit | None:
    """The first sentence that says something, else the first row or item."""
    found = [unit for unit in trusted_units(hit.chunk.text) if unit and unit.kind is not UnitKind.CODE]
    prose = (unit for unit in found if unit.kind is UnitKind.SENTENCE and is_prose(unit.text))
    other = (unit for unit in found if unit.kind is not UnitKind.SENTENCE or not is_label(unit.quote))
    return next(prose, next(other, None))
