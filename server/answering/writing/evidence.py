"""Scores how well each unit of the chunks supports an answer, without a model.

The weights were fitted on questions about manuals in five languages; each language was tested with weights
fitted on the others. A sentence scores by the query's words that it contains. Rare words count more, and so
do words that its heading lacks, because they are specific to the sentence. The chunk's relevance and cosine
count too. A number counts when the question asks for an amount. Comparing each sentence's own meaning did not
improve the result and took longest; neither did its length.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from server.answering.understanding.discourse import asks, asks_for_amount, introduces, is_label, says_number
from server.answering.writing.units import Unit, UnitKind
from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.retrieval.rarity import Rarity, coverage, text_tokens

WORDS, ABOUT, ADDS, NEAR, RELEVANT, AMOUNT = 0.2, 0.1, 0.25, 0.12, 0.15, 0.1
WHOLE, ASKED = 0.9, 0.2
"""From WHOLE coverage of the question by a heading on, its sentences get the bonus ASKED."""
NEAREST = 0.15
"""Bonus for the sentence that is nearest to the question in meaning."""
MEANT = 0.5
"""Share of the question from which on a question or an introduction that is nearest in meaning is that of the
answer, and not only about the same thing."""
FACT = 0.2
"""Bonus for a unit with the kind of fact that is asked for."""
CLEAR = 0.05
"""A unit stands out if no other one of its list or section scores nearly as much."""
ASKS = 0.06
"""Penalty for units that are questions themselves."""


@dataclass(slots=True)
class Support:
    """A unit of a chunk with its score. Never change one; it is made as often as a `ScoredChunk`."""

    source: int
    """Index of the chunk."""
    position: int
    """Index of the unit in its chunk."""
    unit: Unit
    held: frozenset[str]
    """Words of the query that it contains."""
    score: float
    announced_by: int | None = None
    """Index of the introduction whose score it has, if it does not stand out of what that announces."""


class Evidence:
    """Scores the units of the chunks for one question."""

    def __init__(self, rarity: Rarity, query: Query, facts: Sequence[re.Pattern[str]] = ()) -> None:
        """`facts` are patterns of the kinds of fact that are asked for."""
        self.weights = rarity.of(query)
        self._asked = frozenset(self.weights)
        self._language = query.language
        self._amount = query.text if asks_for_amount(query.text) else ""
        """The question, if it asks for a number."""
        self._facts = facts

    def of(self, chunks: Sequence[ScoredChunk], read: Sequence[Sequence[Unit]]) -> list[Support]:
        """Return the scored units, best first, without mere labels and heads of tables if there are others,
        else labels that the question asks for (`_asks_for`). The best unit of what
        an introduction announces has at least the introduction's score."""
        best = max((hit.score for hit in chunks), default=1.0) or 1.0
        found = [
            support
            for source, (hit, members) in enumerate(zip(chunks, read, strict=True))
            for support in self._of_chunk(source, hit, members, hit.score / best)
        ]
        for place, one in enumerate(found[:-1]):
            if introduces(one.unit.text) and found[place + 1].source == one.source:
                _announce(found, place)
        informative = [
            one for one in found if not (_is_label(one.unit) or _leads(read[one.source], one.position))
        ]
        if not informative:
            informative = [one for one in found if one.held or self._asks_for(chunks[one.source].chunk)]
        return sorted(informative, key=attrgetter("score"), reverse=True)

    def _asks_for(self, chunk: Chunk) -> bool:
        """Return whether the question has a word of a heading above a chunk, or is in another language, of
        which the words say nothing."""
        headings = chunk.heading_path or (chunk.title,)
        of_page = " ".join(headings[1:] or headings)
        is_foreign = bool(self._language and chunk.language) and self._language != chunk.language
        return is_foreign or not self._asked.isdisjoint(text_tokens(of_page, chunk.language))

    def _of_chunk(
        self, source: int, hit: ScoredChunk, members: Sequence[Unit], relevance: float
    ) -> list[Support]:
        language = hit.chunk.language
        heading = self._asked.intersection(text_tokens(hit.chunk.heading, language))
        in_heading = coverage(self.weights, heading)
        base = RELEVANT * relevance + NEAR * hit.scores.get("dense", 0.0)
        if in_heading >= WHOLE:
            base += ASKED
        scored = []
        words: dict[frozenset[str], float] = {}  # many units contain the same words of the query
        for position, unit in enumerate(members):
            held = self._asked.intersection(text_tokens(unit.text, language))
            if held not in words:
                with_heading = coverage(self.weights, held | heading)
                words[held] = (
                    WORDS * coverage(self.weights, held)
                    + ABOUT * with_heading
                    + ADDS * (with_heading - in_heading)
                )
            nearest = NEAREST if hit.sentence and unit.quote.startswith(hit.sentence) else 0.0
            if (
                nearest
                and (introduces(unit.text) or asks(unit.quote))
                and coverage(self.weights, held) < MEANT
            ):
                nearest = 0.0
            score = base + words[held] + self._form(unit, language) + nearest
            scored.append(Support(source, position, unit, held, score))
        return scored

    def _form(self, unit: Unit, language: str) -> float:
        form = -ASKS if asks(unit.quote) else 0.0
        if self._amount and says_number(unit.quote, language, self._amount):
            form += AMOUNT
        return (
            form + FACT * sum(1 for fact in self._facts if fact.search(unit.quote)) if self._facts else form
        )


def _announce(found: list[Support], place: int) -> None:
    """Give the best item or row after the introduction at `place` its score; of other units the next one."""
    lead, after = found[place], found[place + 1]
    last = place + 1
    if after.unit.kind in (UnitKind.ITEM, UnitKind.ROW):
        while last + 1 < len(found) and _are_together(after, found[last + 1]):
            last += 1
    first = place + 1 + (after.unit.kind is UnitKind.ROW and last > place + 1)  # without the head of a table
    best = max(range(first, last + 1), key=lambda at: found[at].score)
    one = found[best]
    if one.score < lead.score:
        others = [found[at].score for at in range(first, last + 1) if at != best]
        stands_out = all(one.score - other >= CLEAR for other in others)
        found[best] = replace(one, score=lead.score, announced_by=None if stands_out else lead.position)


def _are_together(one: Support, other: Support) -> bool:
    return (one.source, one.unit.block, one.unit.kind) == (other.source, other.unit.block, other.unit.kind)


def _is_label(unit: Unit) -> bool:
    """Return whether a unit says nothing by itself, or nothing that readers of the page see."""
    return unit.kind is UnitKind.PICTURE or (unit.kind is UnitKind.SENTENCE and is_label(unit.quote))


def _leads(units: Sequence[Unit], position: int) -> bool:
    """Return whether a unit is an introduction, or the head of a table of which more follows."""
    unit, block = units[position], units[position].block
    if unit.kind is not UnitKind.ROW:
        return introduces(unit.text)
    first = not position or units[position - 1].block != block
    return first and position + 1 < len(units) and units[position + 1].block == block
