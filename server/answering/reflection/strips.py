"""Refining what was found: of each chunk only the paragraphs that bear on the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from server.domain.chunk import ScoredChunk
from server.domain.protocols import Grader
from server.domain.question import Query
from server.indexes.tokens import tokens
from server.retrieval.rarity import Rarity, coverage, text_tokens

WORTH = 0.4
"""A paragraph stays when it holds at least this share of what the best paragraph holds."""


class EvidenceStrips:
    """Implements Grader for strips without a model: by the question's words that a strip holds."""

    def __init__(self, rarity: Rarity) -> None:
        self._rarity = rarity

    def keep(self, query: Query, chunks: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """In the order given. All of them where words cannot tell, as across languages."""
        weights = self._rarity.weights(list(dict.fromkeys(tokens(query.text, query.language))))
        shares = [coverage(weights, set(text_tokens(hit.chunk.text, hit.chunk.language))) for hit in chunks]
        best = max(shares, default=0.0)
        return [hit for hit, share in zip(chunks, shares, strict=True) if share >= WORTH * best]


def refined(query: Query, kept: Sequence[ScoredChunk], strips: Grader) -> list[ScoredChunk]:
    """Of each chunk what `strips` keeps, in order; all of it when nothing would be left.

    A paragraph, list or table is never cut, and what stood apart stays apart, as two chunks: so every
    quotation is verbatim.
    """
    pieces = [(place, piece) for place, hit in enumerate(kept) for piece in _paragraphs(hit)]
    wanted = {id(piece) for piece in strips.keep(query, [piece for _, piece in pieces])}
    left: list[ScoredChunk] = []
    before = -1
    for place, piece in pieces:
        if id(piece) not in wanted:
            before = -1
        elif place == before:
            text = f"{left[-1].chunk.text}\n\n{piece.chunk.text}"
            left[-1] = replace(piece, chunk=replace(piece.chunk, text=text))
        else:
            left.append(piece)
            before = place
    return left or list(kept)


def _paragraphs(hit: ScoredChunk) -> list[ScoredChunk]:
    """Its blocks; one that only introduces the next one stays with it, and so does code."""
    blocks: list[str] = []
    fence_open = False
    for block in hit.chunk.text.split("\n\n"):
        joins = fence_open or (blocks and blocks[-1].rstrip().endswith((":", "：")))
        if joins and blocks:
            blocks[-1] += "\n\n" + block
        else:
            blocks.append(block)
        fence_open ^= block.count("```") % 2 == 1
    return [replace(hit, chunk=replace(hit.chunk, text=block)) for block in blocks]
