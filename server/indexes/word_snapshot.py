"""What a process keeps of a site's word index between two questions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from server.indexes.postings import Lengths, Numbers, Weights
from server.indexes.word_reads import read_blocks, read_pieces

MOST_KEPT = 2_000_000
"""Postings kept at most: 12 MB."""


class Snapshot:
    """One state of the index, known by its `revisions`: lengths, and postings that were asked for.

    Threads share it: at worst two of them read the same postings.
    """

    def __init__(self, connection: Connection, site_id: str) -> None:
        blocks = read_blocks(connection, site_id)
        self.revisions = blocks.revisions
        self.languages = blocks.languages
        """Of the chunks, most frequent first."""
        self.main_languages = blocks.main_languages
        self.lengths = Lengths(blocks.lengths)
        self._site_id = site_id
        self._postings: dict[str, tuple[Numbers, Weights]] = {}
        self._kept = 0

    def postings(self, connection: Connection, tokens: Sequence[str]) -> dict[str, tuple[Numbers, Weights]]:
        """Places and weights of the living chunks that hold each of these tokens."""
        found = {token: self._postings[token] for token in tokens if token in self._postings}
        unknown = [token for token in tokens if token not in found]
        if unknown:
            pieces = read_pieces(connection, self._site_id, self.lengths.blocks, unknown)
            read = {token: self.lengths.postings(pieces.get(token, ())) for token in unknown}
            self._keep(read)
            found |= read
        return found

    def _keep(self, read: dict[str, tuple[Numbers, Weights]]) -> None:
        size = sum(len(places) + 1 for places, _ in read.values())
        if self._kept + size > MOST_KEPT:
            self._postings, self._kept = {}, 0
        if size <= MOST_KEPT:
            self._postings.update(read)
            self._kept += size
