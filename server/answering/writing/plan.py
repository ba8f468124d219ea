"""Decides how many chunks a chat model reads for each kind of question, and in which order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, zip_longest

from server.domain.chunk import Chunk, ScoredChunk
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.question_kinds import QuestionKind, compares, kind_of, parts_of
from server.retrieval.rarity import chunk_words


class Order(StrEnum):
    """Orders of the chunks in a prompt."""

    BEST_FIRST = "best first"
    ENDS = "best first, second best last, because models read both ends most closely"
    SIDES = "best of one side, best of the other side, and so on"
    PAGE = "the whole section of the best one in page order, with its neighbours, then the others"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a model reads for one kind of question."""

    chunks: int
    """Maximum number of chunks."""
    order: Order


ONE_SECTION = Plan(4, Order.ENDS)
STEPS = Plan(6, Order.PAGE)
SEVERAL_SECTIONS = Plan(6, Order.ENDS)
COMPARISON = Plan(6, Order.SIDES)
OVERVIEW = Plan(8, Order.BEST_FIRST)

_STEP = re.compile(r"^ *\d+[.)] ", re.M)


def plan_for(query: Query, best: Chunk) -> Plan:
    """Return the plan for a question whose best chunk is `best`. Numbered steps in it are read whole."""
    if compares(query.text):
        return COMPARISON
    kind = kind_of(query.text)
    if kind is QuestionKind.LOOKUP:
        return STEPS if len(_STEP.findall(best.text)) > 1 else ONE_SECTION
    return OVERVIEW if kind is QuestionKind.OVERVIEW else SEVERAL_SECTIONS


class ReadingPlan:
    """Chooses and sorts the chunks that a chat model reads."""

    def __init__(self, page: Callable[[str], Sequence[Chunk]]) -> None:
        """`page` returns the chunks of a page in order."""
        self._page = page

    def apply(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the chunks in the order of the prompt; `chunks` are best first."""
        if not chunks:
            return []
        plan = plan_for(query, chunks[0].chunk)
        if plan.order is Order.PAGE:
            return self._whole_section(chunks, plan.chunks)
        if plan.order is Order.SIDES:
            return _by_side(query, chunks)[: plan.chunks]
        kept = list(chunks[: plan.chunks])
        return [*kept[:1], *kept[2:], *kept[1:2]] if plan.order is Order.ENDS else kept

    def _whole_section(self, chunks: Sequence[ScoredChunk], most: int) -> list[ScoredChunk]:
        """Return the section of the first chunk in page order, with the chunk before and after it, then the
        other chunks. A section with more than `most` chunks is cut around the first chunk."""
        best = chunks[0]
        page = list(self._page(best.chunk.url))
        place = next((at for at, chunk in enumerate(page) if chunk.id == best.chunk.id), -1)
        if place < 0:  # the page has changed since
            return list(chunks[:most])
        first = last = place
        while first and _section(page[first]) == _section(best.chunk):
            first -= 1
        while last + 1 < len(page) and _section(page[last]) == _section(best.chunk):
            last += 1
        first = max(first, min(place - 1, last - most + 1))
        known: dict[str, list[ScoredChunk]] = {}
        for hit in chunks:  # parts of a chunk have the same id
            known.setdefault(hit.chunk.id, []).append(hit)
        section = [
            hit
            for chunk in page[first : min(last + 1, first + most)]
            for hit in known.get(chunk.id) or [ScoredChunk(replace(chunk, url=best.chunk.url), best.score)]
            if hit is best or hit.chunk.text not in best.chunk.text  # which may have been widened
        ]
        there = {hit.chunk.id for hit in section}
        return [*section, *(hit for hit in chunks if hit.chunk.id not in there)][:most]


def _section(chunk: Chunk) -> tuple[tuple[str, ...], str]:
    return chunk.heading_path, chunk.anchor


def _by_side(query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return the chunks of both sides of a comparison in turn, then those of neither."""
    named = [set(tokens(side, query.language)) for side in parts_of(query.text)[:2]]
    if len(named) < 2:
        return list(chunks)
    one, other = named
    sides: tuple[list[ScoredChunk], list[ScoredChunk], list[ScoredChunk]] = [], [], []
    for hit in chunks:
        said = chunk_words(hit.chunk)
        lead = len(said & (one - other)) - len(said & (other - one))
        sides[0 if lead > 0 else 1 if lead < 0 else 2].append(hit)
    return [hit for hit in chain(*zip_longest(*sides[:2])) if hit] + sides[2]
